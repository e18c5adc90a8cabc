/**
 * Phase 1 of the pass: volumes of orphaned or finished pods that are still mounted or set up (R405, R440; contract, kinds).
 *
 * One operation per volume and pod, sub-paths first. Any doubt blocks the operation, and is reported.
 */
import { present } from '../../base/text.ts'
import { said } from '../../messages/findings.ts'
import type { Operation, VolumeRef } from '../../plan/plan.ts'
import { layersBelowDead, type PlanContext, umountSteps } from '../../rules/context.ts'
import { flexCall, flexSteps, isFlexPlugin } from '../../rules/driver-call.ts'
import { isLiving, type PodClass } from '../../rules/pods/pod-classes.ts'
import { type Facts, strayOf } from '../../rules/rule.ts'
import { leaveEmpty } from '../../rules/unread.ts'
import { madeByAtomicWriter } from '../../volumes/atomic-writer.ts'
import { localVolume } from '../../volumes/local-volume.ts'
import type { PodVolume } from '../../volumes/on-disk/pod-volumes.ts'
import { parentOf } from '../../volumes/on-disk/tree.ts'
import { allowedFsTypes, type TeardownFamily } from '../../volumes/plugin.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { TreeEntry } from '../../volumes/snapshot.ts'
import type { Step } from '../../volumes/steps.ts'
import { uniquePodVolumeName, uniqueVolumeName } from '../../volumes/volume-names.ts'
import { describeDevice } from '../identity/volume-facts.ts'
import { type Leftover, partsOfVolume, reportKept, tearDown } from '../tear-down/tear-down.ts'
import { memoryBehind, UNCOUNTED, unmountCsiVolume, unmountLeakedSubPaths } from './unmount-csi-volume.ts'

/** Adds the unmount operations of every Gone and Finished pod. */
export function unmountVolumes(context: PlanContext): void {
  for (const pod of context.classes.all) {
    if (isLiving(pod)) continue
    for (const volume of context.ledger.podVolumes(pod.uid))
      UNMOUNTS[pluginNamed(volume.plugin).tearDown](context, pod, volume)
    for (const subPaths of context.ledger.leakedSubPaths(pod.uid)) {
      unmountLeakedSubPaths(context, pod, subPaths, 'LeakedSubPath.missing', context.ledger.of(subPaths))
    }
  }
}

/**
 * secret, configMap, downwardAPI, projected: content that the kubelet's own atomic writer made (P22; S13, O13).
 * The kubelet's own files are deleted; any other file blocks that.
 */
function unmountProjected(context: PlanContext, pod: PodClass, volume: PodVolume): void {
  const inside = context.inputs.tree.descendants(volume.dir)
  const strangers = inside.filter((entry) => !madeByAtomicWriter(entry, entry.path.slice(volume.dir.length + 1)))
  const own = inside.filter((entry) => entry.type !== 'dir' && !strangers.includes(entry))
  if (strangers.length > 0 && volume.layers.length === 0 && own.length === 0 && volume.markers.length === 0) {
    reportKept(context, volume, strangers, 'was not created by the kubelet', true)
    leaveEmpty(context, volume)
    return
  }
  const directories = inside.filter((entry) => entry.type === 'dir')
  unmountContent(context, pod, volume, {
    emptied: volume.content.length > 0,
    deletes: countOf(own),
    facts: {
      stray: strayOf(strangers, {
        why: `was not created by the kubelet and would be deleted with volume ${volume.name}`,
        isLost: true,
      }),
      // --orphans is only for files of an emptyDir.
      unread: notReadWhole(context, volume, directories),
    },
  })
}

/**
 * emptyDir and the volumes built on it: the only ones whose data a teardown deletes (R437, P42; S12, S13, O13, O14).
 * Disk, memory or huge pages: its data goes only with --orphans (S13).
 *
 * O41: no path leads past a dead mount on it, so that goes only when a person says so (S20). It shows no data, and what it hides is
 * unknown: deleted only with --orphans.
 */
function unmountEmptyDir(context: PlanContext, pod: PodClass, volume: PodVolume): void {
  const { name, dir, layers, content, subPaths } = volume
  const { inputs, options } = context
  const isDead = layers.length > 0 && inputs.deadError(dir) !== undefined
  const shown = isDead ? layersBelowDead(layers) : layers
  const behind = isDead || layers.length === 0 ? memoryBehind(context, pod.uid, subPaths) : []
  const memory = [...shown, ...behind]
  const files = content.filter(({ type }) => type !== 'dir')
  const unread = isDead ? undefined : notReadWhole(context, volume, content)
  const isUnknown = memory.length > 0 || unread !== undefined || (isDead && options.orphans)
  unmountContent(context, pod, volume, {
    emptied: isDead ? options.orphans : content.length > 0 || unread !== undefined,
    deletes: isUnknown ? UNCOUNTED : countOf(files),
    facts: { data: { name, memory, unread, files }, covered: isDead ? volume : undefined },
    keepsDirectory: isDead && !options.orphans,
  })
}

/** The volume's directory, or an entry below it, that may hold more than was seen. */
function notReadWhole({ inputs }: PlanContext, volume: PodVolume, inside: readonly TreeEntry[]): TreeEntry | undefined {
  return [inputs.tree.get(volume.dir), ...inside].find((entry) => entry?.error !== undefined)
}

interface Content {
  /** Whether the content on the disk itself is deleted, by descriptors. */
  readonly emptied: boolean
  /** Undefined: nothing is there that a tear-down deletes. */
  readonly deletes: Operation['deletes'] | undefined
  readonly facts: Omit<Facts, 'subPaths'>
  /** A dead mount hides the content: it stays, and so do directory and marker. */
  readonly keepsDirectory?: boolean
}

function unmountContent(
  context: PlanContext,
  pod: PodClass,
  volume: PodVolume,
  { emptied, deletes, facts, keepsDirectory = false }: Content,
): void {
  const { inputs } = context
  const { name, plugin, layers, markers, target } = volume
  const parts = partsOfVolume(context, pod, volume)
  const exists = inputs.tree.isDir(target) || layers.length > 0
  const isMounted = [layers, volume.foreign, parts.subPaths.mounts].some(({ length }) => length > 0)
  if (!isMounted && deletes === undefined && !(markers.length > 0 && exists)) {
    leaveEmpty(context, volume)
    return
  }
  const { tearDown: family } = pluginNamed(plugin)
  const allowed = allowedFsTypes(family) ?? []
  tearDown(context, {
    ...parts,
    ...facts,
    kind: 'UnmountVolume',
    volume: describe(volume),
    rule: 'R437',
    ...said(layers.length > 0 ? 'PodGone.pluginMounted' : 'PodGone.pluginSetUp', {
      plugin: plugin.replace('kubernetes.io/', ''),
      name,
    }),
    steps: [
      ...(keepsDirectory ? [] : markers).flatMap((marker): Step[] => [
        { op: 'unlink', target: marker },
        { op: 'rmdir', target: parentOf(marker) },
      ]),
      ...umountSteps(context, { path: target, layers }),
      ...present<Step>(
        emptied && { op: 'deleteContent', target },
        exists && !keepsDirectory && { op: 'rmdir', target },
      ),
    ],
    allowed,
    // A volume in memory is unmounted first, which fails (P42).
    emptiedByKubelet: !allowed.includes(layers.at(-1)?.fsType ?? ''),
    // A dead mount shows nothing.
    content: keepsDirectory ? undefined : inputs.absolute(target),
    deletes,
    kubeletWould: family === 'emptyDir' && deletes !== undefined ? 'delete the content without asking' : undefined,
  })
}

function countOf(files: readonly TreeEntry[]): Operation['deletes'] {
  if (files.length === 0) return undefined
  return { files: files.length, bytes: files.reduce((sum, entry) => sum + (entry.size ?? 0), 0) }
}

/** NFS, local, iSCSI, FC and flexVolume at the pod's side: unmount, by its driver where it has one, and remove when empty (R035, R514, P88). */
function unmountPlain(context: PlanContext, pod: PodClass, volume: PodVolume): void {
  const { inputs } = context
  const { name, plugin, layers, foreign, target } = volume
  const parts = partsOfVolume(context, pod, volume)
  const mounted = layers.length > 0
  // Data in a directory without a mount is kept and reported (O12).
  const files = mounted ? [] : volume.content.filter(({ type }) => type !== 'dir')
  const reportData = (): void =>
    reportKept(context, volume, files, 'is in an unmounted volume directory of a deleted pod')
  const call = isFlexPlugin(context, plugin) ? flexCall(context, plugin) : undefined
  // A driver is called even if nothing is mounted: it may have set up something else (P88). It is not called if the directory
  // has files: they may be somebody's data, and it is unknown what the driver does to them (S13).
  const driver = call?.kind === 'call' && files.length === 0 && (mounted || inputs.tree.has(target)) ? call : undefined
  if (!mounted && driver === undefined && foreign.length + parts.subPaths.mounts.length === 0) {
    reportData()
    leaveEmpty(context, volume)
    return
  }
  const isFound = pluginNamed(plugin).reconstructs || call?.kind === 'call'
  const leftover: Leftover = {
    ...parts,
    ...said(mounted ? 'PodGone.pluginMounted' : 'PodGone.pluginLeft', {
      plugin: plugin.replace('kubernetes.io/', ''),
      name,
    }),
    ...(isFound
      ? { kind: 'UnmountVolume', rule: 'R440' }
      : { kind: 'CleanOrphanVolume', code: 'NotReconstructable', rule: 'R514' }),
    volume: { ...describe(volume), ...describeDevice(layers.at(-1)) },
    steps: [
      ...flexSteps('flexUnmount', umountSteps(context, { path: target, layers }), target, driver),
      ...present<Step>(files.length === 0 && { op: 'rmdir', target }),
    ],
    call: mounted ? call : undefined,
  }
  tearDown(context, leftover, reportData)
}

function describe({ plugin, name, podUid }: PodVolume): VolumeRef {
  const isLocal = plugin === localVolume.name
  const uniqueName = isLocal ? uniqueVolumeName(plugin, name) : uniquePodVolumeName(plugin, podUid, name)
  return { name, uniqueName, plugin, mode: 'Filesystem' }
}

const UNMOUNTS: Readonly<Record<TeardownFamily, typeof unmountPlain>> = {
  csi: unmountCsiVolume,
  emptyDir: unmountEmptyDir,
  projected: unmountProjected,
  mount: unmountPlain,
  nothing: unmountPlain,
}

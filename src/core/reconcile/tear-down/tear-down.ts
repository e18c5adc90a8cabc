/** The one way in which volumes of pods, maps and devices are torn down; each kind says what of it is there, and what goes. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { PodVolume, SubPathLeaf, SubPaths } from '../../facts/actual/pod-volumes.ts'
import type { TreeEntry } from '../../facts/actual/snapshot.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { deadWords } from '../../linux/mount-words.ts'
import { isByKubelet } from '../../messages/codes.ts'
import { type Draft, expectedMount, messageOnPod } from '../../plan/draft.ts'
import type { Operation, OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { Facts } from '../../rules/rule.ts'
import { judged } from '../../rules/rules.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { lostAtStart, type PlanContext, waitForKubelet } from '../context/context.ts'
import { type Stack, umountSteps } from '../context/layers.ts'
import { gone, stateOf, waitToSettle } from '../context/pod-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'

/** Something that is there and that nobody wants. */
export interface Leftover extends Pick<Draft, 'kind' | 'subject' | 'reason' | 'message' | 'rule'>, Facts {
  /** The pod whose volume it is; undefined: a device's. */
  readonly pod?: PodClass
  readonly volume: VolumeRef
  /** Torn down before the volume's own mounts, by steps of its own. */
  readonly subPaths?: ReturnType<typeof subPathWork>
  readonly steps: readonly Step[]
  /** Absolute, beside those of the steps. The first path names the operation. */
  readonly paths?: readonly string[]
  /** Operations that come first. */
  readonly after?: readonly Draft[]
  readonly deletes?: Operation['deletes'] | undefined
  readonly kubeletWould?: string | undefined
}

/** Adds the operation, or what it waits for. @param report what is said beside it, unless it only waits for some time to pass */
export function tearDown(context: PlanContext, leftover: Leftover, report?: () => void): void {
  const { kind, pod, volume, subject, reason, message, rule, subPaths, mounts, call } = leftover
  const { paths = [], after = [], deletes, kubeletWould } = leftover
  // Of a pod's mounts volctl takes what a kubelet that runs has left.
  const isMount = pod !== undefined && kind !== 'UnmapVolume'
  const wait = isMount ? waitToSettle(context, pod) : waitForKubelet(context)
  const about = { ...omitUndefined({ pod: pod?.ref }), volume, subject }
  if (wait !== undefined && !isByKubelet(wait.code)) {
    context.findings.wait(kind, wait, 'S11', about)
    return
  }
  report?.()
  if (call?.kind === 'gone') reportDriverGone(context, leftover)
  const steps = [...(subPaths?.steps ?? []), ...leftover.steps]
  const all = [...(subPaths?.mounts ?? []), ...(mounts ?? [])].filter(({ layers }) => layers.length > 0)
  const removes = new Set<number>()
  for (const { layers } of all) for (const { id } of layers) removes.add(id)
  const draft: Draft = {
    kind,
    reason: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : reason,
    ...(pod === undefined ? { message } : messageOnPod(gone(pod), message, stateOf(pod))),
    ...about,
    steps,
    paths: [...new Set([...targetsOf(subPaths?.steps ?? []), ...paths, ...targetsOf(steps)])],
    after: [...after],
    rule,
    removes,
    ...omitUndefined({
      deletes,
      expects: mounts && all.map(({ path, layers }) => expectedMount(path, layers)),
      kubeletWould,
      dead: deadAmong(context, all),
    }),
  }
  context.findings.addUnlessWaiting(judged(context, draft, leftover), wait, 'S11')
}

/** What all volumes of pods have in common. @param target the absolute path of its mount point, as one text: a plan looks thousands up */
export function partsOfVolume(context: PlanContext, volume: PodVolume, target: string) {
  const { layers, foreign, subPaths } = volume
  return {
    subject: context.ledger.of(volume),
    mounts: [{ path: target, layers }],
    foreign,
    subPaths: subPathWork(context, subPaths),
    paths: [target],
  }
}

/** What --driver-gone leaves undone (S16). */
function reportDriverGone({ findings }: PlanContext, { kind, pod, volume, subject, mounts }: Leftover): void {
  const { name, plugin, driver = plugin } = volume
  const call = CALLS[kind]?.[plugin === CSI_PLUGIN ? 0 : 1]
  const path = mounts?.[0]?.path ?? ''
  if (call === undefined) return
  findings.problem(
    'warning',
    'DriverGone',
    `driver ${driver} is declared gone (--driver-gone): ${call} is not called for ${path}; an open LUKS mapping, iSCSI session or multipath map of the volume stays open`,
    { ...omitUndefined({ pod: pod?.uid }), volume: name, path, subject },
  )
}

/** Of a CSI driver, and of a flexVolume's. */
const CALLS: Partial<Record<OperationKind, readonly [csi: string, flex: string]>> = {
  UnmountVolume: ['NodeUnpublishVolume', 'unmount'],
  CleanOrphanVolume: ['NodeUnpublishVolume', 'unmount'],
  UnmountDevice: ['NodeUnstageVolume', 'unmountdevice'],
}

function deadAmong({ inputs }: PlanContext, stacks: readonly Stack[]): Operation['dead'] {
  const dead = stacks.flatMap(({ path }) => {
    const error = inputs.deadError(inputs.relative(path))
    return error === undefined ? [] : [{ path, error: deadWords(error) }]
  })
  return dead.length === 0 ? undefined : dead
}

/** A loop device is not a path of the volume. */
export function targetsOf(steps: readonly Step[]): string[] {
  return steps.filter(({ op }) => op !== 'losetup -d').map(({ target }) => target)
}

// Files in the directory of a volume that volctl never deletes: each is reported (S12, O12).

/** @param the text after the path: where the file is, or whose it is not */
export function reportKept(
  context: PlanContext,
  volume: PodVolume,
  entry: TreeEntry,
  code: 'DataUnderMountPoint' | 'UnexpectedFile',
  what: string,
): void {
  const path = context.inputs.absolute(entry.path)
  const kept = {
    code,
    message: `${path} (${entry.size ?? 'unknown'} bytes) ${what}; volctl does not delete it`,
  }
  const about = { pod: volume.podUid, volume: volume.name, path, subject: context.ledger.of(volume) }
  const { message, hint }: { message: string; hint?: string } = isEmptied(volume) ? lostAtStart(context, kept) : kept
  context.findings.problem('warning', code, message, about, hint)
}

/** The kubelet deletes what is in such a volume; of all others it keeps what it finds where nothing is mounted (O12, O13). */
export function isEmptied({ plugin }: PodVolume): boolean {
  return ['emptyDir', 'projected'].includes(pluginNamed(plugin).tearDown)
}

// * The sub-path mounts of one volume name (R446, P140; O16, O17, O18).

/** Unmounts every leaf, newest first, then removes leaves and directories bottom up. Never descends into a leaf. */
export function subPathWork(context: PlanContext, subPaths: SubPaths | undefined) {
  if (subPaths === undefined) return { steps: [], mounts: [], foreign: [] }
  const { inputs } = context
  const { tree } = inputs
  const mounted = subPaths.leaves
    .filter((leaf) => leaf.layers.length > 0)
    .toSorted((a, b) => (b.layers.at(-1)?.index ?? 0) - (a.layers.at(-1)?.index ?? 0))
  const steps: Step[] = mounted.flatMap((leaf) => umountSteps(context, inputs.absolute(leaf.path), leaf.layers))
  // Leaves that are not empty stay, and so do their parents.
  const gone = subPaths.leaves.filter((leaf) => leaf.layers.length > 0 || isEmptyLeaf(context, leaf))
  const goes = new Set(gone.map(({ path }) => path))
  const emptied = tree
    .children(subPaths.dir)
    .filter(({ path, type }) => type === 'dir' && tree.children(path).every((entry) => goes.has(entry.path)))
  const isEmptied = tree.isDir(subPaths.dir) && emptied.length === tree.children(subPaths.dir).length
  return {
    steps: [
      ...steps,
      ...gone.map(
        ({ path, entry }): Step => ({ op: entry?.type === 'file' ? 'unlink' : 'rmdir', target: inputs.absolute(path) }),
      ),
      ...[...emptied.map(({ path }) => path), ...(isEmptied ? [subPaths.dir] : [])].map(
        (path): Step => ({ op: 'rmdir', target: inputs.absolute(path) }),
      ),
    ],
    mounts: mounted.map(({ path, layers }) => ({ path: inputs.absolute(path), layers })),
    /** Mounts that are not the volume's. */
    foreign: subPaths.foreign,
  }
}

/** The mount point that the kubelet makes for a sub-path: an empty directory or an empty file (P136). */
function isEmptyLeaf({ inputs }: PlanContext, { path, entry }: SubPathLeaf): boolean {
  if (entry === undefined) return false
  if (entry.type === 'dir') return inputs.tree.children(path).length === 0 && entry.error === undefined
  return entry.type === 'file' && entry.size === 0
}

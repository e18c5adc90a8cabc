/** The one way in which volumes of pods, maps and devices are torn down; each kind gives its parts. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { PodVolume, SubPathLeaf, SubPaths } from '../../facts/actual/pod-volumes.ts'
import type { TreeEntry } from '../../facts/actual/snapshot.ts'
import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { deadWords } from '../../linux/mount-words.ts'
import { isByKubelet } from '../../messages/codes.ts'
import { type Draft, expectedMount, messageOnPod } from '../../plan/draft.ts'
import type { Operation, OperationKind, Step, VolumeRef } from '../../plan/plan.ts'
import type { Subject } from '../../plan/subject.ts'
import type { Facts } from '../../rules/rule.ts'
import { judged } from '../../rules/rules.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import { lostAtStart, type PlanContext, waitForKubelet, waitToSettle } from '../context/context.ts'
import { type Stack, umountSteps } from '../context/layers.ts'
import { gone, podTimes, stateOf } from '../context/pod-facts.ts'
import type { PodClass } from '../pods/pod-classes.ts'

interface TearDown {
  readonly kind: OperationKind
  /** The pod whose volume it is; undefined: a device's. */
  readonly pod?: PodClass
  readonly volume: VolumeRef
  readonly subject: Subject
}

/** What one kind of volume gives. */
export interface Parts extends Pick<Draft, 'reason' | 'message' | 'rule'>, Facts {
  /** Torn down before the volume's own mounts, by steps of its own. */
  readonly subPaths?: SubPathWork
  readonly steps: readonly Step[]
  /** Absolute, beside those of the steps. The first path names the operation. */
  readonly paths?: readonly string[]
  /** Operations that come first. */
  readonly after?: readonly Draft[]
  readonly deletes?: Operation['deletes'] | undefined
  readonly kubeletWould?: string | undefined
}

/** Adds the operation, or what it waits for. @param partsOf not called where it only waits for some time to pass */
export function tearDown(context: PlanContext, what: TearDown, partsOf: () => Parts): void {
  const { kind, pod, volume, subject } = what
  // Of a pod's mounts volctl takes what a kubelet that runs has left.
  const isMount = pod !== undefined && kind !== 'UnmapVolume'
  const wait = isMount ? waitToSettle(context, pod, () => podTimes(context, pod)) : waitForKubelet(context)
  const about = { ...omitUndefined({ pod: pod?.ref }), volume, subject }
  if (wait !== undefined && !isByKubelet(wait.code)) {
    context.findings.wait(kind, wait, 'S11', about)
    return
  }
  const parts = partsOf()
  if (parts.call?.kind === 'gone') reportDriverGone(context, what, parts.mounts?.[0]?.path ?? '')
  const { reason, message, rule, subPaths, paths = [], mounts, after = [], deletes, kubeletWould } = parts
  const steps = [...(subPaths?.steps ?? []), ...parts.steps]
  const all = [...(subPaths?.mounts ?? []), ...(mounts ?? [])].filter(({ layers }) => layers.length > 0)
  const removes = new Set<number>()
  for (const { layers } of all) for (const { id } of layers) removes.add(id)
  const draft: Draft = {
    kind,
    reason: parts.call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : reason,
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
  context.findings.addUnlessWaiting(judged(context, draft, parts), wait, 'S11')
}

/** The same of a pod's volume, with its own mounts. @param partsOf given the absolute path of its mount point, as one text: a plan looks thousands up */
export function tearDownVolume(
  context: PlanContext,
  { of, ...what }: Omit<TearDown, 'subject'> & { readonly of: PodVolume },
  partsOf: (target: string) => Parts,
): void {
  tearDown(context, { ...what, subject: context.ledger.podVolume(of) }, () => {
    const path = context.inputs.absolute(of.target)
    const own = {
      mounts: [{ path, layers: of.layers }],
      foreign: of.foreign,
      subPaths: subPathWork(context, of.subPaths),
    }
    return { ...own, paths: [path], ...partsOf(path) }
  })
}

/** What --driver-gone leaves undone (S16). */
function reportDriverGone(
  { findings }: PlanContext,
  { kind, pod, volume: { name, plugin, driver = plugin }, subject }: TearDown,
  path: string,
): void {
  const call = (plugin === CSI_PLUGIN ? CSI_CALLS : FLEX_CALLS)[kind]
  if (call === undefined) return
  findings.problem(
    'warning',
    'DriverGone',
    `driver ${driver} is declared gone (--driver-gone): ${call} is not called for ${path}; an open LUKS mapping, iSCSI session or multipath map of the volume stays open`,
    { ...omitUndefined({ pod: pod?.uid }), volume: name, path, subject },
  )
}

type Calls = Partial<Record<OperationKind, string>>
const CSI_CALLS: Calls = {
  ...{ UnmountVolume: 'NodeUnpublishVolume', CleanOrphanVolume: 'NodeUnpublishVolume' },
  UnmountDevice: 'NodeUnstageVolume',
}
const FLEX_CALLS: Calls = { UnmountVolume: 'unmount', CleanOrphanVolume: 'unmount', UnmountDevice: 'unmountdevice' }

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
  const about = { pod: volume.podUid, volume: volume.name, path, subject: context.ledger.podVolume(volume) }
  const { message, hint }: { message: string; hint?: string } = isEmptied(volume) ? lostAtStart(context, kept) : kept
  context.findings.problem('warning', code, message, about, hint)
}

/** The kubelet deletes what is in such a volume; of all others it keeps what it finds where nothing is mounted (O12, O13). */
export function isEmptied({ plugin }: PodVolume): boolean {
  return ['emptyDir', 'projected'].includes(pluginNamed(plugin).tearDown)
}

// * The sub-path mounts of one volume name (R446, P140; O16, O17, O18).

interface SubPathWork {
  readonly steps: readonly Step[]
  readonly mounts: readonly Stack[]
  /** Mounts that are not the volume's. */
  readonly foreign: readonly MountInfo[]
}

/** Unmounts every leaf, newest first, then removes leaves and directories bottom up. Never descends into a leaf. */
export function subPathWork(context: PlanContext, subPaths: SubPaths | undefined): SubPathWork {
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
    foreign: subPaths.foreign,
  }
}

/** The mount point that the kubelet makes for a sub-path: an empty directory or an empty file (P136). */
function isEmptyLeaf({ inputs }: PlanContext, { path, entry }: SubPathLeaf): boolean {
  if (entry === undefined) return false
  if (entry.type === 'dir') return inputs.tree.children(path).length === 0 && entry.error === undefined
  return entry.type === 'file' && entry.size === 0
}

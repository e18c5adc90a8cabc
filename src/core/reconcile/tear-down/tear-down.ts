/** The one way in which volumes of pods, maps and devices are torn down; each kind says what of it is there, and what goes. */

import { deadWords } from '../../linux/mount-table.ts'
import { isByKubelet, type ProblemCode, type Reason } from '../../messages/codes.ts'
import { type Finding, type Hint, said, saidOfAny } from '../../messages/findings.ts'
import type { Draft } from '../../plan/draft.ts'
import type { Operation, OperationKind, VolumeRef } from '../../plan/plan.ts'
import { lostAtStart, type PlanContext, type Stack, umountSteps, waitForKubelet } from '../../rules/context.ts'
import type { PodClass } from '../../rules/pods/pod-classes.ts'
import type { Facts } from '../../rules/rule.ts'
import { propose } from '../../rules/rules.ts'
import { waitToSettle } from '../../rules/unread.ts'
import type { PodVolume, SubPathLeaf, SubPaths } from '../../volumes/on-disk/pod-volumes.ts'
import { podNameAndUid } from '../../volumes/pods.ts'
import { pluginNamed } from '../../volumes/registry.ts'
import type { TreeEntry } from '../../volumes/snapshot.ts'
import { expectedMount, type Step } from '../../volumes/steps.ts'
import { CSI_PLUGIN } from '../../volumes/volume-names.ts'

/**
 * Something that is there and that nobody wants. What is said of it is the own part of the operation's message, and its code the reason:
 * PodGone stands for a pod that has ended as well.
 */
export interface Leftover extends Pick<Draft, 'kind' | 'subject' | 'rule'>, Finding<Reason>, Facts {
  /** The pod whose it is; undefined: a device's. */
  readonly pod?: PodClass
  /** Absent: what is left of the pod is none. */
  readonly volume?: VolumeRef
  /** Torn down before the volume's own mounts, by steps of its own. */
  readonly subPaths?: ReturnType<typeof subPathWork>
  /** On paths relative to the root directory, and on loop devices. */
  readonly steps: readonly Step[]
  /** Relative, beside those of the steps. The first path names the operation. */
  readonly paths?: readonly string[]
  /** Operations that come first. */
  readonly after?: readonly Draft[]
  readonly deletes?: Operation['deletes']
  readonly kubeletWould?: string
}

/** Adds the operation, or what it waits for. @param report what is said beside it, unless it only waits for some time to pass */
export function tearDown(context: PlanContext, leftover: Leftover, report?: () => void): void {
  const { kind, pod, volume, subject, code, message, args, rule, subPaths, mounts, call, paths = [], after } = leftover
  const { deletes, kubeletWould } = leftover
  const reason = code === 'PodGone' && pod?.class === 'Finished' ? 'PodFinished' : code
  // Of a pod's mounts volctl takes what a kubelet that runs has left.
  const isMount = pod !== undefined && kind !== 'UnmapVolume'
  const wait = isMount ? waitToSettle(context, pod) : waitForKubelet(context)
  const about = { pod: pod?.ref, volume, subject }
  if (wait !== undefined && !isByKubelet(wait.code)) {
    context.findings.wait(kind, wait, 'S11', about)
    return
  }
  report?.()
  if (call?.kind === 'gone') reportDriverGone(context, leftover)
  const { steps: first, mounts: leaves } = subPaths ?? NO_SUB_PATHS
  const stacks = [...leaves, ...(mounts ?? [])].filter(({ layers }) => layers.length > 0)
  const absolute = (path: string): string => (path.startsWith('/') ? path : context.inputs.absolute(path))
  const dead = stacks.flatMap(({ path }) => {
    const error = context.inputs.deadError(path)
    return error === undefined ? [] : { path: absolute(path), error: deadWords(error) }
  })
  const operation = {
    kind,
    code: call?.kind === 'absentSinceBoot' ? 'DriverAbsentSinceBoot' : reason,
    ...messageOf(pod, message),
    args,
    ...about,
    steps: [...first, ...leftover.steps].map((step) => ({ ...step, target: absolute(step.target) })),
    paths: [...targetsOf(first), ...paths, ...targetsOf(leftover.steps)].map(absolute),
    after,
    rule,
    deletes,
    expects: mounts && stacks.map(({ path, layers }) => expectedMount(absolute(path), layers)),
    kubeletWould,
    dead: dead.length === 0 ? undefined : dead,
  } as const
  propose(context, operation, leftover, wait, 'S11')
}

/** Where the reason is a pod, whole and in its parts, so that a view can print the pod's once. */
function messageOf(pod: PodClass | undefined, ownMessage: string) {
  if (pod === undefined) return { message: ownMessage }
  const podState =
    pod.class === 'Finished'
      ? 'has ended; no container or process is left'
      : 'was deleted from the API; no sandbox, container or process is left'
  const podMessage = `pod ${podNameAndUid(pod.ref)} ${podState}`
  return { message: `${podMessage}; ${ownMessage}`, podMessage, ownMessage, podState }
}

/** What all volumes of pods have in common. */
export function partsOfVolume(context: PlanContext, pod: PodClass, volume: PodVolume) {
  const { layers, foreign, subPaths, target } = volume
  return {
    pod,
    subject: context.ledger.of(volume),
    mounts: [{ path: target, layers }],
    foreign,
    subPaths: subPathWork(context, subPaths),
    paths: [target],
  }
}

/**
 * Of a CSI volume: by its driver, or by the kernel where none is called; then the names that the kubelet has made.
 *
 * @param call of the driver; undefined: none
 */
export function csiSteps(
  context: PlanContext,
  call: 'NodeUnpublishVolume' | 'NodeUnstageVolume' | undefined,
  { target, layers, stateFile, dir }: Pick<PodVolume, 'target' | 'layers' | 'stateFile' | 'dir'>,
  { hasTarget, isKept = false }: { readonly hasTarget: boolean; readonly isKept?: boolean },
): Step[] {
  const steps: Step[] = call === undefined ? umountSteps(context, { path: target, layers }) : [{ op: call, target }]
  if (call === undefined && hasTarget) steps.push({ op: 'rmdir', target })
  if (stateFile !== undefined) steps.push({ op: 'unlink', target: stateFile.path })
  return isKept ? steps : [...steps, { op: 'rmdir', target: dir }]
}

/** What --driver-gone leaves undone (S16). */
function reportDriverGone({ findings, inputs }: PlanContext, { kind, pod, volume, subject, mounts }: Leftover): void {
  const { name = '', plugin = '', driver = plugin } = volume ?? {}
  const call = CALLS[kind]?.[plugin === CSI_PLUGIN ? 0 : 1]
  const path = inputs.absolute(mounts?.[0]?.path ?? '')
  if (call === undefined) return
  findings.problem('warning', said('DriverGone', { driver, call, path }), {
    pod: pod?.uid,
    volume: name,
    path,
    subject,
  })
}

/** Of a CSI driver, and of a flexVolume's. */
const CALLS: Partial<Record<OperationKind, readonly [csi: string, flex: string]>> = {
  UnmountVolume: ['NodeUnpublishVolume', 'unmount'],
  CleanOrphanVolume: ['NodeUnpublishVolume', 'unmount'],
  UnmountDevice: ['NodeUnstageVolume', 'unmountdevice'],
}

/** A loop device is not a path of the volume. */
export function targetsOf(steps: readonly Step[]): string[] {
  return steps.filter(({ op }) => op !== 'losetup -d').map(({ target }) => target)
}

// Files in the directory of a volume that volctl never deletes: each is reported (S12, O12).

/**
 * @param what the text after the path: where the file is, or whose it is not
 * @param isStranger whether the kubelet makes the others that are there
 */
export function reportKept(
  context: PlanContext,
  volume: PodVolume,
  entries: readonly TreeEntry[],
  what: string,
  isStranger = false,
): void {
  const { podUid: pod, name, target } = volume
  const subject = context.ledger.of(volume)
  for (const entry of entries) {
    const path = context.inputs.absolute(entry.path)
    const code = entry.path.startsWith(`${target}/`) && !isStranger ? 'DataUnderMountPoint' : 'UnexpectedFile'
    const kept: Finding<ProblemCode> & { readonly hint?: Hint } = saidOfAny(code, 'kept', {
      path,
      size: entry.size ?? 'unknown',
      what,
    })
    const found = isEmptied(volume) ? lostAtStart(context, kept) : kept
    context.findings.problem('warning', found, { pod, volume: name, path, subject }, found.hint)
  }
}

/** The kubelet deletes what is in such a volume; of all others it keeps what it finds where nothing is mounted (O12, O13). */
export function isEmptied({ plugin }: PodVolume): boolean {
  return ['emptyDir', 'projected'].includes(pluginNamed(plugin).tearDown)
}

// The sub-path mounts of one volume name (R446, P140; O16, O17, O18).

/** Unmounts every leaf, newest first, then removes leaves and directories bottom up. Never descends into a leaf. */
export function subPathWork(context: PlanContext, subPaths: SubPaths | undefined) {
  if (subPaths === undefined) return NO_SUB_PATHS
  const { tree } = context.inputs
  const { dir, leaves, foreign } = subPaths
  const mounts = leaves
    .filter(({ layers }) => layers.length > 0)
    .toSorted((a, b) => (b.layers.at(-1)?.index ?? 0) - (a.layers.at(-1)?.index ?? 0))
  // The mount point that the kubelet makes for a sub-path is an empty directory or an empty file (P136): what is not stays, and so do
  // its parents.
  const isEmpty = ({ path, entry }: SubPathLeaf): boolean =>
    entry?.type === 'dir'
      ? tree.children(path).length === 0 && entry.error === undefined
      : entry?.type === 'file' && entry.size === 0
  const gone = leaves.filter((leaf) => leaf.layers.length > 0 || isEmpty(leaf))
  const goes = new Set(gone.map(({ path }) => path))
  const isEmptied = (directory: string): boolean =>
    tree.isDir(directory) && tree.children(directory).every(({ path }) => goes.has(path))
  for (const { path } of [...tree.children(dir), { path: dir }]) if (isEmptied(path)) goes.add(path)
  const removed = [...goes].map(
    (target): Step => ({ op: tree.get(target)?.type === 'file' ? 'unlink' : 'rmdir', target }),
  )
  return {
    steps: [...mounts.flatMap((leaf) => umountSteps(context, leaf)), ...removed],
    mounts: mounts as readonly Stack[],
    /** Mounts that are not the volume's. */
    foreign,
  }
}

const NO_SUB_PATHS = { steps: [], mounts: [], foreign: [] }

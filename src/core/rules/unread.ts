/** A directory or file that could not be read is unknown: it may have content or not (S3); and facts about one pod that phases share. */

import { memoize } from '../base/collections.ts'
import { rfc3339 } from '../base/text.ts'
import { mayBeGlobal } from '../facts/global-mounts.ts'
import type { Pod } from '../kube/api/objects.ts'
import { isWithin } from '../linux/paths.ts'
import { diskTrouble } from '../messages/disk-trouble.ts'
import { said } from '../messages/findings.ts'
import type { Draft, Wait } from '../plan/draft.ts'
import type { Obstacle } from '../volumes/finding.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { PodVolume } from '../volumes/on-disk/pod-volumes.ts'
import { baseName, isExpectedDirectory, mayBeLink, NOT_UTF8, parentOf, type Tree } from '../volumes/on-disk/tree.ts'
import { containerStatusesOf } from '../volumes/pods.ts'
import { STATE_FILES } from '../volumes/registry.ts'
import type { TreeEntry } from '../volumes/snapshot.ts'
import { notAFile } from '../volumes/volume-names.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import { isLiving, type PodClass } from './pods/pod-classes.ts'

const ERRNO = /^E[A-Z0-9]+$/

/**
 * True if the system refused to read the entry. A limit of volctl's own, as for content written by containers, shows that
 * something is there.
 */
function isUnread(entry: TreeEntry): boolean {
  return (entry.error !== undefined && ERRNO.test(entry.error)) || isUnknownLink(entry)
}

/** S8: a link where the kubelet has a directory. The link is not followed: what is behind it is unknown. */
function isUnknownLink({ path, type, realPath }: TreeEntry): boolean {
  return (
    type === 'link' && !(realPath !== undefined && mayBeLink(path)) && (isExpectedDirectory(path) || mayBeGlobal(path))
  )
}

/** Every part of the root directory that could not be read, each with what cannot be decided because of it. Nearly always empty. */
export const unreadParts = memoize((inputs: ActualInputs) =>
  (inputs.snapshot.tree ?? [])
    .filter(isUnread)
    .map((entry) => ({ path: entry.path, entry, obstacle: obstacleOf(inputs, entry) })),
)

/** Such a link may hide any volume, whatever else is known of its pod or driver. */
export function unknownLinks(inputs: ActualInputs): ReturnType<typeof unreadParts> {
  return unreadParts(inputs).filter(({ entry }) => isUnknownLink(entry))
}

/** The first of these that could not be read. Nearly always everything was, and none is looked up. */
function firstUnread(
  inputs: ActualInputs,
  entriesOf: (tree: Tree) => readonly (TreeEntry | undefined)[],
): Obstacle | undefined {
  if (unreadParts(inputs).length === 0) return undefined
  const unread = entriesOf(inputs.tree).find((entry) => entry !== undefined && isUnread(entry))
  return unread && obstacleOf(inputs, unread)
}

/** The nearest first. */
function upwards(path: string): string[] {
  return path === '.' ? [path] : [path, ...upwards(parentOf(path))]
}

/** What could not be read at these paths and above them. */
export function unreadObstacle(inputs: ActualInputs, paths: readonly string[]): Obstacle | undefined {
  return firstUnread(inputs, (tree) => paths.flatMap(upwards).map((path) => tree.get(path)))
}

/** What could not be read of a directory: the directory, or anything above it or in it. */
export function unreadWithin(inputs: ActualInputs, path: string): Obstacle | undefined {
  return firstUnread(inputs, (tree) => [...tree.descendants(path), ...upwards(path).map((each) => tree.get(each))])
}

/**
 * S21: if a place where set-up volumes leave traces could not be read, any volume may be set up. For running pods see
 * `unidentifiedVolumes`.
 */
export const unreadTraces = memoize(({ inputs, classes }: PlanContext): Obstacle | undefined =>
  firstUnread(inputs, (tree) => {
    const ended = classes.all.filter((pod) => !isLiving(pod)).map(({ uid }) => `pods/${uid}`)
    return [
      ...['.', 'plugins', 'plugins/kubernetes.io'].map((path) => tree.get(path)),
      ...tree.descendants('plugins/kubernetes.io'),
      ...ended.flatMap((pod) => [pod, `${pod}/volumes`, `${pod}/volumeDevices`].map((path) => tree.get(path))),
      ...ended.flatMap((pod) => tree.descendants(`${pod}/volumes/kubernetes.io~csi`)),
      ...ended.flatMap((pod) => [...tree.children(`${pod}/volumes`), ...tree.descendants(`${pod}/volumeDevices`)]),
    ]
  }),
)

/** Why something unknown is left alone. */
export function leftUnread(obstacle: Obstacle) {
  return { rule: 'S3', why: obstacle.message, obstacle }
}

/**
 * No operation may have a path behind such a link, whatever it was decided on, or of a name that no path leads to, as a path is
 * text.
 */
export function outOfReachObstacle(inputs: ActualInputs, draft: Draft): Obstacle | undefined {
  const unreachable = unreadParts(inputs).filter(({ entry }) => entry.error === NOT_UTF8)
  const places = [...unknownLinks(inputs), ...unreachable]
  if (places.length === 0) return undefined
  const paths = [...draft.paths, ...draft.steps.map(({ target }) => target)]
  return places.find(({ path }) => paths.some((each) => isWithin(each, inputs.absolute(path))))?.obstacle
}

/** S14: a state file is written to the journal before it is removed, and something else in its place cannot be. */
export function stateFileObstacle(inputs: ActualInputs, { steps }: Draft): Obstacle | undefined {
  for (const { op, target } of steps) {
    if (op !== 'unlink' || !STATE_FILES.has(baseName(target))) continue
    const entry = inputs.tree.get(inputs.relative(target))
    const error = entry?.error ?? (entry === undefined || entry.type === 'file' ? undefined : notAFile(entry))
    if (entry !== undefined && error !== undefined) return obstacleOf(inputs, { ...entry, error })
  }
  return undefined
}

function obstacleOf(inputs: ActualInputs, entry: TreeEntry): Obstacle {
  const { path, error = '' } = entry
  if (isUnknownLink(entry)) {
    const { target } = entry
    return said('LinkInPlace', {
      path: inputs.absolute(path),
      target: target === undefined ? '' : ` to ${target}`,
      why: error === '' ? '' : ` (${error})`,
    })
  }
  if (error === NOT_UTF8) {
    return {
      ...said('NodeUnreadable.notUtf8', { path: inputs.absolute(path) }),
      hint: 'The kubelet makes no such names: have its owner (ls -bl) rename it once nothing writes there; then plan again.',
    }
  }
  return {
    ...said('NodeUnreadable.unknown', { path: inputs.absolute(path), error }),
    hint: diskTrouble(error)?.hint ?? 'Make the path readable; then plan again.',
  }
}

// Facts about one pod that several phases use.

/**
 * S11 for leftovers of an orphaned pod: while a kubelet runs, volctl acts only on what has not changed for the settle time.
 * Unknown, zero and future times count as just now (S28).
 */
export function waitToSettle(context: PlanContext, pod: PodClass): Wait | undefined {
  if (context.kubelet.state === 'stopped') return waitForKubelet(context)
  const { inputs, options, now, cautiousNow } = context
  const { settleMs } = options
  // When anything of this pod last changed, in seconds of this host's clock: on disk and, if the pod has ended, in the API.
  const times = [...timesOnDisk(inputs, pod), ...(pod.pod === undefined ? [] : endTimes(inputs, pod.pod))]
  const isKnown = times.length > 0 && times.every((time) => time !== undefined && time > 0)
  // Of more times than a call takes arguments, too.
  const last = isKnown ? times.reduce<number>((newest, time = 0) => Math.max(newest, time), 0) * 1000 : undefined
  if (last !== undefined && last <= cautiousNow - settleMs) return undefined
  return {
    ...said('Settling.pod', { uid: pod.uid, seconds: settleMs / 1000 }),
    hint: 'Plan again later: a kubelet that can clean up does so within seconds. Or give a shorter --settle.',
    // Not where one of the times is unknown, or in the future (S28).
    until: last !== undefined && last <= now ? rfc3339(last + settleMs) : undefined,
  }
}

/**
 * When the pod and each of its containers ended, by the API. The kubelet tears the volumes down right after that, and touches
 * no directory before (S11); a pod counts as ended just now if nothing says when it ended (S28).
 */
function endTimes({ snapshot }: ActualInputs, pod: Pod): (number | undefined)[] {
  const { metadata, status } = pod
  const times = [
    metadata.deletionTimestamp,
    ...(status?.conditions ?? []).map((condition) => condition.lastTransitionTime),
    ...containerStatusesOf(pod).map(({ state }) => state?.terminated?.finishedAt),
  ].flatMap((time) => (time == null ? [] : [(Date.parse(time) - (snapshot.api?.clockSkewMs ?? 0)) / 1000]))
  return times.length === 0 ? [undefined] : times
}

/** Times of the files that the kubelet made for this pod, without the content of volumes. */
function timesOnDisk(inputs: ActualInputs, pod: PodClass): (number | undefined)[] {
  const { tree } = inputs
  const base = `pods/${pod.uid}`
  const parts = ['volumes', 'volumeDevices', 'volume-subpaths'].map((part) => `${base}/${part}`)
  const entries = parts
    .flatMap((part) => tree.children(part))
    .flatMap((plugin) => [plugin, ...tree.children(plugin.path)])
  const states = entries.map(({ path }) => `${path}/vol_data.json`)
  const others = [base, ...parts, `${base}/plugins`, `${base}/containers`, ...states].flatMap(
    (path) => tree.get(path) ?? [],
  )
  return [...entries, ...others].filter(({ path }) => inputs.at(path).length === 0).map(({ mtime }) => mtime)
}

/** R405: a volume of an orphaned or finished pod with nothing left to tear down. */
export function leaveEmpty({ inputs, ledger, findings }: PlanContext, volume: PodVolume): void {
  const { dir } = volume
  const unread = unreadWithin(inputs, dir)
  const directory = inputs.tree.has(dir)
    ? "its directory is removed with the pod's directory (--orphans)"
    : 'it has no directory'
  findings.unchanged.push({
    path: inputs.absolute(dir),
    subject: ledger.of(volume),
    ...(unread === undefined
      ? { rule: 'R405', why: `the volume is not mounted or set up, and has no state file; ${directory}` }
      : leftUnread(unread)),
  })
}

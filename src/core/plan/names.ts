/** The names of pods, volumes and nodes in a plan. */

import { didYouMean } from '../base/text.ts'
import { namespacedName } from '../kube/api/names.ts'
import { advice, type Finding, type Hint, said, VolctlError } from '../messages/findings.ts'
import type { CauseSubject, PodRef } from '../volumes/finding.ts'
import { podName, podNameAndUid } from '../volumes/pods.ts'
import type { Plan, VolumeRef } from './plan.ts'

/** The beginning of a UID. Anything shorter counts as a pod's name. */
const BEGINNING = /^[0-9a-f][0-9a-f-]{3,}$/

/** Pods that a name means: a UID; NAMESPACE/NAME or NAME; or the beginning of a UID. The first of these that finds one. */
export function podsCalled<P>(
  given: string,
  { pods, here = pods }: { readonly pods: readonly P[]; readonly here?: readonly P[] },
  refOf: (pod: P) => PodRef,
  isUid = (pod: P): boolean => refOf(pod).uid === given,
): readonly P[] {
  const byUid = pods.filter(isUid)
  if (byUid.length > 0) return byUid
  const isCalled = (ref: PodRef): boolean => ref.name !== undefined && [ref.name, namespacedName(ref)].includes(given)
  const byName = here.filter((pod) => isCalled(refOf(pod)))
  return byName.length > 0 || !BEGINNING.test(given) ? byName : here.filter((pod) => refOf(pod).uid.startsWith(given))
}

/** How a screen calls a pod. */
export type PodText = (pod: PodRef) => string

/** @param plan all of whose pods are on the screen */
export function podTextIn({
  operations,
  waiting = [],
  problems = [],
}: Pick<Plan, 'operations'> & Partial<Plan>): PodText {
  return podTexts([
    ...problems.flatMap(({ about: { pod: uid, podRef } }) => podRef ?? (uid === undefined ? [] : { uid })),
    ...[...operations, ...waiting].flatMap(({ pod }) => pod ?? []),
  ])
}

/** A volume's name in its pod; without a pod, its PersistentVolume's name, otherwise its name on disk. */
export function shownVolume({ pod, volume }: Of): string {
  if (volume === undefined) return '-'
  return (pod === undefined ? volume.persistentVolume : volume.podVolumeName) ?? volume.name
}

interface Of {
  readonly pod?: PodRef
  readonly volume?: Pick<VolumeRef, 'name' | 'podVolumeName' | 'persistentVolume'>
}

/** What a cause is a fact about, by name; undefined: the node or cluster as a whole. */
export function shownSubject(
  { driver, pod, volume, nodes, claim, attachment, list, object, path }: CauseSubject,
  podText: PodText,
): string | undefined {
  const on = nodes && `node ${nodes.join(', ')}`
  if (volume !== undefined) return [pod && `${podText(pod)} `, volume, on && ` on ${on}`].join('')
  return (
    driver ??
    (pod && podText(pod)) ??
    (claim && `PersistentVolumeClaim ${claim}`) ??
    (attachment && `VolumeAttachment ${attachment}`) ??
    on ??
    (list && `list of ${list}`) ??
    object ??
    path
  )
}

/** Users of docker and crictl are used to shortened ids; a UUID has eight digits before its first hyphen. */
const LEAST = 8

/**
 * `shop/web-0`; with the beginning of the UID where two pods have the name; that alone where no name is known.
 *
 * @param pods all on the screen: a beginning is as long as it takes to be no other pod's
 */
export function podTexts(pods: readonly PodRef[]): PodText {
  const byUid = new Map(pods.map((pod) => [pod.uid, pod]))
  const short = shortest([...byUid.keys()])
  const called = Map.groupBy(byUid.values(), podName)
  return (pod) => {
    const beginning = short.get(pod.uid) ?? pod.uid
    if (pod.name === undefined) return beginning
    const name = podName(pod)
    return (called.get(name)?.length ?? 0) > 1 ? `${name} (${beginning})` : name
  }
}

function shortest(uids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = uids.toSorted()
  return new Map(
    sorted.map((uid, index) => {
      const shared = Math.max(sharedLength(uid, sorted[index - 1]), sharedLength(uid, sorted[index + 1]))
      return [uid, uid.slice(0, Math.max(LEAST, shared + 1))]
    }),
  )
}

function sharedLength(a: string, b = ''): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

// Names on a command line that nothing has, or several things: after a typo a broken node would look healthy.

/** In a plan a problem, of other commands an error. */
export interface NameFault extends Finding<'AmbiguousName' | 'NothingNamed'> {
  readonly hint: Hint
}

interface Looked {
  readonly noun: string
  /** "on this node" */
  readonly place: string
  readonly hint: Hint
  /** No name that is like it is offered. */
  readonly isExact?: true
}

/** @param known all that could be named, asked for where something was given */
export function nameFaults(
  given: readonly string[],
  known: () => Iterable<string>,
  { noun, place, hint, isExact }: Looked,
): NameFault[] {
  if (given.length === 0) return []
  const names = new Set(known())
  return given
    .filter((each) => !names.has(each))
    .map((each) => ({
      ...said('NothingNamed', { name: each, noun, place }),
      hint: isExact ? hint : advice`${didYouMean(each, names)}${hint}`,
    }))
}

/** Pods that are named in messages; no more. */
const MOST_PODS = 10

export function ambiguousPods(name: string, pods: readonly PodRef[]): NameFault {
  const names = pods.slice(0, MOST_PODS).map(podNameAndUid).join(', ')
  return {
    ...said('AmbiguousName.pods', { name, count: pods.length, pods: names }),
    hint: 'Give NAMESPACE/NAME or the whole UID.',
  }
}

/** How a command line names things: an alias, as flags are given where any record of flags is. */
export type Naming = {
  /** The person does without what has none of the names. */
  readonly 'ignore-not-found'?: boolean
  /** What else a name may be: goes on with the hint where nothing has it. */
  readonly ways?: string
}

/** @throws VolctlError AmbiguousName, NothingNamed */
export function requireNamed(
  problems: readonly { readonly code: string; readonly message: string; readonly hint?: Hint }[],
  { 'ignore-not-found': isIgnored, ways }: Naming,
): void {
  const of = (code: NameFault['code']) => problems.filter((each) => each.code === code)
  const faults = [...of('AmbiguousName'), ...(isIgnored ? [] : of('NothingNamed'))]
  const [first] = faults
  if (first === undefined) return
  const isAmbiguous = first.code === 'AmbiguousName'
  const hints = [first.hint, isAmbiguous ? undefined : ways].filter((text) => text !== undefined)
  throw new VolctlError(
    { code: isAmbiguous ? 'AmbiguousName' : 'NothingNamed', message: faults.map(({ message }) => message).join('; ') },
    { hint: hints.join(' ') || undefined },
  )
}

/** Names of pods and claims in messages and on the command line. */
import type { PodRef } from './plan.ts'

/** `namespace/name`; an object without a namespace is in "default". */
export function namespacedName({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace ?? 'default'}/${name ?? ''}`
}

/** A pod as `namespace/name` if the name is known, otherwise its UID: `--pod` takes both. */
export function podName(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : namespacedName(pod)
}

/** The same, and the UID beside the name. */
export function podNameAndUid(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : `${namespacedName(pod)} (${pod.uid})`
}

/** One of the pod's containers, if that is known: `container web of pod default/web-0`. */
export function podAndContainer({ pod, container }: { readonly pod: PodRef; readonly container?: string }): string {
  return `${container === undefined ? '' : `container ${container} of `}pod ${podName(pod)}`
}

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

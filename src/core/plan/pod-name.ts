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
export function podAndContainer({
  pod,
  container,
}: {
  readonly pod: PodRef
  readonly container?: string | undefined
}): string {
  return `${container === undefined ? '' : `container ${container} of `}pod ${podName(pod)}`
}

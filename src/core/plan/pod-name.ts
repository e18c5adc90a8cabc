/** How pods, and claims, are called in messages and on the command line. */
import type { PodRef } from './plan.ts'

/** `namespace/name`; what names no namespace is in "default". */
export function namespacedName({ namespace, name }: { readonly namespace?: string; readonly name?: string }): string {
  return `${namespace ?? 'default'}/${name ?? ''}`
}

/** A pod as `namespace/name` where the name is known, else its UID: both are what `--pod` takes. */
export function podName(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : namespacedName(pod)
}

/** The same, and the UID beside the name. */
export function podNameAndUid(pod: PodRef): string {
  return pod.name === undefined ? pod.uid : `${namespacedName(pod)} (${pod.uid})`
}

/** One of its containers, where that is known: `container web of pod default/web-0`. */
export function podAndContainer({
  pod,
  container,
}: {
  readonly pod: PodRef
  readonly container?: string | undefined
}): string {
  return `${container === undefined ? '' : `container ${container} of `}pod ${podName(pod)}`
}

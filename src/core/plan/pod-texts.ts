/** Pods as a person reads and types them. */
import type { PodRef } from './plan.ts'
import { podName } from './pod-name.ts'

/** Users of docker and crictl are used to shortened ids; a UUID has eight digits before its first hyphen. */
const LEAST = 8

/**
 * `shop/web-0`; with the beginning of the UID where two pods have the name; that alone where no name is known.
 *
 * @param pods all on the screen: a beginning is as long as it takes to be no other pod's
 */
export function podTexts(pods: readonly PodRef[]): (pod: PodRef) => string {
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

/** Which pods --pod names: by namespace/name, by name, by UID or its unique beginning. */

import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'

export interface GivenPods {
  readonly uids: ReadonlySet<string>
  readonly unmatched: readonly string[]
  readonly ambiguous: readonly { readonly given: string; readonly pods: readonly ClusterPod[] }[]
}

/** Shorter beginnings of a UID are names. */
const LEAST_OF_UID = 4

/** Undefined: none is given. Of a name that several pods have, none is taken. */
export function podsGiven({ state, options }: ClusterContext): GivenPods | undefined {
  if (!options.pods?.length) return undefined
  const found = options.pods.map((given) => ({ given, pods: matching(state.pods, given) }))
  return {
    uids: new Set(found.flatMap(({ pods }) => (pods.length === 1 ? pods.map(({ uid }) => uid) : []))),
    unmatched: found.flatMap(({ given, pods }) => (pods.length === 0 ? [given] : [])),
    ambiguous: found.filter(({ pods }) => pods.length > 1),
  }
}

function matching(pods: readonly ClusterPod[], given: string): readonly ClusterPod[] {
  const exact = pods.filter((pod) => pod.uid === given || namespacedName(pod) === given)
  if (exact.length > 0) return exact
  const named = pods.filter(({ name }) => name === given)
  if (named.length > 0) return named
  return given.length < LEAST_OF_UID ? [] : pods.filter(({ uid }) => uid.startsWith(given))
}

/** Times of a cluster's objects: RFC 3339 text to milliseconds. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { Evidence } from '../../plan/cluster-plan.ts'
import type { ClusterNode, ClusterState, LeaseEvidence } from './cluster-state.ts'

/** Undefined: there is none, or it is no time; Go writes year 1 for "never" (S28). */
export function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) || time <= 0 ? undefined : time
}

/** The API server's clock when the reading began; undefined: not known. */
export function serverTime({ capturedAt, clockUnknown }: ClusterState): number | undefined {
  return clockUnknown === true ? undefined : timeOf(capturedAt)
}

/** The newest of some times, as text; undefined if one of them is not known: what is not known was just now (S28). */
export function newestOf(times: readonly (string | undefined)[]): string | undefined {
  let newest: string | undefined
  for (const each of times) {
    const time = timeOf(each)
    if (time === undefined) return undefined
    if (newest === undefined || time > (timeOf(newest) ?? 0)) newest = each
  }
  return newest
}

/** The latest of some times, as text: of signs of life those that are missing say nothing. */
export function latestOf(times: readonly (string | undefined)[]): string | undefined {
  return newestOf(times.filter((time) => timeOf(time) !== undefined))
}

/** When the holder of a lease was heard last: by its own clock, or by that of the API server where known. */
export function heardAt({ renewTime, writtenAt }: Pick<LeaseEvidence, 'renewTime' | 'writtenAt'>): string | undefined {
  return latestOf([renewTime, writtenAt])
}

/** When the lease of a node's kubelet was renewed last, by either clock. */
export function kubeletHeardAt({
  leaseRenewTime,
  leaseWrittenAt,
}: Pick<ClusterNode, 'leaseRenewTime' | 'leaseWrittenAt'>): string | undefined {
  return latestOf([leaseRenewTime, leaseWrittenAt])
}

/** For the evidence of an operation. @param since not known: absent */
export function fact(what: string, since?: string): Evidence {
  return { what, ...omitUndefined({ since }) }
}

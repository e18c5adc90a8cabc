/**
 * Is a node ready? Its Node says so, and kube-controller-manager corrects the word where the kubelet falls silent. Where that
 * controller is dead nobody does: a Node that was ready stays ready for ever, whatever becomes of its machine.
 */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { kubeletHeardAt, newestOf, timeOf } from '../model/times.ts'
import { type ClusterContext, isControllerAlive, isSettled } from './cluster-context.ts'

export interface Readiness {
  /** Status of the condition Ready, or Unknown in its place. */
  readonly ready: string | undefined
  readonly since?: string
  /** Ready says True, and the kubelet has been silent since then. */
  readonly isStale?: true
}

/** A kubelet renews its lease every ten seconds; after 50 the controller takes it for silent. */
const GRACE_MS = 50_000
/** A kubelet writes its status at least every five minutes. */
const STATUS_MS = 6 * 60_000

export function readinessOf(context: ClusterContext, node: ClusterNode): Readiness {
  const { ready, readySince, leaseRenewTime, leaseWrittenAt, heartbeat } = node
  const stated = { ready, ...omitUndefined({ since: readySince }) }
  // Without the lease a heartbeat alone shows little: the status of a healthy node may be minutes old.
  if (ready !== 'True' || isControllerAlive(context) || leaseRenewTime === undefined) return stated
  const times = [leaseRenewTime, leaseWrittenAt, heartbeat].filter((time) => time !== undefined)
  const heard = newestOf(isGivenAsGone(context, node.name) ? times.filter((time) => isPast(context, time)) : times)
  const time = timeOf(heard)
  const isSilent = time !== undefined && context.now - time > GRACE_MS && isSettled(context, heard)
  return isSilent ? { ready: 'Unknown', ...omitUndefined({ since: heard }), isStale: true } : stated
}

/** What is said of a node that does not count as ready. */
export function notReadyText({ isStale }: Readiness): string {
  return isStale ? 'has a silent kubelet' : 'is not ready'
}

/** A person says that its machine does not run (--node-gone). */
export function isGivenAsGone({ options }: Pick<ClusterContext, 'options'>, node: string): boolean {
  return options.nodeGone?.includes(node) ?? false
}

/** Of a Node that was deleted only the lease of its kubelet is left. */
type Signs = Pick<ClusterNode, 'name' | 'ready' | 'leaseRenewTime' | 'leaseWrittenAt' | 'heartbeat'>

/**
 * Ready may be False while the kubelet, and with it the machine, runs: its lease shows that. Without a lease that could be read
 * only the status does (S3), unless somebody has judged since that the kubelet is silent. Against a person's word counts only what
 * was heard just now: a time to come is that of a kubelet whose clock was ahead.
 */
export function isHeard(context: Pick<ClusterContext, 'now' | 'options'>, node: Signs): boolean {
  const { leaseRenewTime, leaseWrittenAt, heartbeat } = node
  const isGiven = isGivenAsGone(context, node.name)
  const isWithoutLease = kubeletHeardAt(node) === undefined && node.ready !== 'Unknown'
  const grace = isWithoutLease && !isGiven ? STATUS_MS : GRACE_MS
  return [leaseRenewTime, leaseWrittenAt, heartbeat].some((text) => {
    const time = timeOf(text)
    return time !== undefined && context.now - time <= grace && (!isGiven || isPast(context, text))
  })
}

/** What a kubelet wrote while the cluster was read is no time to come, nor is what the seconds of a Date leave out. */
const MARGIN_MS = 60_000

function isPast({ now }: Pick<ClusterContext, 'now'>, text: string | undefined): boolean {
  const time = timeOf(text)
  return time === undefined || time <= now + MARGIN_MS
}

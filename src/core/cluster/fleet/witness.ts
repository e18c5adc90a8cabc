/**
 * How far a node's ledger can be believed. That something is mounted holds a detach also where the snapshot is old; that nothing is there
 * is shown only by a look that is whole, fresh, of this boot and of this machine.
 */

import { compareBootIds, compareIds, ID_WORDS } from '../../reconcile/identity/machine-ids.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { timeOf } from '../model/times.ts'
import type { NodeLedger } from './node-ledger.ts'

export interface Witness {
  readonly ledger: NodeLedger
  /** Not older than the settle time: the machine ran then. */
  readonly isFresh: boolean
  /** What is mounted by the snapshot is of an earlier boot, and gone. */
  readonly isOutlived: boolean
  /** Why what it does not show may be there nevertheless; undefined: it is not. */
  readonly provesNothing?: string
}

/** @returns why the ledger is of no node of this cluster, or what it witnesses */
export function witnessOf(context: ClusterContext, ledger: NodeLedger): Witness | { readonly refused: string } {
  const found = context.objects.node(ledger.node)
  if (found.state === 'Found') {
    const refused = refuseMachine(context, ledger, found.object)
    return refused === undefined ? ofNode(context, ledger, found.object) : { refused }
  }
  const isNamed = found.state === 'Unknown' || isKnownBefore(context, ledger.node)
  if (!isNamed) return { refused: `this cluster has no node ${ledger.node}` }
  if (found.state === 'Absent' && !isSameServer(context, ledger))
    return { refused: `node ${ledger.node} does not exist any more, and the snapshot is of ${ledger.server}` }
  const why =
    found.state === 'Absent'
      ? `node ${ledger.node} does not exist any more, so nothing shows that it is of this machine`
      : `node ${ledger.node} ${found.reason}`
  return { ledger, isFresh: isFresh(context, ledger), isOutlived: false, provesNothing: why }
}

/** S3: the machine of a Node that was deleted may still write. */
function isKnownBefore({ state, actual }: ClusterContext, node: string): boolean {
  return actual.onNode(node).length > 0 || state.lostNodes?.some(({ name }) => name === node) === true
}

/** Several addresses lead to one server, so this alone shows no other cluster where something else agrees. */
function isSameServer({ state }: ClusterContext, { server }: NodeLedger): boolean {
  return server === undefined || server === state.server
}

const FIELDS = ['machineID', 'systemUUID'] as const

function refuseMachine(context: ClusterContext, ledger: NodeLedger, node: ClusterNode): string | undefined {
  const contradiction = FIELDS.find((field) => compareIds(field, ledger, node) === 'contradicts')
  if (contradiction !== undefined) {
    return `its ${ID_WORDS[contradiction]} is ${ledger[contradiction]}, that of node ${node.name} is ${node[contradiction]}`
  }
  if (isProven(ledger, node)) return undefined
  if (ledger.nodeUID !== undefined)
    return `it is of a Node object ${ledger.node} with UID ${ledger.nodeUID}, here ${node.uid}`
  return isSameServer(context, ledger)
    ? undefined
    : `it is of a node of ${ledger.server}, and nothing shows that this is the same cluster`
}

/** Its machine or its Node object agrees. */
function isProven(ledger: NodeLedger, node: ClusterNode): boolean {
  return ledger.nodeUID === node.uid || FIELDS.some((field) => compareIds(field, ledger, node) === 'agrees')
}

function ofNode(context: ClusterContext, ledger: NodeLedger, node: ClusterNode): Witness {
  const boots = compareBootIds(ledger.bootID, node.bootID)
  const [heard, captured] = [timeOf(node.heartbeat), timeOf(ledger.capturedAt)]
  // The Node keeps the boot ID of before until the kubelet of the new boot reports.
  const isOutlived = boots === 'contradicts' && heard !== undefined && captured !== undefined && heard > captured
  const why =
    whyNotFresh(context, ledger) ??
    (boots === 'contradicts' ? 'it is of another boot of the node' : undefined) ??
    (boots === 'nothing' ? 'nothing shows that it is of the present boot of the node' : undefined) ??
    (isProven(ledger, node) ? undefined : 'nothing shows that it is of the machine of this node') ??
    ledger.unseen[0]
  return {
    ...{ ledger, isFresh: isFresh(context, ledger), isOutlived },
    ...(why !== undefined && { provesNothing: why }),
  }
}

function isFresh(context: ClusterContext, ledger: NodeLedger): boolean {
  return whyNotFresh(context, ledger) === undefined
}

/** S28: a time that is not known, or far ahead of the server's clock, shows nothing. */
function whyNotFresh({ now, options }: ClusterContext, { capturedAt }: NodeLedger): string | undefined {
  const time = timeOf(capturedAt)
  if (time === undefined) return 'it does not say when it was taken'
  if (now - time > options.settleMs)
    return `it was taken more than ${options.settleMs / 1000} s before the cluster was read`
  if (time - now > MOST_AHEAD_MS)
    return 'it was taken long after the cluster was read, or the clock of its node is ahead'
  return undefined
}

const MOST_AHEAD_MS = 10 * 60_000

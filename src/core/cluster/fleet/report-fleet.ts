/** What only both sides together show: the API, and what is really on the nodes. */

import { firstFew } from '../../lang/first-few.ts'
import type { FleetRow } from '../../plan/cluster-plan.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { type ClusterFindings, ON_API, onNodes } from '../context/findings.ts'
import { volctlOn } from '../context/kubectl.ts'
import { readinessOf } from '../context/readiness.ts'
import { shaped } from '../context/shaped.ts'
import { nodesText } from '../context/words.ts'
import { volumeKey, volumeOn } from '../ledger/cluster-row.ts'
import { volumeLabel } from '../model/known-volume.ts'
import { timeOf } from '../model/times.ts'
import type { JoinedFleet } from './join-fleet.ts'
import type { FleetLedger } from './read-fleet.ts'

/** @param rows where not everybody agrees */
export function reportFleet(
  context: ClusterContext,
  findings: ClusterFindings,
  joined: JoinedFleet,
  { defects }: FleetLedger,
  rows: readonly FleetRow[],
): void {
  for (const { source, why } of defects.slice(0, MOST_OF_A_KIND)) {
    const text = shaped`snapshot ${source} is left out, and its node counts as one without a snapshot: ${why}`
    findings.incomplete('SnapshotUnused', text, ON_API, AGAIN)
  }
  for (const { source, node, why } of joined.refused) {
    const text = shaped`snapshot ${source} of node ${node} is of another cluster or machine, and is left out: ${why}`
    findings.incomplete(
      'SnapshotUnused',
      text,
      onNodes(node),
      'Check that the snapshots and --context are of the same cluster.',
    )
  }
  for (const { ledger, provesNothing: why } of joined.witnesses) {
    if (why === undefined) continue
    const text = shaped`the snapshot of node ${ledger.node} of ${ledger.capturedAt} shows no volume to be free: ${why}`
    findings.problem('warning', 'SnapshotUnused', text, onNodes(ledger.node), AGAIN)
  }
  reportWithout(context, findings, joined)
  for (const row of rows) {
    reportFree(context, findings, joined, row)
    reportNotAttached(context, findings, row)
  }
  reportSeveral(context, findings, joined, rows)
}

/** All stand in `fleet.unusable`. */
const MOST_OF_A_KIND = 100
const AGAIN = 'Take the snapshot again: kubectl volctl on NODE snapshot -o FILE'

function reportWithout({ state }: ClusterContext, findings: ClusterFindings, joined: JoinedFleet): void {
  const nodes = state.nodes.flatMap(({ name }) => (joined.witness(name) === undefined ? [name] : [])).toSorted()
  if (nodes.length === 0) return
  const named = firstFew(nodes, MOST_NODES, 'and ').join(', ')
  findings.problem(
    'info',
    'SnapshotUnused',
    shaped`${nodes.length} of ${state.nodes.length} nodes have no snapshot and are judged by the API alone: ${named}`,
    onNodes(...nodes),
    'Take the missing ones: kubectl volctl on NODE snapshot -o FILE',
  )
}

const MOST_NODES = 5

/** The controller never detaches what a node that is ready reports in use, and after six minutes what a silent one does. */
function reportFree(context: ClusterContext, findings: ClusterFindings, joined: JoinedFleet, row: FleetRow): void {
  const { node, volume, attachment, inUse, says } = row
  const { uniqueName = '' } = volume
  if (says !== 'free' || !inUse || attachment === undefined) return
  if (context.desired.on(node, uniqueName) !== undefined || !context.objects.isWhole('pods')) return
  const state = nodeOf(context, node)
  const isReady = state !== undefined && readinessOf(context, state).ready === 'True'
  const captured = joined.witness(node)?.ledger.capturedAt ?? ''
  findings.problem(
    'warning',
    'ProvenFree',
    shaped`node ${node} reports volume ${volumeLabel(volume)} in use, no pod wants it there, and the snapshot of the node of ${captured} shows nothing of the volume: VolumeAttachment ${attachment} can go`,
    { nodes: [node], volume, attachment, subject: { row: volumeKey(node, uniqueName) } },
    isReady
      ? `Restart the kubelet of node ${node}: it reports its volumes again, and the controller detaches.`
      : `Start the kubelet of node ${node}: it reports its volumes again. Or run volctl apply on the node while the kubelet is stopped.`,
  )
}

/** Whoever gets the volume next writes beside this node. */
function reportNotAttached(context: ClusterContext, findings: ClusterFindings, row: FleetRow): void {
  const { node, volume, attachment, attached, inUse, confirmed, found = [] } = row
  const { uniqueName = '' } = volume
  const known = context.known.get(uniqueName)
  const isComplete = context.objects.isWhole('volumeattachments') && context.objects.isWhole('nodes')
  if (row.says !== 'there' || attachment !== undefined || inUse || confirmed || attached || !isComplete) return
  if (known?.attachability !== 'attachable') return
  const elsewhere = context.actual.nodesWith(uniqueName).filter((each) => each !== node)
  const nodes = [node, ...elsewhere]
  const isTaken = known.exclusive && elsewhere.length > 0
  const also = isTaken ? `, and attached to ${nodesText(elsewhere)}` : ''
  findings.problem(
    isTaken ? 'error' : 'warning',
    'MountedButNotAttached',
    shaped`the snapshot of node ${node} shows volume ${volumeLabel(volume)} at ${found[0]?.path ?? ''}, and the API shows the volume neither attached nor in use there${also}`,
    { nodes, volume, subject: volumeOn(nodes, uniqueName) },
    `Take the snapshot of node ${node} again. If it still shows the volume: ${volctlOn(node, 'plan')}`,
  )
}

/** S30. A snapshot from before a volume moved shows it where the API has it no longer: that may be all. */
function reportSeveral(
  context: ClusterContext,
  findings: ClusterFindings,
  joined: JoinedFleet,
  rows: readonly FleetRow[],
): void {
  const names = new Set([...context.known.values()].flatMap((each) => (each.exclusive ? each.uniqueName : [])))
  const byRow = new Map(rows.map((row) => [`${row.node} ${row.volume.uniqueName}`, row]))
  for (const uniqueName of names) {
    const on = joined.nodesShowing(uniqueName)
    if (on.length < 2 || context.known.get(uniqueName)?.attachability !== 'attachable') continue
    const there = on
      .map((node) => byRow.get(`${node} ${uniqueName}`) ?? joined.row(node, uniqueName))
      .filter(({ node, says }) => says === 'there' && joined.witness(node)?.isFresh === true)
    const [first] = there
    if (first === undefined || there.length < 2) continue
    const mayHaveMoved = there.some(
      (row) => row.attachment === undefined && !row.inUse && isBeforeReading(context, joined, row),
    )
    const nodes = there.map(({ node }) => node).toSorted()
    findings.problem(
      mayHaveMoved ? 'warning' : 'error',
      'TwoWriters',
      shaped`volume ${volumeLabel(first.volume)} may be on one node only, and is mounted or staged on ${nodesText(nodes)}`,
      { nodes, volume: first.volume, subject: volumeOn(nodes, uniqueName) },
      mayHaveMoved
        ? 'The volume may have moved between the snapshots: take them again.'
        : 'Before anything else, find out which node may have the volume, and end its pods on the other nodes.',
    )
  }
}

function isBeforeReading({ now }: ClusterContext, joined: JoinedFleet, { node }: FleetRow): boolean {
  return (timeOf(joined.witness(node)?.ledger.capturedAt) ?? 0) < now
}

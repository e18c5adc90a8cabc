/**
 * A cluster's plan, and what snapshots of its nodes add: a node's mount holds a detach that the API would allow, and an attach of the
 * volume elsewhere. Nothing becomes an operation by a snapshot. Pure.
 */

import { nameClusterCauses } from '../../causes/cluster-causes.ts'
import { defined } from '../../lang/defined.ts'
import { firstFew } from '../../lang/first-few.ts'
import type { ClusterBlocked, ClusterOperation, ClusterPlan, FleetRow, PlanFleet } from '../../plan/cluster-plan.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { blockedBy, ClusterFindings } from '../context/findings.ts'
import { volctlOn } from '../context/kubectl.ts'
import { isGivenAsGone } from '../context/readiness.ts'
import { mayWrite } from '../detach/verdict.ts'
import { JoinedFleet, type Testimony } from './join-fleet.ts'
import type { FleetLedger } from './read-fleet.ts'
import { reportFleet } from './report-fleet.ts'

/** @param context that the plan was made of */
export function withFleet(
  plan: ClusterPlan,
  context: ClusterContext,
  fleet: FleetLedger,
  joined = new JoinedFleet(context, fleet),
): ClusterPlan & { readonly fleet: PlanFleet } {
  const findings = new ClusterFindings()
  const rows = rowsOf(context, joined, plan)
  reportFleet(context, findings, joined, fleet, rows)
  const { waiting, problems, causes, ...named } = nameClusterCauses({
    operations: heldBack(plan.operations, context, joined),
    waiting: plan.waiting,
    problems: [...plan.problems, ...findings.problems],
  })
  const { operations } = named
  const blocked = operations.filter((each) => each.blocked !== undefined).length
  return {
    ...plan,
    ...{ operations, waiting, problems, complete: plan.complete && findings.complete },
    summary: {
      ...plan.summary,
      ...{ blocked, problems: problems.length, ready: operations.length - blocked },
      ...(causes.length > 0 && { causes }),
    },
    fleet: fleetOf(context, joined, fleet, rows),
  }
}

/** What comes after a blocked operation is blocked, too (S26). */
function heldBack(
  operations: readonly ClusterOperation[],
  context: ClusterContext,
  joined: JoinedFleet,
): ClusterOperation[] {
  const numbers = new Map<string, number>()
  return operations.map((operation, index) => {
    const before = operation.after.find((id) => numbers.has(id))
    const blocked =
      operation.blocked ??
      obstacleTo(context, joined, operation) ??
      (before === undefined
        ? undefined
        : blockedBy(
            'Predecessor',
            'the detach that has to come first is blocked',
            `Resolve operation ${numbers.get(before)} first.`,
          ))
    if (blocked === undefined) return operation
    numbers.set(operation.id, index + 1)
    return { ...operation, blocked }
  })
}

function obstacleTo(
  context: ClusterContext,
  joined: JoinedFleet,
  operation: ClusterOperation,
): ClusterBlocked | undefined {
  return operation.kind === 'DetachVolume'
    ? detachObstacle(joined, operation)
    : attachObstacle(context, joined, operation)
}

function detachObstacle(joined: JoinedFleet, operation: ClusterOperation): ClusterBlocked | undefined {
  const { node, volume, attachment, basis } = operation
  const asked = joined.ask(node, volume, { name: attachment.name })
  if (asked.witness === undefined) return undefined
  // Of a machine that is off nobody can take a new snapshot: an old one does not hold for ever what a person has made sure of.
  if (basis.exception !== undefined && !asked.witness.isFresh) return undefined
  return obstacleBy(asked, node)
}

/** What only one node may have is not attached while another has it mounted, attached there or not. */
function attachObstacle(
  context: ClusterContext,
  joined: JoinedFleet,
  { node, volume }: ClusterOperation,
): ClusterBlocked | undefined {
  const { uniqueName } = volume
  // Of a volume that nobody knows the modes are not known either.
  if (uniqueName === undefined || context.known.get(uniqueName)?.exclusive === false) return undefined
  for (const other of joined.nodesShowing(uniqueName)) {
    if (other === node) continue
    const asked = joined.ask(other, volume)
    const isFresh = asked.witness?.isFresh === true
    const obstacle = isFresh || mayStillRun(context, other) ? obstacleBy(asked, other) : undefined
    if (obstacle === undefined) continue
    // Of a node that does not exist nobody can take a new snapshot.
    return isFresh || nodeOf(context, other) !== undefined
      ? obstacle
      : defined({ ...obstacle, hint: mayWrite(other).hint })
  }
  return undefined
}

/**
 * Where a person or a taint says that the machine is off, an old snapshot of the node holds nothing for ever. That its Node was deleted
 * says nothing of the machine (R734).
 */
function mayStillRun(context: ClusterContext, name: string): boolean {
  return nodeOf(context, name)?.outOfService !== true && !isGivenAsGone(context, name)
}

function obstacleBy({ says, volumes, witness }: Testimony, node: string): ClusterBlocked | undefined {
  if (witness === undefined || (says !== 'there' && says !== 'mayBeThere')) return undefined
  const { capturedAt } = witness.ledger
  const found = volumes.flatMap((each) => each.found)
  const paths = firstFew([...new Set(found.map(({ path }) => path))], MOST_PATHS, 'and ').join(', ')
  const next = `See what keeps the volume there: ${volctlOn(node, 'plan')}; then take the snapshot of the node again.`
  if (volumes.every(({ uniqueName }) => uniqueName === undefined)) {
    const message = `the snapshot of node ${node} of ${capturedAt} shows something that may be the volume (${volumes[0]?.identity}): ${paths}`
    return blockedBy('MountedOnNode', message, next)
  }
  const dead = found.find((each) => each.dead !== undefined)
  const how = dead === undefined ? '' : ` (${dead.path} does not answer: ${dead.dead})`
  const what =
    says === 'there'
      ? `shows the volume ${wordsOf(found)}`
      : 'has records of the volume, and nothing shows that it is gone'
  const message = `the snapshot of node ${node} of ${capturedAt} ${what}: ${paths}${how}`
  return blockedBy('MountedOnNode', message, next)
}

const MOST_PATHS = 3

function wordsOf(found: readonly { readonly how: string; readonly certain: boolean }[]): string {
  return [...new Set(found.filter(({ certain }) => certain).map(({ how }) => how))].join(' and ')
}

/** Where not everybody agrees, or an operation is about it. */
function rowsOf(context: ClusterContext, joined: JoinedFleet, plan: ClusterPlan): FleetRow[] {
  const planned = new Set(plan.operations.map(({ node, volume }) => `${node} ${volume.uniqueName}`))
  const nodes = new Set([
    ...context.state.nodes.map(({ name }) => name),
    ...joined.witnesses.map(({ ledger }) => ledger.node),
  ])
  return [...nodes].toSorted().flatMap((node) =>
    [...joined.namesOn(node)].toSorted().flatMap((uniqueName) => {
      const isPlanned = planned.has(`${node} ${uniqueName}`)
      if (!isPlanned && (joined.witness(node) === undefined || isNeverAttached(context, uniqueName))) return []
      const row = joined.row(node, uniqueName)
      return isPlanned || !agrees(row) ? [row] : []
    }),
  )
}

function isNeverAttached({ known, objects }: ClusterContext, uniqueName: string): boolean {
  const volume = known.get(uniqueName)
  if (volume !== undefined) return volume.attachability === 'notAttachable'
  const driver = uniqueName.split('/')[2]?.split('^')[0] ?? ''
  const found = objects.driver(driver)
  return found.state === 'Found' && found.object.attachRequired === false
}

function agrees({ wanted, attached, inUse, confirmed, says }: FleetRow): boolean {
  if (says === 'unknown') return true
  return says === 'free'
    ? !attached && !inUse && !confirmed && wanted.length === 0
    : says === 'there' && attached && inUse && confirmed && wanted.length > 0
}

function fleetOf(
  { state }: ClusterContext,
  joined: JoinedFleet,
  { defects }: FleetLedger,
  volumes: readonly FleetRow[],
): PlanFleet {
  const shown = joined.witnesses.filter(({ provesNothing }) => provesNothing === undefined)
  return {
    nodes: shown.length,
    without: state.nodes.filter(({ name }) => joined.witness(name) === undefined).length,
    unusable: [
      ...defects,
      ...joined.refused,
      ...joined.witnesses.flatMap(({ ledger: { source, node }, provesNothing: why }) =>
        why === undefined ? [] : [{ source, node, why }],
      ),
    ],
    volumes,
  }
}

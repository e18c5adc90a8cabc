/** What a question about a cluster covers: rows of its ledger, and what of a plan belongs to them. */

import type { Scope } from '../../ledger/whose.ts'
import type { FleetRow } from '../../plan/cluster-plan.ts'
import type { RowKey } from '../../plan/subject.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { type ClusterRow, volumeKey } from '../ledger/cluster-row.ts'
import type { ClusterTarget } from './cluster-candidates.ts'

export interface AskedRows {
  /** Those of the thing itself: an answer has a chain for each. */
  readonly rows: readonly ClusterRow[]
  readonly scope: Scope<ClusterRow>
  /** What snapshots of nodes show of it. */
  readonly shown: readonly FleetRow[]
}

/** @param fleet what snapshots of nodes show */
export function askedRows(context: ClusterContext, target: ClusterTarget, fleet: readonly FleetRow[]): AskedRows {
  const rows = rowsOf(context, target)
  const isWhole = WHOLE.has(target.kind)
  const shown = shownOf(target, rows, fleet)
  // What is wrong with a volume elsewhere is no matter of its driver or node.
  const others = target.kind === 'Driver' || target.kind === 'Node' ? [] : rows
  const same = others.map((row) => ({ row, keys: sameAs(context, row).map(({ key }) => key) }))
  // What only one node may have is its pod's wherever it is; what is shared, on its own node.
  const isEverywhere = ({ node, uniqueName, volume }: ClusterRow): boolean =>
    uniqueName !== undefined && (isWhole || node === undefined || (target.kind === 'Pod' && volume?.exclusive === true))
  const elsewhere = [
    ...same.flatMap(({ row, keys }) => (isEverywhere(row) ? keys : [])),
    ...(isWhole || target.kind === 'Node' ? shown.flatMap(keyOfShown) : []),
  ]
  const all = new Set(same.flatMap(({ keys }) => keys))
  const named = { ...podsOf(context, target, rows), ...namedBy(target, rows) }
  return { rows, shown, scope: { volumes: rows, paths: [], elsewhere, same: all, ...named } }
}

/** The same volume on whichever node; of a claim that leads nowhere, what names the claim. */
function sameAs({ ledger }: ClusterContext, { uniqueName, unresolved }: ClusterRow): readonly ClusterRow[] {
  if (uniqueName !== undefined) return ledger.ofVolume(uniqueName)
  return unresolved?.claim === undefined ? [] : ledger.ofClaim(unresolved.claim)
}

function keyOfShown({ node, volume: { uniqueName } }: FleetRow): RowKey[] {
  return uniqueName === undefined ? [] : [volumeKey(node, uniqueName)]
}

function shownOf(target: ClusterTarget, rows: readonly ClusterRow[], fleet: readonly FleetRow[]): readonly FleetRow[] {
  if (target.kind === 'Node') return fleet.filter(({ node }) => node === target.name)
  const names = new Set(rows.flatMap(({ uniqueName }) => uniqueName ?? []))
  return fleet.filter(({ volume }) => volume.uniqueName !== undefined && names.has(volume.uniqueName))
}

const WHOLE: ReadonlySet<ClusterTarget['kind']> = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Volume'])

function rowsOf({ ledger }: ClusterContext, target: ClusterTarget): readonly ClusterRow[] {
  switch (target.kind) {
    case 'Pod':
      return ledger.ofPod(target.pod)
    case 'PersistentVolumeClaim':
      return ledger.ofClaim(`${target.namespace}/${target.name}`)
    case 'PersistentVolume':
      return ledger.ofPersistentVolume(target.name)
    case 'VolumeAttachment': {
      const attached = ledger.attachmentsNamed(target.name)
      const planned = target.row === undefined ? undefined : ledger.row(target.row)
      return attached.length > 0 || planned === undefined ? attached : [planned]
    }
    case 'Volume':
      return ledger.ofVolume(target.uniqueName)
    case 'Node':
      return ledger.ofNode(target.name)
    case 'Driver':
      return ledger.ofDriver(target.name)
    default:
      throw new Error(`no volumes of ${JSON.stringify(target satisfies never)}`)
  }
}

function podsOf(
  { state }: ClusterContext,
  target: ClusterTarget,
  rows: readonly ClusterRow[],
): Pick<Scope, 'pods' | 'only'> {
  if (target.kind === 'Pod') return { pods: [target.pod.uid], only: [target.pod.uid] }
  if (WHOLE.has(target.kind)) return { pods: rows.flatMap(({ pods }) => pods.map(({ uid }) => uid)), only: [] }
  const here = target.kind === 'Node' ? state.pods.filter(({ node }) => node === target.name) : []
  return { pods: here.map(({ uid }) => uid), only: [] }
}

function namedBy(target: ClusterTarget, rows: readonly ClusterRow[]): Pick<Scope, 'driver' | 'nodes'> {
  if (target.kind === 'Driver')
    return { driver: { name: target.name, sockets: [], rows: new Set(rows.map(({ key }) => key)) } }
  return target.kind === 'Node' ? { nodes: [target.name] } : {}
}

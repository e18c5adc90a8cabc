/** What a question about a cluster covers: rows of its ledger, and what of a plan belongs to them. */

import type { Scope } from '../../ledger/whose.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterRow } from '../ledger/cluster-row.ts'
import type { ClusterTarget } from './cluster-candidates.ts'

export interface AskedRows {
  /** Those of the thing itself: an answer has a chain for each. */
  readonly rows: readonly ClusterRow[]
  readonly scope: Scope<ClusterRow>
}

export function askedRows(context: ClusterContext, target: ClusterTarget): AskedRows {
  const rows = rowsOf(context, target)
  const isWhole = WHOLE.has(target.kind)
  // What is wrong with a volume elsewhere is no matter of its driver or node.
  const others = target.kind === 'Driver' || target.kind === 'Node' ? [] : rows
  const same = others.map((row) => ({ row, keys: sameAs(context, row).map(({ key }) => key) }))
  // What only one node may have is its pod's wherever it is; what is shared, on its own node.
  const isEverywhere = ({ node, uniqueName, volume }: ClusterRow): boolean =>
    uniqueName !== undefined && (isWhole || node === undefined || (target.kind === 'Pod' && volume?.exclusive === true))
  const elsewhere = same.flatMap(({ row, keys }) => (isEverywhere(row) ? keys : []))
  const all = new Set(same.flatMap(({ keys }) => keys))
  const named = { ...podsOf(context, target, rows), ...namedBy(target, rows) }
  return { rows, scope: { volumes: rows, paths: [], elsewhere, same: all, ...named } }
}

/** The same volume on whichever node; of a claim that leads nowhere, what names the claim. */
function sameAs({ ledger }: ClusterContext, { uniqueName, unresolved }: ClusterRow): readonly ClusterRow[] {
  if (uniqueName !== undefined) return ledger.ofVolume(uniqueName)
  return unresolved?.claim === undefined ? [] : ledger.ofClaim(unresolved.claim)
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

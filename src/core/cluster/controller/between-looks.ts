/**
 * What only a controller changes, seen by two looks of one run: whatever the clocks say. A VolumeAttachment that came, unless volctl made
 * it; and volumesAttached of a Node, which volctl never writes. One that went shows nothing: the attacher takes it away.
 */
import type { ClusterAttachment, ClusterNode, ClusterState } from '../model/cluster-state.ts'

/** What is kept of a look, to be compared with a later one. */
export interface Looked {
  readonly nodes: ReadonlyMap<string, Pick<ClusterNode, 'uid' | 'managed' | 'volumesAttached'>>
  /** UIDs. */
  readonly attachments: ReadonlySet<string>
}

export function lookedAt({ nodes, attachments }: Pick<ClusterState, 'nodes' | 'attachments'>): Looked {
  return {
    nodes: new Map(
      nodes.map(({ name, uid, managed, volumesAttached = [] }) => [name, { uid, managed, volumesAttached }]),
    ),
    attachments: new Set(attachments.map(({ uid }) => uid)),
  }
}

/** The later look, with what it shows beside an earlier one. */
export function withChangesSince(before: Looked, state: ClusterState): ClusterState {
  const changes = changesBetween(before, state)
  return changes.length === 0 ? state : { ...state, controller: { ...state.controller, changes } }
}

const MOST_CHANGES = 3

/** The first few. */
export function changesBetween(
  before: Looked,
  {
    nodes,
    attachments,
  }: { readonly nodes: readonly ClusterNode[]; readonly attachments: readonly ClusterAttachment[] },
): readonly string[] {
  const reported = nodes
    .filter((node) => isReportedAnew(before.nodes.get(node.name), node))
    .map(({ name }) => `volumesAttached of node ${name} changed while volctl ran`)
  const came = attachments
    .filter(({ uid, byVolctl }) => byVolctl !== true && !before.attachments.has(uid))
    .map(({ name }) => `VolumeAttachment ${name} was created while volctl ran`)
  return [...reported, ...came].slice(0, MOST_CHANGES)
}

/** A kubelet that attaches volumes writes the list, too (R702). */
function isReportedAnew(
  before: ReturnType<Looked['nodes']['get']>,
  { uid, managed, volumesAttached = [] }: ClusterNode,
): boolean {
  if (before === undefined || before.uid !== uid || !before.managed || !managed) return false
  const known = new Set(before.volumesAttached)
  return known.size !== new Set(volumesAttached).size || volumesAttached.some((name) => !known.has(name))
}

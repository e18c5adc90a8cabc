/**
 * What only a controller changes, seen by two looks of one run: whatever the clocks say. A VolumeAttachment that came, unless volctl made
 * it; and volumesAttached of a Node, which volctl never writes. One that went shows nothing: the attacher takes it away.
 */
import type { ClusterState } from '../model/cluster-state.ts'

/** What is kept of a look, to be compared with a later one. */
export interface Looked {
  /** Of managed nodes, by UID: a kubelet that attaches volumes writes the list, too (R702). */
  readonly volumesAttached: ReadonlyMap<string, readonly string[]>
  /** UIDs. */
  readonly attachments: ReadonlySet<string>
}

type Lists = Pick<ClusterState, 'nodes' | 'attachments'>

export function lookedAt({ nodes, attachments }: Lists): Looked {
  const managed = nodes.filter((node) => node.managed)
  return {
    volumesAttached: new Map(managed.map(({ uid, volumesAttached = [] }) => [uid, volumesAttached])),
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
export function changesBetween(before: Looked, { nodes, attachments }: Lists): readonly string[] {
  const reported = nodes.filter(({ uid, managed, volumesAttached }) => {
    const known = managed ? before.volumesAttached.get(uid) : undefined
    return known !== undefined && new Set(known).symmetricDifference(new Set(volumesAttached)).size > 0
  })
  const came = attachments.filter(({ uid, byVolctl }) => byVolctl !== true && !before.attachments.has(uid))
  return [
    ...reported.map(({ name }) => `volumesAttached of node ${name} changed while volctl ran`),
    ...came.map(({ name }) => `VolumeAttachment ${name} was created while volctl ran`),
  ].slice(0, MOST_CHANGES)
}

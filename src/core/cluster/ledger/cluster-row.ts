/** One volume on one node as the pass sees it: who has it, and by which attachments. A row of a cluster's ledger. */

import type { ClusterSubject, PodUid, RowKey } from '../../plan/subject.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { Want } from '../desired/desired-attachments.ts'
import type { UnresolvedPodVolume } from '../desired/pod-volume.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import type { KnownVolume } from '../model/known-volume.ts'

export interface ClusterRow {
  readonly key: RowKey
  /** Absent: of pods without a node, or attached nowhere. */
  readonly node?: string
  /** Absent: it is not known which volume it is. */
  readonly uniqueName?: string
  readonly volume?: KnownVolume
  readonly identity?: { readonly driver: string }
  readonly want?: Want
  /** Pods of the node that want it, have it, or have ended; of a question about a pod this one alone. */
  readonly pods: readonly ClusterPod[]
  readonly podUids: ReadonlySet<PodUid>
  readonly attached: readonly Attached[]
  /** What the pod names, and nobody can find. */
  readonly unresolved?: UnresolvedPodVolume
  /** namespace/name */
  readonly claim?: string
  readonly persistentVolume?: string
}

/** @param node undefined: of no node */
export function volumeKey(node: string | undefined, uniqueName: string): RowKey {
  return `${node ?? '-'} ${uniqueName}`
}

/** The subject of what is said of a volume on each of these nodes. */
export function volumeOn(nodes: readonly string[], uniqueName: string): ClusterSubject {
  return { rows: nodes.map((node) => volumeKey(node, uniqueName)) }
}

export function attachmentKey({ object: { node, name }, uniqueName }: Pick<Attached, 'object' | 'uniqueName'>): RowKey {
  return uniqueName === undefined ? `${node} va/${name}` : volumeKey(node, uniqueName)
}

export function unresolvedKey({ pod: { node, uid }, name }: Pick<UnresolvedPodVolume, 'pod' | 'name'>): RowKey {
  return `${node ?? '-'} pod/${uid}/${name}`
}

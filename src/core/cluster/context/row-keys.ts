/** What a volume on a node is called in the subjects of findings. */

import type { ClusterSubject, RowKey } from '../../plan/subject.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import type { UnresolvedPodVolume } from '../desired/pod-volume.ts'

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

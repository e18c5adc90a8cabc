/** How a plan names an attachment and its volume, what a volume on a node is called in the subjects of findings, and lists of names. */

import { take } from '../../base/take.ts'
import { CSI_PLUGIN, parseCsiUniqueName } from '../../facts/actual/volume-names.ts'
import type { ClusterVolumeRef } from '../../plan/cluster-plan.ts'
import type { RowKey, Subject } from '../../plan/subject.ts'
import type { ActualAttachments, Attached } from '../actual/actual-attachments.ts'
import type { UnresolvedPodVolume } from '../desired/pod-volume.ts'
import { type KnownVolume, volumeRef } from '../model/known-volume.ts'

/** As a plan names it, also where only a Node's status does. */
export function refOf(uniqueName: string, volume: KnownVolume | undefined): ClusterVolumeRef {
  if (volume !== undefined) return volumeRef(volume)
  const csi = parseCsiUniqueName(uniqueName)
  const plugin =
    csi === undefined ? uniqueName.slice(0, uniqueName.indexOf('/', uniqueName.indexOf('/') + 1)) : CSI_PLUGIN
  return { name: csi?.handle ?? uniqueName, uniqueName, plugin, ...csi }
}

/** With where else it is attached, and whether its node reports it in use. */
export function attachedRef({ object, uniqueName, volume }: Attached, actual: ActualAttachments): ClusterVolumeRef {
  const { name, attacher: driver, node, persistentVolume } = object
  const nodes = uniqueName === undefined ? [] : actual.nodesWith(uniqueName).slice(0, MOST_ELSEWHERE + 1)
  const elsewhere = nodes.filter((each) => each !== node).slice(0, MOST_ELSEWHERE)
  return {
    ...(uniqueName === undefined ? { name, plugin: CSI_PLUGIN, driver } : refOf(uniqueName, volume)),
    // Of several PersistentVolumes behind one handle the one that the attachment names.
    ...(persistentVolume !== undefined && { name: persistentVolume, persistentVolume }),
    ...(elsewhere.length > 0 && { attachedElsewhere: elsewhere }),
    attached: object.attached === true,
    inUse: uniqueName !== undefined && actual.isInUse(node, uniqueName),
  }
}

/** A volume that many nodes may have is named with the first few. */
const MOST_ELSEWHERE = 20

/** @param node undefined: of no node */
export function volumeKey(node: string | undefined, uniqueName: string): RowKey {
  return `${node ?? '-'} ${uniqueName}`
}

/** The subject of what is said of a volume on each of these nodes. */
export function volumeOn(nodes: readonly string[], uniqueName: string): Subject {
  return { rows: nodes.map((node) => volumeKey(node, uniqueName)) }
}

export function attachmentKey({ object: { node, name }, uniqueName }: Pick<Attached, 'object' | 'uniqueName'>): RowKey {
  return uniqueName === undefined ? `${node} va/${name}` : volumeKey(node, uniqueName)
}

export function unresolvedKey({ pod: { node, uid }, name }: Pick<UnresolvedPodVolume, 'pod' | 'name'>): RowKey {
  return `${node ?? '-'} pod/${uid}/${name}`
}

const MOST_NODES = 5

/** `node a`; `nodes a, b`; `nodes a, b, c, d, e, and 3 more`. */
export function nodesText(nodes: readonly string[], most = MOST_NODES): string {
  return `${nodes.length === 1 ? 'node' : 'nodes'} ${take(nodes, most, 'and ').join(', ')}`
}

/** Of an object that is being deleted: `, held by FINALIZER`, or nothing. */
export function heldBy(finalizers: readonly string[] | undefined): string {
  return finalizers === undefined || finalizers.length === 0 ? '' : `, held by ${finalizers.join(', ')}`
}

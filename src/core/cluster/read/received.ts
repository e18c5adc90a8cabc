/**
 * The shapes in which the cluster pass receives objects: only the fields that a record is made of are checked, since 150,000
 * pods are looked at. A field of another type makes the whole list unknown (S3, S34).
 */
import { integer, kept, keptList, needed, nullable, type Shape, type ShapeOf, text } from '../../json/shape.ts'
import {
  claimShape,
  metadataFields,
  type Node,
  type ObjectMeta,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PodVolumeSource,
  podVolumeShape,
  volumeShape,
} from '../../model/objects.ts'
import { CLAIMS, CSI_NODES, PODS, type Resource, VOLUMES } from '../../model/resources.ts'

/** The uid matters to every decision here, other than on a node. */
const metadata = needed<ObjectMeta>(kept({ ...metadataFields, uid: needed(text) }))

const container = kept({
  name: needed(text),
  state: kept({
    running: nullable(kept({})),
    terminated: nullable(kept({ finishedAt: nullable(text) })),
  }),
  /** Of its last run, where it waits to run again. */
  lastState: kept({ terminated: nullable(kept({})) }),
})

export interface ReceivedContainer extends ShapeOf<typeof container> {}

const containers = keptList<ReceivedContainer>(container)

const receivedPod = kept({
  metadata,
  spec: needed(kept({ nodeName: text, volumes: keptList<PodVolumeSource>(podVolumeShape) })),
  status: kept({
    phase: text,
    conditions: keptList(kept({ type: needed(text), status: needed(text), message: text })),
    initContainerStatuses: containers,
    containerStatuses: containers,
    ephemeralContainerStatuses: containers,
  }),
})

/** A pod, as far as the attach/detach controller and a person who waits for the pod look at it. */
export interface ReceivedPod extends ShapeOf<typeof receivedPod> {}

/** Both shapes hold: the second is of fields beside those of the node's scope. */
function both<T>(whole: Shape<T>, more: Shape<unknown>): Shape<T> {
  return (value, at) => {
    more(value, at)
    return whole(value, at)
  }
}

const storageClass = kept({ spec: needed(kept({ storageClassName: text })) })
const reclaimPolicy = kept({ spec: needed(kept({ persistentVolumeReclaimPolicy: text })) })

export type ReceivedClaim = PersistentVolumeClaim & ShapeOf<typeof storageClass>
export type ReceivedVolume = PersistentVolume & ShapeOf<typeof reclaimPolicy>
export type ReceivedNode = Node

const receivedCsiNode = kept({
  metadata,
  spec: needed(
    kept({
      drivers: nullable(
        keptList(kept({ name: needed(text), nodeID: text, allocatable: nullable(kept({ count: integer })) })),
      ),
    }),
  ),
})

export interface ReceivedCsiNode extends ShapeOf<typeof receivedCsiNode> {}

// The resources in these shapes.

export const CLUSTER_PODS: Resource<ReceivedPod> = { ...PODS, shape: receivedPod }
export const CLUSTER_CSI_NODES: Resource<ReceivedCsiNode> = { ...CSI_NODES, shape: receivedCsiNode }
export const CLUSTER_CLAIMS: Resource<ReceivedClaim> = {
  ...CLAIMS,
  shape: both(claimShape as Shape<ReceivedClaim>, storageClass),
}
export const CLUSTER_VOLUMES: Resource<ReceivedVolume> = {
  ...VOLUMES,
  shape: both(volumeShape as Shape<ReceivedVolume>, reclaimPolicy),
}

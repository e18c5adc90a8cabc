/**
 * The shapes in which the cluster pass receives objects: only the fields that a record is made of are checked, since 150,000
 * pods are looked at. A field of another type makes the whole list unknown (S3, S34).
 */
import { integer, kept, keptList, needed, nullable, type ShapeOf, text } from '../../json/shape.ts'
import {
  metadataFields,
  type Node,
  type ObjectMeta,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PodVolumeSource,
  podVolumeShape,
} from '../../model/objects.ts'

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

export const receivedPod = kept({
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

/** Fields beside those of the node's scope. */
export const storageClass = kept({ spec: needed(kept({ storageClassName: text })) })
export const reclaimPolicy = kept({ spec: needed(kept({ persistentVolumeReclaimPolicy: text })) })

export type ReceivedClaim = PersistentVolumeClaim & ShapeOf<typeof storageClass>
export type ReceivedVolume = PersistentVolume & ShapeOf<typeof reclaimPolicy>
export type ReceivedNode = Node

export const receivedCsiNode = kept({
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

/**
 * The shapes in which the cluster pass receives objects: only the fields that a record is made of are checked, since 150,000
 * pods are looked at. A field of another type makes the whole list unknown (S3, S34).
 */
import { integer, kept, keptList, needed, nullable, type Shape, text } from '../../json/shape.ts'
import {
  type CsiNode,
  metadataFields,
  type Node,
  type ObjectMeta,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  podVolumeShape,
} from '../../model/objects.ts'

/** A container's state, with the reason why it waits. */
export interface ReceivedContainer {
  readonly name: string
  readonly state?: {
    readonly running?: unknown
    readonly waiting?: { readonly reason?: string } | null
    readonly terminated?: { readonly finishedAt?: string | null } | null
  }
}

/** A pod, as far as the attach/detach controller and a person who waits for the pod look at it. */
export interface ReceivedPod {
  readonly metadata: ObjectMeta
  readonly spec: Pick<Pod['spec'], 'nodeName' | 'volumes'>
  readonly status?: {
    readonly phase?: string
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly reason?: string
      readonly message?: string
    }[]
    readonly initContainerStatuses?: readonly ReceivedContainer[]
    readonly containerStatuses?: readonly ReceivedContainer[]
    readonly ephemeralContainerStatuses?: readonly ReceivedContainer[]
  }
}

export type ReceivedClaim = PersistentVolumeClaim & { readonly spec: { readonly storageClassName?: string } }

export type ReceivedVolume = PersistentVolume & {
  readonly spec: { readonly persistentVolumeReclaimPolicy?: string }
}

export type ReceivedNode = Node

export interface ReceivedCsiNode {
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly drivers?:
      | readonly (NonNullable<CsiNode['spec']['drivers']>[number] & {
          readonly allocatable?: { readonly count?: number } | null
        })[]
      | null
  }
}

/** The uid matters to every decision here, other than on a node. */
const metadata = needed(kept<ObjectMeta>({ ...metadataFields, uid: needed(text) }))

const time = nullable(text)

const containers = keptList(
  kept<ReceivedContainer>({
    name: needed(text),
    state: kept({
      running: nullable(kept({})),
      waiting: nullable(kept({ reason: text })),
      terminated: nullable(kept({ finishedAt: time })),
    }),
  }),
)

export const receivedPod: Shape<ReceivedPod> = kept<ReceivedPod>({
  metadata,
  spec: needed(kept({ nodeName: text, volumes: keptList(podVolumeShape) })),
  status: kept({
    phase: text,
    conditions: keptList(kept({ type: needed(text), status: needed(text), reason: text, message: text })),
    initContainerStatuses: containers,
    containerStatuses: containers,
    ephemeralContainerStatuses: containers,
  }),
})

/** A field beside those of the node's scope. */
export const storageClass = kept<{ readonly spec: { readonly storageClassName?: string } }>({
  spec: needed(kept({ storageClassName: text })),
})

export const reclaimPolicy = kept<{ readonly spec: { readonly persistentVolumeReclaimPolicy?: string } }>({
  spec: needed(kept({ persistentVolumeReclaimPolicy: text })),
})

export const receivedCsiNode: Shape<ReceivedCsiNode> = kept<ReceivedCsiNode>({
  metadata,
  spec: needed(
    kept({
      drivers: nullable(
        keptList(kept({ name: needed(text), nodeID: text, allocatable: nullable(kept({ count: integer })) })),
      ),
    }),
  ),
})

/**
 * What the attach/detach controller's pass is computed from: the whole cluster, reduced to what some decision reads.
 *
 * A cluster has up to 150,000 pods, so each object becomes one flat record while its page is read, and the page is dropped.
 * The same records stand in a cluster snapshot. Times are RFC 3339, in the API server's clock.
 */

import type { Attachability } from '../../desired/volume-spec.ts'
import type { PersistentVolume, PodVolumeSource } from '../../model/objects.ts'
import type { ApiReadError, Insecure } from '../../model/snapshot.ts'

/** Everything that was read of one cluster. */
export interface ClusterState {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'ClusterSnapshot'
  /** The server's clock when the reading began. */
  readonly capturedAt: string
  /** The server did not tell its clock: capturedAt is by the clock of this machine, and no time is judged by that. */
  readonly clockUnknown?: true
  /** How far the clocks of the servers that answered are apart, if by more than a minute; capturedAt is by the one that is behind. */
  readonly clockSpreadMs?: number
  readonly server: string
  /** UID of the namespace kube-system: the same for every address of this cluster. Absent: not readable. */
  readonly clusterUID?: string
  readonly insecure?: Insecure
  readonly user?: string
  /** gitVersion, e.g. "v1.36.2". */
  readonly serverVersion?: string
  readonly lists: Readonly<Record<ClusterResource, ListSight>>
  readonly errors: readonly ApiReadError[]
  readonly rights: ClusterRights
  readonly controller: ControllerEvidence
  readonly nodes: readonly ClusterNode[]
  /** Only pods with a volume that could be attached: of the others `podCount` has the number. */
  readonly pods: readonly ClusterPod[]
  /** All pods that were listed. */
  readonly podCount: number
  readonly claims: readonly ClusterClaim[]
  readonly volumes: readonly ClusterVolume[]
  readonly attachments: readonly ClusterAttachment[]
  readonly drivers: readonly ClusterDriver[]
  /** Leases of external attachers, where they were readable. */
  readonly attachers: readonly LeaseEvidence[]
  /** Leases in kube-node-lease whose Node is not in the list, and the latest time that they show; absent: not readable. */
  readonly lostNodes?: readonly { readonly name: string; readonly leaseRenewTime?: string }[]
}

export type ClusterResource =
  | 'nodes'
  | 'pods'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'volumeattachments'
  | 'csidrivers'
  | 'csinodes'

/** How far a list can be believed. Only `whole` shows that an object is absent (S2, S3). */
export interface ListSight {
  /** `whole`: consistent, all pages, all namespaces, no filter. `part`: fewer were asked for. `failed`: see `errors`. */
  readonly state: 'whole' | 'part' | 'failed'
  readonly resourceVersion?: string
  readonly count: number
}

/** Absent: the server did not say. */
export interface ClusterRights {
  readonly createAttachments?: boolean
  readonly deleteAttachments?: boolean
  readonly patchAttachments?: boolean
}

/** What shows whether the attach/detach controller lives. */
export interface ControllerEvidence {
  /** kube-system/kube-controller-manager; absent: there is none, or `leaseProblem` says why it is unknown. */
  readonly lease?: LeaseEvidence
  readonly leaseProblem?: string
  /** The lease, read again after everything else: a clock that is wrong makes a lease look stale, but does not keep it unchanged. */
  readonly leaseAtEnd?: LeaseEvidence
  /** Leases in kube-system by which a kube-controller-manager leads under another name. */
  readonly otherLeases?: readonly LeaseEvidence[]
  /** What a controller manager wrote last, the newest first, and when by the clock of the API server. */
  readonly writes?: readonly ControllerWrite[]
  /** What only a controller changes, and what changed between two looks of one run. */
  readonly changes?: readonly string[]
}

export interface ControllerWrite {
  /** By which it writes: the manager of managedFields. */
  readonly manager: string
  /** `nodes/a`, `pods/shop/web-0` */
  readonly object: string
  readonly time: string
}

export interface LeaseEvidence {
  /** namespace/name */
  readonly name: string
  readonly holder?: string
  /** By the clock of its holder. */
  readonly renewTime?: string
  /** When the lease was last written, by the clock of the API server: servers of some versions tell it of the first writing alone. */
  readonly writtenAt?: string
  readonly durationSeconds?: number
}

export interface ClusterNode {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly createdAt?: string
  readonly deletedAt?: string
  /** R702: the annotation's key counts, whatever its value. */
  readonly managed: boolean
  /** R710: the node's annotation volumes.kubernetes.io/keep-terminated-pod-volumes is "true". */
  readonly keepsTerminated: boolean
  /** Status of the condition Ready; absent: there is none. */
  readonly ready?: string
  readonly readySince?: string
  readonly heartbeat?: string
  /** renewTime of kube-node-lease/NAME, where it was readable: by the clock of the node. */
  readonly leaseRenewTime?: string
  /** When that lease was last written, by the clock of the API server, where that is clearly later: the node's clock is behind. */
  readonly leaseWrittenAt?: string
  /** R725: a taint with key node.kubernetes.io/out-of-service, any effect, any value. */
  readonly outOfService: boolean
  readonly kubeletVersion?: string
  readonly machineID?: string
  readonly systemUUID?: string
  readonly bootID?: string
  /** Absent: the status has no such field. */
  readonly volumesInUse?: readonly string[]
  readonly volumesAttached?: readonly string[]
  /** The CSINode; `absent` only if the list is whole. */
  readonly csi:
    | { readonly state: 'known'; readonly drivers: readonly NodeDriver[]; readonly migrated: readonly string[] }
    | { readonly state: 'absent' | 'unknown' }
}

export interface NodeDriver {
  readonly name: string
  readonly nodeID: string
  /** N67: allocatable.count; absent: no limit is known. */
  readonly limit?: number
}

export interface ClusterPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly createdAt?: string
  readonly deletedAt?: string
  /** spec.nodeName; absent: not scheduled. */
  readonly node?: string
  readonly phase?: string
  /** R221: the controller counts the pod as terminated. */
  readonly terminated: boolean
  /** Some container of the pod runs or ran. */
  readonly started: boolean
  /** Why the first container waits, e.g. ContainerCreating; or the reason of PodScheduled=False. */
  readonly waiting?: string
  /** Message of PodScheduled=False. */
  readonly unschedulable?: string
  readonly owner?: { readonly kind: string; readonly name: string }
  readonly volumes: readonly ClusterPodVolume[]
}

/** A claim, or an inline source that could be attached. Sources that never are (config maps, CSI inline …) are left out. */
export type ClusterPodVolume =
  | { readonly name: string; readonly claim: string; readonly ephemeral?: true }
  | { readonly name: string; readonly source: PodVolumeSource }

export interface ClusterClaim {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly deletedAt?: string
  readonly finalizers?: readonly string[]
  readonly volumeName?: string
  readonly phase?: string
  /** Annotation pv.kubernetes.io/bind-completed is there. */
  readonly wasBound: boolean
  /** UID of the controlling owner. */
  readonly ownerUid?: string
  readonly storageClass?: string
}

export interface ClusterVolume {
  readonly name: string
  readonly uid: string
  readonly deletedAt?: string
  readonly finalizers?: readonly string[]
  readonly phase?: string
  readonly claim?: { readonly namespace: string; readonly name: string; readonly uid?: string }
  readonly accessModes: readonly string[]
  readonly reclaimPolicy?: string
  /** After translation to CSI (R150); absent with `problem`. */
  readonly plugin?: string
  readonly uniqueName?: string
  readonly driver?: string
  readonly handle?: string
  readonly attachability: Attachability
  /** The in-tree plugin that the volume was translated from, e.g. kubernetes.io/aws-ebs. */
  readonly migratedFrom?: string
  /** Why no plugin can name the volume. */
  readonly problem?: string
}

export interface ClusterAttachment {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly createdAt?: string
  readonly deletedAt?: string
  readonly finalizers?: readonly string[]
  readonly attacher: string
  readonly node: string
  readonly persistentVolume?: string
  /** Handle in the inline source, if it has one. */
  readonly inline?: { readonly driver?: string; readonly handle?: string; readonly spec?: PersistentVolume['spec'] }
  /** Absent: status says nothing. */
  readonly attached?: boolean
  readonly attachError?: AttachmentError
  readonly detachError?: AttachmentError
  /** It has the annotation volctl.io/created-by: a sign of volctl, and not of a controller. */
  readonly byVolctl?: true
}

export interface AttachmentError {
  readonly message: string
  readonly time?: string
}

export interface ClusterDriver {
  readonly name: string
  /** Absent: the object does not say, which means true (C35). */
  readonly attachRequired?: boolean
}

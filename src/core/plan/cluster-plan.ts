/**
 * The plan of a cluster: the attach/detach controller's pass, run once over every node. The same manners as a node's plan:
 * data, drawn by views and carried out by apply. Fields are stable once released; new ones may come.
 */

import type { ProblemCode, Reason, WaitingCode } from '../codes/codes.ts'
import type { PersistentVolume } from '../model/objects.ts'
import type { Insecure } from '../model/snapshot.ts'
import type { Blocked, OperationKind, PodRef, Refusal, Severity, VolumeRef } from './plan.ts'

export const CLUSTER_OPERATION_KINDS = ['DetachVolume', 'AttachVolume'] as const satisfies readonly OperationKind[]

export type ClusterOperationKind = (typeof CLUSTER_OPERATION_KINDS)[number]

/** What each op does to its target, `volumeattachments/NAME`. */
export type ClusterStep =
  /** POST of the operation's `creates`; an object of that name that is already there is not changed. */
  | { readonly op: 'createVolumeAttachment'; readonly target: string }
  /** DELETE with uid and resourceVersion as preconditions. */
  | { readonly op: 'deleteVolumeAttachment'; readonly target: string }
  /** Takes the finalizers off an attachment whose driver is gone (--strip-finalizers). */
  | { readonly op: 'removeFinalizers'; readonly target: string; readonly finalizers: readonly string[] }

/** A volume without what only a node knows of it. */
export type ClusterVolumeRef = Pick<
  VolumeRef,
  | 'name'
  | 'uniqueName'
  | 'plugin'
  | 'driver'
  | 'handle'
  | 'claim'
  | 'persistentVolume'
  | 'accessModes'
  | 'attachedElsewhere'
  | 'attached'
  | 'inUse'
>

/** Why a volume may be detached that its node reports in use (R731), or whose node does not exist any more. */
export type DetachException = 'OutOfService' | 'NodeLost' | 'NodeGone'

/** A fact that an operation rests on. */
export interface Evidence {
  readonly what: string
  /** RFC 3339, in the API server's clock; absent: not known. */
  readonly since?: string
}

/** The spec of a new VolumeAttachment, exactly as the controller would write it (R745). */
export interface NewAttachment {
  readonly name: string
  readonly attacher: string
  readonly nodeName: string
  readonly source:
    | { readonly persistentVolumeName: string }
    /** Of a translated in-tree volume that stands in a pod itself. */
    | { readonly inlineVolumeSpec: PersistentVolume['spec'] }
}

export interface ClusterOperation {
  /** Stable for the same state. */
  readonly id: string
  readonly kind: ClusterOperationKind
  readonly reason: Reason
  readonly message: string
  readonly node: string
  /** AttachVolume: the pods that want the volume on the node. DetachVolume: pods that have ended, and the API still lists. */
  readonly pods: readonly PodRef[]
  readonly volume: ClusterVolumeRef
  /** Always empty: nothing happens on a node. */
  readonly paths: readonly string[]
  readonly steps: readonly ClusterStep[]
  /** Ids of the operations that must succeed first: a detach elsewhere, until its attachment is really gone. */
  readonly after: readonly string[]
  readonly blocked?: ClusterBlocked
  readonly rule: string
  /** What it rests on, and since when that is so. */
  readonly evidence: readonly Evidence[]
  /** What a person has to make sure of before it is carried out. */
  readonly makeSure?: string
  /** S31: what the controller would have done instead, where it differs. */
  readonly controllerWould?: string
  /** The object that is deleted, with the preconditions of that; or the name of the one that is created. */
  readonly attachment: { readonly name: string; readonly uid?: string; readonly resourceVersion?: string }
  readonly creates?: NewAttachment
  readonly basis: ClusterBasis
}

/** The other facts that an operation was decided on; an apply compares them with a fresh look (S26). */
export interface ClusterBasis {
  /** Absent: the Node object does not exist. */
  readonly node?: { readonly uid: string; readonly resourceVersion: string }
  /** The Node's status lists the volume in volumesInUse. */
  readonly inUse: boolean
  readonly exception?: DetachException
}

export type ClusterBlocked = Blocked

/** Something desired that somebody else must act on first. */
export interface ClusterWaiting {
  readonly kind: ClusterOperationKind
  readonly code: WaitingCode
  readonly message: string
  readonly hint?: string
  readonly node: string
  readonly pods: readonly PodRef[]
  readonly volume?: ClusterVolumeRef
  readonly attachment?: string
  readonly rule: string
  /** RFC 3339: when the wait ends at the latest, if known. */
  readonly until?: string
}

export interface ClusterProblem {
  readonly severity: Severity
  readonly code: ProblemCode
  readonly message: string
  /** The message with "…" in the place of every name: the same for problems that differ only in names. */
  readonly shape: string
  readonly hint?: string
  readonly about: ClusterAbout
}

export interface ClusterAbout {
  readonly nodes?: readonly string[]
  readonly pods?: readonly PodRef[]
  readonly volume?: ClusterVolumeRef
  /** namespace/name */
  readonly claim?: string
  readonly attachment?: string
  readonly driver?: string
  /** A list of the API, by its plural name. */
  readonly list?: string
}

/** Does somebody else run the attach/detach controller? */
export interface ControllerState {
  /** `mayLive` counts as alive. */
  readonly state: 'lives' | 'mayLive' | 'dead'
  /** Why, in words. */
  readonly note: string
  /** Signs of life, and what speaks against it. */
  readonly evidence: readonly Evidence[]
}

export interface ClusterPlanInputs {
  readonly api: {
    readonly server: string
    readonly user?: string
    readonly serverVersion?: string
    /** S34: why anyone on the network path could answer in the server's place. */
    readonly insecure?: Insecure
  }
  readonly controller: ControllerState
  readonly lists: Readonly<
    Record<
      string,
      { readonly state: 'whole' | 'part' | 'failed'; readonly count: number; readonly resourceVersion?: string }
    >
  >
  /** S29: how much of the cluster the plan is about. */
  readonly counts: {
    readonly nodes: number
    readonly pods: number
    readonly attachments: number
    /** Pairs of node and volume that the Nodes report in use. */
    readonly inUse: number
    /** Of these, the pairs that no pod explains. */
    readonly inUseWithoutPod: number
    /** Detaches that would be carried out, before filters. */
    readonly detaches: number
  }
  /** S31: safety rules that this plan could not judge. */
  readonly unjudged: readonly { readonly rule: string; readonly message: string }[]
}

export interface ClusterPlanSummary {
  readonly operations: Readonly<Partial<Record<ClusterOperationKind, number>>>
  readonly blocked: number
  readonly waiting: number
  readonly problems: number
  /** Operations left out by --only, --skip, --node, --pod, --namespace, --volume or --max, dependants included. */
  readonly filtered: number
  /** Operations that are not blocked, and whose predecessors are not blocked. */
  readonly ready: number
}

/** Something of a volume that a node's snapshot shows. */
export interface FoundOnNode {
  /** `open`: a loop device, or a mount that was detached lazily. */
  readonly how: 'staged' | 'mounted' | 'mapped' | 'open'
  /** Absolute. */
  readonly path: string
  /** false: a record of it is left, and nothing shows that it is gone. */
  readonly certain: boolean
  /** The mount does not answer: the error of a probe. */
  readonly dead?: string
}

/** One volume on one node, as everybody sees it who knows something of it. */
export interface FleetRow {
  readonly node: string
  readonly volume: ClusterVolumeRef
  /** Pods of the node that want it. */
  readonly wanted: readonly PodRef[]
  /** By the VolumeAttachment of this name, and whether its attacher has attached it; absent: there is none. */
  readonly attachment?: string
  readonly attached: boolean
  /** volumesAttached of the Node lists it. */
  readonly confirmed: boolean
  /** volumesInUse of the Node lists it. */
  readonly inUse: boolean
  /** Empty: the snapshot shows nothing; absent: the node has no snapshot. */
  readonly found?: readonly FoundOnNode[]
  /** `free`: nothing of it is on the node, and the look was whole, fresh and of this boot. */
  readonly says: 'there' | 'mayBeThere' | 'free' | 'unknown'
}

/** What node snapshots (--nodes) add to a plan. */
export interface PlanFleet {
  /** Nodes of the cluster that have a snapshot which shows what is on them. */
  readonly nodes: number
  /** Nodes of the cluster without any: judged by the API alone. */
  readonly without: number
  /** Snapshots that prove nothing, or are of something else. */
  readonly unusable: readonly { readonly source: string; readonly node?: string; readonly why: string }[]
  /** Volumes on nodes where not everybody agrees, or that an operation is about. */
  readonly volumes: readonly FleetRow[]
}

export interface ClusterPlan {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Plan'
  readonly scope: 'cluster'
  /** uid: of the namespace kube-system; the same for every address of the cluster. */
  readonly cluster: { readonly server: string; readonly uid?: string }
  readonly createdAt: string
  readonly volctlVersion: string
  readonly inputs: ClusterPlanInputs
  /** In the order in which they would run. */
  readonly operations: readonly ClusterOperation[]
  readonly waiting: readonly ClusterWaiting[]
  readonly problems: readonly ClusterProblem[]
  readonly summary: ClusterPlanSummary
  /** false: something that may matter could not be known; `problems` says what. */
  readonly complete: boolean
  /** Set when a safety rule refuses the plan as a whole (exit status 4); its operations are blocked. */
  readonly refused?: Refusal
  /** Absent: no snapshots of nodes were given. */
  readonly fleet?: PlanFleet
  /** Of a plan that takes finalizers off: what a person repeats with --confirm, once they have read it. */
  readonly digest?: string
}

export interface ClusterOptions {
  /** Milliseconds: how long something must have been unchanged before volctl acts on it. */
  readonly settleMs: number
  /** --node-gone: the person has made sure that these machines do not run. */
  readonly nodeGone?: readonly string[]
  /** --strip-finalizers: of attachments whose driver is shown to be gone. */
  readonly stripFinalizers?: boolean
  /** --accept-outage: the number of detaches (S29). */
  readonly acceptOutage?: number
  /** S34: act on the answers of a server that could not be verified. */
  readonly acceptInsecureApi?: boolean
  readonly only?: readonly OperationKind[]
  readonly skip?: readonly OperationKind[]
  readonly nodes?: readonly string[]
  /** namespace/name, a UID or its unique beginning. */
  readonly pods?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly volumes?: readonly string[]
  readonly max?: number
  readonly volctlVersion: string
}

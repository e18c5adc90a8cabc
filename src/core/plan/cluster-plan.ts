/**
 * The plan of a cluster: the attach/detach controller's pass, run once over every node. The same manners as a node's plan:
 * data, drawn by views and carried out by apply. Fields are stable once released; new ones may come.
 *
 * Its shape is that of the file that `plan --cluster --out` saves.
 */

import type { PersistentVolume } from '../kube/api/objects.ts'
import {
  anything,
  flag,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  text,
} from '../trust/shape.ts'
import { type CauseSubject, type PodRef, pod, type Subject } from '../volumes/finding.ts'
import { commonFields, type Operation, volumeInApi } from './operation-shape.ts'
import {
  EITHER_PLAN,
  type Plan,
  type PlanInputs,
  type PlanSummary,
  type Problem,
  refused,
  type Waiting,
} from './plan.ts'

/** A volume without what only a node knows of it. */
export interface ClusterVolumeRef extends ShapeOf<typeof volumeInApi> {}

const step = object({
  /**
   * A POST of the operation's `creates`, which changes no object of that name that is already there; or a DELETE with uid and
   * resourceVersion as preconditions.
   */
  op: oneOf('createVolumeAttachment', 'deleteVolumeAttachment'),
  /** `volumeattachments/NAME` */
  target: text,
})

export interface ClusterStep extends ShapeOf<typeof step> {}

const source = object({ persistentVolumeName: optional(text), inlineVolumeSpec: optional(anything) }) as Shape<
  | { readonly persistentVolumeName: string }
  /** Of a translated in-tree volume that stands in a pod itself. */
  | { readonly inlineVolumeSpec: PersistentVolume['spec'] }
>

const newAttachment = object({ name: text, attacher: text, nodeName: text, source })

/** The spec of a new VolumeAttachment, exactly as the controller would write it (R745). */
export interface NewAttachment extends ShapeOf<typeof newAttachment> {}

/** Why a volume may be detached that its node reports in use (R731), or whose node does not exist any more. */
export type DetachException = ShapeOf<typeof exception>

const exception = oneOf('OutOfService', 'NodeLost', 'NodeGone')

/** The facts that an operation was decided on; an apply compares them with a fresh look (S26). */
const basis = object({
  /** Absent: the Node object does not exist. */
  node: optional(object({ uid: text, resourceVersion: text })),
  /** The Node's status lists the volume in volumesInUse. */
  inUse: flag,
  exception: optional(exception),
})

const operation = object({
  ...commonFields,
  kind: oneOf('DetachVolume', 'AttachVolume'),
  node: text,
  /** AttachVolume: the pods that want the volume. DetachVolume: pods that have ended, and the API still lists. */
  pods: list(pod),
  volume: volumeInApi,
  steps: list(step),
  /** What a person has to make sure of first. */
  makeSure: optional(text),
  /** S31: what the controller would have done instead, where it differs. */
  controllerWould: optional(text),
  /** The object that is deleted, with the preconditions of that; or the name of the one that is created. */
  attachment: object({ name: text, uid: optional(text), resourceVersion: optional(text) }),
  creates: optional(newAttachment),
  basis,
})

/** An operation of a cluster: nothing happens on a node, so that `paths` is empty. */
export interface ClusterOperation extends ShapeOf<typeof operation> {}

/** Of a plan of either scope. */
export type AnyOperation = Operation | ClusterOperation

/** Something desired that somebody else must act on first. */
export interface ClusterWaiting extends Omit<Waiting, 'pod' | 'volume'> {
  readonly node: string
  readonly pods: readonly PodRef[]
  readonly volume?: ClusterVolumeRef
  readonly attachment?: string
}

export interface ClusterAbout extends Pick<CauseSubject, 'nodes' | 'claim' | 'attachment' | 'driver' | 'list'> {
  readonly pods?: readonly PodRef[]
  readonly volume?: ClusterVolumeRef
}

export interface ClusterProblem extends Omit<Problem, 'about'> {
  readonly about: ClusterAbout
}

/** How a volume on a node stands, or what a pod, a claim or a PersistentVolume has of one. */
export interface ClusterStand {
  /** Where it is, who wants it, and what the plan makes of that. */
  readonly message: string
  readonly about: ClusterAbout
  readonly subject: Subject
}

/** Does somebody else run the attach/detach controller? mayLive counts as alive. */
export interface ControllerState {
  readonly state: 'lives' | 'mayLive' | 'dead'
  /** Why, in words. */
  readonly note: string
}

interface ClusterPlanInputs {
  readonly api: Pick<PlanInputs['api'], 'server' | 'user' | 'insecure'>
  readonly controller: ControllerState
  readonly lists: Readonly<
    Record<string, { readonly state: 'whole' | 'failed'; readonly count: number; readonly resourceVersion?: string }>
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
  /** Safety rules that this plan could not judge. */
  readonly unjudged: readonly { readonly rule: string; readonly message: string }[]
}

/** Which cluster. */
const cluster = object({
  server: text,
  /** Of the namespace kube-system: the same for every address of the cluster. */
  uid: optional(text),
})

/** Fields of a plan that a review needs. */
const REVIEWED = {
  scope: oneOf('cluster'),
  cluster,
  /** RFC 3339: when the reading of the cluster began. */
  createdAt: text,
  volctlVersion: text,
  /** In the order in which they would run. */
  operations: list(operation),
  refused: optional(refused),
}

export interface ClusterPlan extends ObjectOf<typeof REVIEWED> {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Plan'
  readonly inputs: ClusterPlanInputs
  readonly waiting: readonly ClusterWaiting[]
  readonly problems: readonly ClusterProblem[]
  /** How stands what --pod, --volume and --node name, also where nothing is to be done; absent: nothing is named. */
  readonly stands?: readonly ClusterStand[]
  readonly summary: PlanSummary
  /** false: something that may matter could not be known; `problems` says what. */
  readonly complete: boolean
}

/** Of either scope. */
export type AnyPlan = Plan | ClusterPlan
export type AnyWaiting = Waiting | ClusterWaiting

const clusterOptionsShape = object({
  /** --node-gone: the person has made sure that these machines do not run. */
  nodeGone: optional(list(text)),
  nodes: optional(list(text)),
  ...EITHER_PLAN,
})

export interface ClusterOptions extends ShapeOf<typeof clusterOptionsShape> {}

/** A cluster's saved plan as `apply --cluster` takes it. The file's apiVersion and kind have been checked before. */
export const savedClusterPlan = object({ ...REVIEWED, options: clusterOptionsShape })

export interface SavedClusterPlan extends ShapeOf<typeof savedClusterPlan> {}

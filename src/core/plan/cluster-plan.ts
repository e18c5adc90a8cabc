/**
 * The plan of a cluster: the attach/detach controller's pass, run once over every node. The same manners as a node's plan:
 * data, drawn by views and carried out by apply. Fields are stable once released; new ones may come.
 *
 * Its shape is that of its schema, and of the file that `plan --cluster --out` saves.
 */

import { codesIn } from '../codes/codes.ts'
import { about, named } from '../json/json-schema.ts'
import {
  anything,
  flag,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  record,
  recordOf,
  type Shape,
  type ShapeOf,
  text,
} from '../json/shape.ts'
import type { PersistentVolume } from '../model/objects.ts'
import { insecure } from '../model/snapshot.ts'
import { causes } from './cause.ts'
import { kind as anyKind, blocked, causeKey, codeOf, count, pod, said } from './operation-shape.ts'
import type { OperationKind } from './plan.ts'
import { CHOICE, complete, refused, unjudged, until } from './plan-shape.ts'
import { clusterSubject } from './subject-shape.ts'

export const CLUSTER_OPERATION_KINDS = ['DetachVolume', 'AttachVolume'] as const satisfies readonly OperationKind[]

export type ClusterOperationKind = (typeof CLUSTER_OPERATION_KINDS)[number]

const kind = named('kind', oneOf(...CLUSTER_OPERATION_KINDS))
const time = about('RFC 3339, in the clock of the API server.', text)

const volume = object({
  name: text,
  uniqueName: optional(text),
  plugin: about('e.g. kubernetes.io/csi', text),
  driver: optional(text),
  handle: optional(text),
  claim: optional(about('namespace/name', text)),
  persistentVolume: optional(text),
  accessModes: optional(list(text)),
  attachedElsewhere: optional(about('Other nodes with an attachment of this volume.', list(text))),
  attached: optional(flag),
  inUse: optional(flag),
})

/** A volume without what only a node knows of it. */
export interface ClusterVolumeRef extends ShapeOf<typeof volume> {}

export const clusterVolume = named<ClusterVolumeRef>('volume', volume)

/** What each op does to its target, `volumeattachments/NAME`. */
export type ClusterStep =
  /** POST of the operation's `creates`; an object of that name that is already there is not changed. */
  | { readonly op: 'createVolumeAttachment'; readonly target: string }
  /** DELETE with uid and resourceVersion as preconditions. */
  | { readonly op: 'deleteVolumeAttachment'; readonly target: string }
  /** Takes the finalizers off an attachment whose driver is gone (--strip-finalizers). */
  | { readonly op: 'removeFinalizers'; readonly target: string; readonly finalizers: readonly string[] }

const step = named(
  'step',
  object({
    op: oneOf('createVolumeAttachment', 'deleteVolumeAttachment', 'removeFinalizers'),
    target: about('volumeattachments/NAME', text),
    finalizers: optional(about('Of removeFinalizers: those that are taken off.', list(text))),
  }) as Shape<ClusterStep>,
)

const fact = object({
  what: text,
  /** Absent: not known. */
  since: optional(time),
})

/** A fact that an operation rests on. */
export interface Evidence extends ShapeOf<typeof fact> {}

const evidence = list<Evidence>(named('evidence', fact))

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

const basis = object({
  /** Absent: the Node object does not exist. */
  node: optional(object({ uid: text, resourceVersion: text })),
  /** The Node's status lists the volume in volumesInUse. */
  inUse: flag,
  exception: optional(exception),
})

/** The other facts that an operation was decided on; an apply compares them with a fresh look (S26). */
export interface ClusterBasis extends ShapeOf<typeof basis> {}

const operation = object({
  id: about('Stable for the same state.', text),
  kind,
  reason: codeOf(codesIn('reason')),
  message: text,
  node: text,
  pods: about(
    'AttachVolume: the pods that want the volume. DetachVolume: pods that have ended, and the API still lists.',
    list(pod),
  ),
  volume: clusterVolume,
  /** Absent in a plan of an earlier volctl. */
  subject: optional(clusterSubject),
  paths: about('Always empty: nothing happens on a node.', list(text)),
  steps: list(step),
  /** A detach elsewhere, until its attachment is really gone. */
  after: about('Ids of the operations that must succeed first.', list(text)),
  blocked,
  rule: text,
  evidence: about('What it rests on, and since when that is so.', evidence),
  makeSure: optional(about('What a person has to make sure of first.', text)),
  /** S31 */
  controllerWould: optional(about('What the controller would have done instead, where it differs.', text)),
  attachment: about(
    'The object that is deleted, with the preconditions of that; or the name of the one that is created.',
    object({ name: text, uid: optional(text), resourceVersion: optional(text) }),
  ),
  creates: optional<NewAttachment>(newAttachment),
  basis: about<ClusterBasis>('The other facts that the operation was decided on.', basis),
})

export interface ClusterOperation extends ShapeOf<typeof operation> {}

export type ClusterBlocked = NonNullable<ClusterOperation['blocked']>

const wait = object({
  kind,
  ...said('waiting'),
  node: text,
  pods: list(pod),
  volume: optional(clusterVolume),
  attachment: optional(text),
  subject: optional(clusterSubject),
  rule: text,
  until,
  cause: causeKey,
})

/** Something desired that somebody else must act on first. */
export interface ClusterWaiting extends ShapeOf<typeof wait> {}

const aboutObjects = object({
  nodes: optional(list(text)),
  pods: optional(list(pod)),
  volume: optional(clusterVolume),
  claim: optional(about('namespace/name', text)),
  attachment: optional(text),
  driver: optional(text),
  list: optional(about('A list of the API, by its plural name.', text)),
})

export interface ClusterAbout extends ShapeOf<typeof aboutObjects> {}

const problem = object({
  severity: oneOf('error', 'warning', 'info'),
  ...said('problem'),
  /** The same for problems that differ only in names. */
  shape: about('The message with "…" in the place of every name.', text),
  about: aboutObjects,
  subject: optional(clusterSubject),
  cause: causeKey,
})

export interface ClusterProblem extends ShapeOf<typeof problem> {}

const stand = object({
  message: about('Where it is, who wants it, and what the plan makes of that.', text),
  about: aboutObjects,
  subject: clusterSubject,
})

/** How a volume on a node stands, or what a pod, a claim or a PersistentVolume has of one. */
export interface ClusterStand extends ShapeOf<typeof stand> {}

const state = object({
  state: oneOf('lives', 'mayLive', 'dead'),
  /** Why, in words. */
  note: text,
  /** Signs of life, and what speaks against it. */
  evidence,
})

/** Does somebody else run the attach/detach controller? */
export interface ControllerState extends ShapeOf<typeof state> {}

export const controller = about<ControllerState>(
  'Does the attach/detach controller live? mayLive counts as alive.',
  state,
)

const inputs = object({
  api: object({
    server: text,
    user: optional(text),
    serverVersion: optional(text),
    /** S34 */
    insecure: optional(about("Why anyone on the network path could answer in the server's place.", insecure)),
  }),
  controller,
  lists: record(object({ state: oneOf('whole', 'part', 'failed'), count, resourceVersion: optional(text) })),
  /** S29: how much of the cluster the plan is about. */
  counts: object({
    nodes: count,
    pods: count,
    attachments: count,
    /** Pairs of node and volume that the Nodes report in use. */
    inUse: count,
    /** Of these, the pairs that no pod explains. */
    inUseWithoutPod: count,
    /** Detaches that would be carried out, before filters. */
    detaches: count,
  }),
  unjudged,
})

export interface ClusterPlanInputs extends ShapeOf<typeof inputs> {}

/** Which cluster. */
export const cluster = object({
  server: text,
  uid: optional(about('Of the namespace kube-system: the same for every address of the cluster.', text)),
})

const summary = object({
  operations: recordOf(kind, count),
  blocked: count,
  waiting: count,
  problems: count,
  filtered: about('Left out by filters: operations, dependants included, waits and problems.', count),
  /** Operations that are not blocked, and whose predecessors are not blocked. */
  ready: count,
  causes,
})

export interface ClusterPlanSummary extends ShapeOf<typeof summary> {}

/** Fields of a plan that a review needs. */
const REVIEWED = {
  scope: oneOf('cluster'),
  cluster,
  createdAt: about('RFC 3339: when the reading of the cluster began.', text),
  volctlVersion: text,
  operations: about('In the order in which they would run.', list<ClusterOperation>(named('operation', operation))),
  refused: optional(refused),
}

export const WHOLE_CLUSTER_PLAN = {
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Plan'),
  ...REVIEWED,
  inputs: named<ClusterPlanInputs>('inputs', inputs),
  digest: optional(
    about('Of a plan that takes finalizers off: what --confirm repeats, once a person has read the plan.', text),
  ),
  waiting: list<ClusterWaiting>(named('waiting', wait)),
  problems: list<ClusterProblem>(named('problem', problem)),
  stands: optional(
    about<readonly ClusterStand[]>(
      'How stands what --pod, --volume and --node name, also where nothing is to be done; absent: nothing is named.',
      list(named('stand', stand)),
    ),
  ),
  summary: named<ClusterPlanSummary>('summary', summary),
  complete,
}

export interface ClusterPlan extends ObjectOf<typeof WHOLE_CLUSTER_PLAN> {}

export const clusterOptionsShape = object({
  /** Milliseconds: how long something must have been unchanged before volctl acts on it. */
  settleMs: count,
  /** --node-gone: the person has made sure that these machines do not run. */
  nodeGone: optional(list(text)),
  /** --strip-finalizers: of attachments whose driver is shown to be gone. */
  stripFinalizers: optional(flag),
  /** --accept-outage: the number of detaches (S29). */
  acceptOutage: optional(count),
  /** S34: act on the answers of a server that could not be verified. */
  acceptInsecureApi: optional(flag),
  only: optional(list(anyKind)),
  skip: optional(list(anyKind)),
  nodes: optional(list(text)),
  ...CHOICE,
})

export interface ClusterOptions extends ShapeOf<typeof clusterOptionsShape> {}

/** The file's apiVersion and kind have been checked before. */
export const savedClusterPlan = object({ ...REVIEWED, options: clusterOptionsShape })

/** A cluster's saved plan as `apply --cluster` takes it. */
export interface SavedClusterPlan extends ShapeOf<typeof savedClusterPlan> {}

/** The shape of a cluster's plan: of its schema, and of the file that `plan --cluster --out` saves. */

import { codesIn } from '../codes/codes.ts'
import { about, named } from '../json/json-schema.ts'
import { anything, flag, list, object, oneOf, optional, record, recordOf, type Shape, text } from '../json/shape.ts'
import type {
  ClusterAbout,
  ClusterBasis,
  ClusterOperation,
  ClusterOptions,
  ClusterPlan,
  ClusterPlanInputs,
  ClusterPlanSummary,
  ClusterProblem,
  ClusterStep,
  ClusterVolumeRef,
  ControllerState,
  Evidence,
  FleetRow,
  FoundOnNode,
  NewAttachment,
  PlanFleet,
} from '../plan/cluster-plan.ts'
import { CLUSTER_OPERATION_KINDS, type ClusterWaiting } from '../plan/cluster-plan.ts'
import { kind as anyKind, blocked, codeOf, count, pod, said } from './operation-shape.ts'
import { CHOICE, complete, insecure, refused, unjudged, until } from './plan-shape.ts'

const kind = named('kind', oneOf(...CLUSTER_OPERATION_KINDS))
const time = about('RFC 3339, in the clock of the API server.', text)

/** A volume of a cluster. */
export const clusterVolume = named(
  'volume',
  object<ClusterVolumeRef>({
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
  }),
)

/** `finalizers` of a step removeFinalizers alone. */
const step = named(
  'step',
  object<{ op: ClusterStep['op']; target: string; finalizers?: readonly string[] }>({
    op: oneOf('createVolumeAttachment', 'deleteVolumeAttachment', 'removeFinalizers'),
    target: about('volumeattachments/NAME', text),
    finalizers: optional(about('Of removeFinalizers: those that are taken off.', list(text))),
  }) as Shape<ClusterStep>,
)

const evidence = list(named('evidence', object<Evidence>({ what: text, since: optional(time) })))

const source = object<{ persistentVolumeName?: string; inlineVolumeSpec?: unknown }>({
  persistentVolumeName: optional(text),
  inlineVolumeSpec: optional(anything),
}) as Shape<NewAttachment['source']>

const operation = named(
  'operation',
  object<ClusterOperation>({
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
    paths: about('Always empty: nothing happens on a node.', list(text)),
    steps: list(step),
    after: about('Ids of the operations that must succeed first.', list(text)),
    blocked,
    rule: text,
    evidence: about('What it rests on, and since when that is so.', evidence),
    makeSure: optional(about('What a person has to make sure of first.', text)),
    controllerWould: optional(about('What the controller would have done instead, where it differs.', text)),
    attachment: about(
      'The object that is deleted, with the preconditions of that; or the name of the one that is created.',
      object<ClusterOperation['attachment']>({ name: text, uid: optional(text), resourceVersion: optional(text) }),
    ),
    creates: optional(object<NewAttachment>({ name: text, attacher: text, nodeName: text, source })),
    basis: about(
      'The other facts that the operation was decided on.',
      object<ClusterBasis>({
        node: optional(object<NonNullable<ClusterBasis['node']>>({ uid: text, resourceVersion: text })),
        inUse: flag,
        exception: optional(oneOf('OutOfService', 'NodeLost', 'NodeGone')),
      }),
    ),
  }),
)

const waiting = list(
  named(
    'waiting',
    object<ClusterWaiting>({
      kind,
      ...said('waiting'),
      node: text,
      pods: list(pod),
      volume: optional(clusterVolume),
      attachment: optional(text),
      rule: text,
      until,
    }),
  ),
)

const aboutObjects = object<ClusterAbout>({
  nodes: optional(list(text)),
  pods: optional(list(pod)),
  volume: optional(clusterVolume),
  claim: optional(about('namespace/name', text)),
  attachment: optional(text),
  driver: optional(text),
  list: optional(about('A list of the API, by its plural name.', text)),
})

const problems = list(
  named(
    'problem',
    object<ClusterProblem>({
      severity: oneOf('error', 'warning', 'info'),
      ...said('problem'),
      shape: about('The message with "…" in the place of every name.', text),
      about: aboutObjects,
    }),
  ),
)

export const controller = about(
  'Does the attach/detach controller live? mayLive counts as alive.',
  object<ControllerState>({ state: oneOf('lives', 'mayLive', 'dead'), note: text, evidence }),
)

const inputs = object<ClusterPlanInputs>({
  api: object<ClusterPlanInputs['api']>({
    server: text,
    user: optional(text),
    serverVersion: optional(text),
    insecure: optional(about("Why anyone on the network path could answer in the server's place.", insecure)),
  }),
  controller,
  lists: record(
    object<ClusterPlanInputs['lists'][string]>({
      state: oneOf('whole', 'part', 'failed'),
      count,
      resourceVersion: optional(text),
    }),
  ),
  counts: object<ClusterPlanInputs['counts']>({
    nodes: count,
    pods: count,
    attachments: count,
    inUse: count,
    inUseWithoutPod: count,
    detaches: count,
  }),
  unjudged,
})

/** Which cluster. */
export const cluster = object<ClusterPlan['cluster']>({
  server: text,
  uid: optional(about('Of the namespace kube-system: the same for every address of the cluster.', text)),
})

const summary = object<ClusterPlanSummary>({
  operations: recordOf(kind, count),
  blocked: count,
  waiting: count,
  problems: count,
  filtered: about('Left out by filters or --max, dependants included.', count),
  ready: count,
})

export const foundOnNode = object<FoundOnNode>({
  how: about('open: a loop device, or a mount that was detached lazily.', oneOf('staged', 'mounted', 'mapped', 'open')),
  path: text,
  certain: about('false: a record of it is left, and nothing shows that it is gone.', flag),
  dead: optional(about('The mount does not answer: the error of a probe.', text)),
})

export const fleetSays = oneOf<FleetRow['says']>('there', 'mayBeThere', 'free', 'unknown')

const fleetRow = object<FleetRow>({
  node: text,
  volume: clusterVolume,
  wanted: about('Pods of the node that want it.', list(pod)),
  attachment: optional(text),
  attached: flag,
  confirmed: about('volumesAttached of the Node lists it.', flag),
  inUse: about('volumesInUse of the Node lists it.', flag),
  found: optional(about('Absent: the node has no snapshot.', list(named('found', foundOnNode)))),
  says: fleetSays,
})

/** Which snapshots there are. */
export const FLEET = {
  nodes: about('Nodes of the cluster that have a snapshot which shows what is on them.', count),
  without: about('Nodes of the cluster without any: judged by the API alone.', count),
  unusable: list(object<PlanFleet['unusable'][number]>({ source: text, node: optional(text), why: text })),
} as const

const fleet = object<PlanFleet>({
  ...FLEET,
  volumes: about(
    'Volumes on nodes where not everybody agrees, or that an operation is about.',
    list(named('fleetVolume', fleetRow)),
  ),
})

/** Fields of a plan that a review needs. */
const REVIEWED = {
  scope: oneOf<'cluster'>('cluster'),
  cluster,
  createdAt: about('RFC 3339: when the reading of the cluster began.', text),
  volctlVersion: text,
  operations: about('In the order in which they would run.', list(operation)),
  refused: optional(refused),
} as const

export const WHOLE_CLUSTER_PLAN = {
  apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
  kind: oneOf<'Plan'>('Plan'),
  ...REVIEWED,
  inputs: named('inputs', inputs),
  fleet: optional(about('What node snapshots (--nodes) add.', named('fleet', fleet))),
  digest: optional(
    about('Of a plan that takes finalizers off: what --confirm repeats, once a person has read the plan.', text),
  ),
  waiting,
  problems,
  summary: named('summary', summary),
  complete,
} as const

export const wholeClusterPlan = about(
  "What the attach/detach controller's pass would do, run once: `volctl plan --cluster -o json`. Fields may be added in any version; none is removed or changes its meaning without an entry in the change log.",
  object<ClusterPlan>(WHOLE_CLUSTER_PLAN),
)

export const clusterOptionsShape = object<ClusterOptions>({
  settleMs: count,
  nodeGone: optional(list(text)),
  stripFinalizers: optional(flag),
  acceptOutage: optional(count),
  acceptInsecureApi: optional(flag),
  only: optional(list(anyKind)),
  skip: optional(list(anyKind)),
  nodes: optional(list(text)),
  ...CHOICE,
})

/** A cluster's saved plan as `apply --cluster` takes it. */
export interface SavedClusterPlan
  extends Pick<ClusterPlan, 'scope' | 'cluster' | 'createdAt' | 'volctlVersion' | 'operations' | 'refused'> {
  readonly options: ClusterOptions
}

/** The file's apiVersion and kind have been checked before. */
export const savedClusterPlan = object<SavedClusterPlan>({ ...REVIEWED, options: clusterOptionsShape })

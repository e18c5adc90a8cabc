/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)"). Fields are stable once released; new ones may
 * come. Its shape is what schema/plan.schema.json is made from, and the parts of a saved plan that `apply FILE` reads.
 */
import { insecure } from '../kube/api/resources.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import { flag, keptRecord, list, type ObjectOf, object, oneOf, optional, type ShapeOf, text } from '../trust/shape.ts'
import { causeKey, count, finding, path, pod, subject, until } from '../volumes/finding.ts'
import { causes } from './cause.ts'
import { kind, operation, severity, volume } from './operation-shape.ts'

export { OPERATION_GROUPS, OPERATION_KINDS, type OperationKind } from './kinds.ts'
export type {
  Basis,
  FileIdentity,
  Operation,
  Severity,
  VolumeRef,
} from './operation-shape.ts'

export const DEFAULT_SETTLE_MS = 120_000

/** Options of either plan. */
export const EITHER_PLAN = {
  /** Milliseconds: how long something must have been unchanged before volctl acts on it (S11). */
  settleMs: count,
  /** --accept-outage: how many orphaned pods of a node, or detaches of a cluster (S29). */
  acceptOutage: optional(count),
  /** S34: act on the answers of a server that could not be verified. */
  acceptInsecureApi: optional(flag),
  only: optional(list(kind)),
  skip: optional(list(kind)),
  /** UID or its unique beginning, namespace/name, name; a plan's context has UIDs in their place. */
  pods: optional(list(text)),
  namespaces: optional(list(text)),
  volumes: optional(list(text)),
  volctlVersion: text,
}

const options = object({
  orphans: flag,
  remount: flag,
  expand: flag,
  driverGone: list(text),
  /** Volume (spec name) to handle (S17). */
  handles: keptRecord(text),
  /** Volume to its device file, or to "none" if it has none on this node (S21). */
  devices: optional(keptRecord(text)),
  /** S1: ids of the Node object that are not this host's. */
  acceptIdentity: optional(list(text)),
  forceUnmount: list(path),
  lazy: list(path),
  ...EITHER_PLAN,
})

export interface PlanOptions extends ShapeOf<typeof options> {}

const identityField = oneOf('machineID', 'systemUUID', 'bootID')

export type IdentityField = ShapeOf<typeof identityField>

const contradiction = object({
  field: identityField,
  node: text,
  host: text,
  accepted: maybe('By --accept-identity.', flag),
})

/** An id of the Node object that differs from this host's (S1). */
export interface IdentityContradiction extends ShapeOf<typeof contradiction> {}

const machine = about(
  'Whether the Node object describes this host.',
  object({
    /** An id agrees, and what contradicts was accepted. */
    matches: flag,
    contradictions: maybe("Ids of the Node object that are not this host's.", list(contradiction)),
    machineID: optional(text),
    systemUUID: optional(text),
    bootID: optional(text),
  }),
)

export const refused = object({ rule: text, ...finding('refusal') })

/** Why the pass as a whole must not be carried out. */
export interface Refusal extends ShapeOf<typeof refused> {}

const unjudged = about('Safety rules that this plan could not judge.', list(object({ rule: text, message: text })))
export const complete = about('false: something that may matter could not be known; `problems` says what.', flag)

/** Fields of a plan that a review needs. */
const REVIEWED = {
  scope: oneOf('node', 'cluster'),
  node: text,
  rootDir: path,
  bootID: optional(text),
  createdAt: about('RFC 3339: when the node was read.', text),
  volctlVersion: text,
  operations: about('In the order in which they would run.', list(operation)),
  refused: maybe(
    'Set when a safety rule refuses the plan as a whole (exit status 4); its operations are blocked.',
    refused,
  ),
}

const reviewed = { ...REVIEWED, inputs: object({ machine }) }

/** What apply needs from the plan that was reviewed: only the choice of operations. */
export interface ReviewedPlan extends ObjectOf<typeof reviewed> {}

/** The file's apiVersion and kind have been checked before. */
export const savedPlan = object({ ...reviewed, options })

/** A saved plan as `apply` takes it: what to choose from a fresh plan, and the options to make that plan with. */
export interface SavedPlan extends ShapeOf<typeof savedPlan> {}

export const kubeletInput = object({
  state: oneOf('running', 'mayReturn', 'stopped', 'unknown'),
  note: optional(text),
  unit: maybe('The systemd unit that runs the kubelet, or would start it.', text),
  unstoppable: maybe(
    'Why --stop-kubelet would be refused, and what to do then.',
    object({ why: text, remedy: text, command: list(text) }),
  ),
})

const inputs = object({
  api: object({
    server: text,
    user: optional(text),
    resourceVersion: optional(text),
    insecure: maybe("Why anyone on the network path could answer in the server's place.", insecure),
    secondLookInsecure: maybe("The same for the second look, with the kubelet's own credential.", insecure),
  }),
  kubelet: kubeletInput,
  actual: object({ mounts: count, podDirs: count }),
  runtime: object({ source: text, pods: count }),
  machine,
  pods: about("How many of this node's pods are orphaned.", object({ listed: count, onDisk: count, gone: count })),
  unjudged,
})

export interface PlanInputs extends ShapeOf<typeof inputs> {}

const waitingEntry = about(
  'Desired, but somebody else has to act first.',
  object({
    kind,
    ...finding('waiting'),
    pod: optional(pod),
    volume: optional(volume),
    subject: optional(subject),
    rule: text,
    until,
    cause: causeKey,
  }),
)

/** Something desired that somebody else must act on first. */
export interface Waiting extends ShapeOf<typeof waitingEntry> {}

const problemEntry = about(
  'Something is wrong, and no operation follows.',
  object({
    severity,
    ...finding('problem'),
    about: object({
      pod: optional(text),
      podRef: maybe('The pod with its name, if that is known.', pod),
      volume: optional(text),
      path: optional(text),
      driver: maybe('A CSI driver: it concerns all of its volumes.', text),
    }),
    subject: optional(subject),
    cause: causeKey,
  }),
)

export interface Problem extends ShapeOf<typeof problemEntry> {}

export const waiting = list(named('waiting', waitingEntry))
export const problems = list(named('problem', problemEntry))

/** Flags that a person gives for work that is done only on request. */
export type LiftingFlag = '--orphans' | '--remount' | '--expand'

export const nextStep = object({
  /** "end that use" */
  first: maybe('What a person does before it, in words.', text),
  command: text,
  why: text,
  node: maybe('The node to type it on, if the plan was made from a snapshot.', text),
})

/** A command line, and its purpose. */
export interface NextStep extends ShapeOf<typeof nextStep> {}

const summary = object({
  operations: keptRecord(count, kind),
  blocked: count,
  waiting: count,
  problems: count,
  filtered: about(
    'Left out by --only, --skip, --pod or --volume: operations, dependants included, waits and problems.',
    count,
  ),
  ready: maybe('Operations that are not blocked, and whose predecessors are not blocked.', count),
  causes,
  next: maybe('What to type on this node, in this order, and why.', list(named('nextStep', nextStep))),
})

export interface PlanSummary extends ShapeOf<typeof summary> {}

export const WHOLE_PLAN = {
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Plan'),
  ...REVIEWED,
  inputs: named('inputs', inputs),
  waiting,
  problems,
  summary: named('summary', summary),
  complete,
} as const

export interface Plan extends ObjectOf<typeof WHOLE_PLAN> {}

export const wholePlan = about(
  'What one reconcile pass would do: `volctl plan -o json`. Fields may be added in any version; none is removed or changes its meaning without an entry in the change log.',
  object(WHOLE_PLAN),
)

/** The shape of a whole plan, from which schema/plan.schema.json is made. */

import { insecure } from '../facts/actual/snapshot.ts'
import { about, named } from '../trust/json-schema.ts'
import { list, type ObjectOf, object, oneOf, optional, recordOf, type ShapeOf, text } from '../trust/shape.ts'
import { causes } from './cause.ts'
import { causeKey, count, kind, pod, said, severity, volume } from './operation-shape.ts'
import { complete, machine, REVIEWED, unjudged, until } from './plan-shape.ts'
import { subject } from './subject.ts'

export const kubeletInput = object({
  state: oneOf('running', 'mayReturn', 'stopped', 'unknown'),
  note: optional(text),
  unit: optional(about('The systemd unit that runs the kubelet, or would start it.', text)),
  pid: optional(about('The process of the kubelet that runs.', count)),
  unstoppable: optional(
    about(
      'Why --stop-kubelet would be refused, and what to do then.',
      object({ why: text, remedy: text, command: list(text) }),
    ),
  ),
})

const inputs = object({
  api: object({
    server: text,
    user: optional(text),
    resourceVersion: optional(text),
    insecure: optional(about("Why anyone on the network path could answer in the server's place.", insecure)),
    secondLookInsecure: optional(about("The same for the second look, with the kubelet's own credential.", insecure)),
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
    ...said('waiting'),
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
    ...said('problem'),
    about: object({
      pod: optional(text),
      podRef: optional(about('The pod with its name, if that is known.', pod)),
      volume: optional(text),
      path: optional(text),
      driver: optional(about('A CSI driver: it concerns all of its volumes.', text)),
    }),
    subject: optional(subject),
    cause: causeKey,
  }),
)

export interface Problem extends ShapeOf<typeof problemEntry> {}

export const waiting = list<Waiting>(named('waiting', waitingEntry))
export const problems = list<Problem>(named('problem', problemEntry))

const freedBy = object({ flag: oneOf('--orphans', '--remount', '--expand'), operations: count })

export interface FreedBy extends ShapeOf<typeof freedBy> {}

export const nextStep = object({
  /** "end that use" */
  first: optional(about('What a person does before it, in words.', text)),
  command: text,
  why: text,
  node: optional(about('The node to type it on, if the plan was made from a snapshot.', text)),
})

/** A command line, and its purpose. */
export interface NextStep extends ShapeOf<typeof nextStep> {}

const summary = object({
  operations: recordOf(kind, count),
  blocked: count,
  waiting: count,
  problems: count,
  filtered: about(
    'Left out by --only, --skip, --pod or --volume: operations, dependants included, waits and problems.',
    count,
  ),
  ready: optional(about('Operations that are not blocked, and whose predecessors are not blocked.', count)),
  freedBy: optional(about('How many more operations would be ready with one flag more.', list<FreedBy>(freedBy))),
  causes,
  next: optional(
    about('What to type on this node, in this order, and why.', list<NextStep>(named('nextStep', nextStep))),
  ),
})

export interface PlanSummary extends ShapeOf<typeof summary> {}

export const WHOLE_PLAN = {
  apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
  kind: oneOf<'Plan'>('Plan'),
  ...REVIEWED,
  inputs: named<PlanInputs>('inputs', inputs),
  waiting,
  problems,
  summary: named<PlanSummary>('summary', summary),
  complete,
} as const

export interface Plan extends ObjectOf<typeof WHOLE_PLAN> {}

export const wholePlan = about<Plan>(
  'What one reconcile pass would do: `volctl plan -o json`. Fields may be added in any version; none is removed or changes its meaning without an entry in the change log.',
  object(WHOLE_PLAN),
)

/** The shape of a whole plan, from which schema/plan.schema.json is made. `volctl on` reads one from another node. */

import { about, named } from '../json/json-schema.ts'
import { list, object, oneOf, optional, recordOf, text } from '../json/shape.ts'
import { insecure } from '../model/snapshot.ts'
import { causes } from './cause-shape.ts'
import { causeKey, count, kind, pod, said, volume } from './operation-shape.ts'
import type { FreedBy, NextStep, Plan, PlanInputs, PlanSummary, Problem, Waiting } from './plan.ts'
import { complete, machine, REVIEWED, unjudged, until } from './plan-shape.ts'
import { subject } from './subject-shape.ts'

const inputs = object<PlanInputs>({
  api: object<PlanInputs['api']>({
    server: text,
    user: optional(text),
    resourceVersion: optional(text),
    insecure: optional(about("Why anyone on the network path could answer in the server's place.", insecure)),
    secondLookInsecure: optional(about("The same for the second look, with the kubelet's own credential.", insecure)),
  }),
  kubelet: object<PlanInputs['kubelet']>({
    state: oneOf('running', 'mayReturn', 'stopped', 'unknown'),
    note: optional(text),
    unit: optional(about('The systemd unit that runs the kubelet, or would start it.', text)),
    pid: optional(about('The process of the kubelet that runs.', count)),
  }),
  actual: object<PlanInputs['actual']>({ mounts: count, podDirs: count }),
  runtime: object<PlanInputs['runtime']>({ source: text, pods: count }),
  machine,
  pods: about(
    "How many of this node's pods are orphaned.",
    object<PlanInputs['pods']>({ listed: count, onDisk: count, gone: count }),
  ),
  unjudged,
})

const waitingEntry = about(
  'Desired, but somebody else has to act first.',
  object<Waiting>({
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

const problemEntry = about(
  'Something is wrong, and no operation follows.',
  object<Problem>({
    severity: oneOf('error', 'warning', 'info'),
    ...said('problem'),
    about: object<Problem['about']>({
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

export const waiting = list(named('waiting', waitingEntry))
export const problems = list(named('problem', problemEntry))

const summary = object<PlanSummary>({
  operations: recordOf(kind, count),
  blocked: count,
  waiting: count,
  problems: count,
  filtered: about(
    'Left out by --only, --skip, --pod, --volume or --max: operations, dependants included, waits and problems.',
    count,
  ),
  ready: optional(about('Operations that are not blocked, and whose predecessors are not blocked.', count)),
  freedBy: optional(
    about(
      'How many more operations would be ready with one flag more.',
      list(object<FreedBy>({ flag: oneOf('--orphans', '--remount', '--expand'), operations: count })),
    ),
  ),
  causes,
  next: optional(
    about(
      'What to type on this node, in this order, and why.',
      list(
        named(
          'nextStep',
          object<NextStep>({
            first: optional(about('What a person does before it, in words.', text)),
            command: text,
            why: text,
            node: optional(about('The node to type it on, if the plan was made from a snapshot.', text)),
          }),
        ),
      ),
    ),
  ),
})

export const WHOLE_PLAN = {
  apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
  kind: oneOf<'Plan'>('Plan'),
  ...REVIEWED,
  inputs: named('inputs', inputs),
  waiting,
  problems,
  summary: named('summary', summary),
  complete,
} as const

export const wholePlan = about(
  'What one reconcile pass would do: `volctl plan -o json`. Fields may be added in any version; none is removed or changes its meaning without an entry in the change log.',
  object<Plan>(WHOLE_PLAN),
)

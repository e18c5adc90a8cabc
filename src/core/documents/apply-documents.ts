/** What an apply says, as others are told. */
import { ExitStatus } from '../errors/exit-status.ts'
import { about, named } from '../json/json-schema.ts'
import {
  anything,
  count,
  either,
  flag,
  list,
  number,
  object,
  oneOf,
  optional,
  recordOf,
  type Shape,
  text,
} from '../json/shape.ts'
import type { Difference } from '../plan/differences.ts'
import type {
  ApplyDocument,
  ApplyEvent,
  ApplyEventType,
  ClusterApplyDocument,
  KubeletDowntime,
  Outcome,
  OutcomeState,
  ResultEvent,
} from '../plan/events.ts'
import { kind, operation, path, pod, said, step } from '../plan/operation-shape.ts'
import type { Refusal, Step } from '../plan/plan.ts'
import { problems, waiting } from '../plan/whole-plan.ts'
import { STABLE } from './stable.ts'

const STATES = ['done', 'failed', 'blocked', 'refused', 'skipped', 'interrupted'] as const

const time = about('RFC 3339.', text)
const exit = oneOf(...Object.values(ExitStatus))
/** Of the catalogue, or a word in capitals of the system's own. */
const failureCode = about(
  "From the catalogue in volctl-codes(7), or the system's own, such as EBUSY.",
  text,
) as Shape<never>
const elapsedMs = about('Milliseconds.', number)

const differences = about(
  'In what the operation differs from the reviewed plan.',
  list(named('difference', object<Difference>({ what: text, was: text, now: text }))),
)

const refused = about(
  'The safety rule that refused everything; nothing was changed.',
  object<Refusal>({ rule: text, ...said('refusal') }),
)

const downtime = about(
  'Of --stop-kubelet: how the kubelet was down.',
  object<KubeletDowntime>({
    unit: text,
    stoppedAt: time,
    downMs: about('Milliseconds, until it ran again; if it does not, until then.', number),
    runs: about('systemd shows it as active, and its health port answers if it has one.', flag),
    why: optional(about('Why it does not.', text)),
    ready: optional(about('Whether the node is Ready again; absent: not known.', flag)),
  }),
)

const state = named('state', oneOf<OutcomeState>(...STATES))

const outcome = object<Outcome>({
  id: text,
  kind,
  state,
  code: optional(failureCode),
  message: text,
  hint: optional(text),
  elapsedMs,
  because: optional(about('skipped: the id of the operation that did not succeed.', text)),
  differences: optional(differences),
  deleted: optional(
    about('What was deleted.', object<NonNullable<Outcome['deleted']>>({ files: count, bytes: count })),
  ),
})

const plan = about('The id of the plan, as the journal has it.', text)

export const applyDocument = about(
  `What became of an apply: \`volctl apply -o json\`. ${STABLE}`,
  object<ApplyDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'ApplyResult'>('ApplyResult'),
    node: text,
    rootDir: path,
    volctlVersion: text,
    plan,
    exit: about('The exit status.', exit),
    interrupted: flag,
    refused: optional(refused),
    downtime: optional(downtime),
    outcomes: list(named('outcome', outcome)),
    left: optional(about('What a new plan would still do; absent: nobody looked.', list(operation))),
    waiting: optional(waiting),
    problems: optional(problems),
  }),
)

/** Of a plan of the cluster. */
const clusterPart = <T>(text: string) => about(text, list(anything)) as unknown as Shape<readonly T[]>

export const clusterApplyDocument = about(
  `What became of an apply of a cluster: \`volctl apply --cluster -o json\`. ${STABLE}`,
  object<ClusterApplyDocument>({
    apiVersion: oneOf<'volctl.io/v1'>('volctl.io/v1'),
    kind: oneOf<'ApplyResult'>('ApplyResult'),
    scope: oneOf<'cluster'>('cluster'),
    cluster: about(
      'uid: of the namespace kube-system.',
      object<ClusterApplyDocument['cluster']>({ server: text, uid: optional(text) }),
    ),
    volctlVersion: text,
    plan: about('The id of the plan, as the journal has it, and its digest.', text),
    exit: about('The exit status.', exit),
    interrupted: flag,
    refused: optional(refused),
    outcomes: list(named('outcome', outcome)),
    left: optional(clusterPart('What a new plan of the cluster would still do; absent: nobody looked.')),
    waiting: optional(clusterPart('As in a plan of the cluster.')),
    problems: optional(clusterPart('As in a plan of the cluster.')),
  }),
)

const TYPES = ['start', 'step', ...STATES, 'left', 'note'] as const

const event = object<ApplyEvent>({
  type: oneOf<ApplyEventType>(...TYPES),
  time,
  message: text,
  code: optional(failureCode),
  hint: optional(text),
  id: optional(about('Of the operation; absent: it is about the whole apply.', text)),
  kind: optional(kind),
  pod: optional(pod),
  volume: optional(text),
  node: optional(about('Of an apply of a cluster.', text)),
  step: optional(step as Shape<Step>),
  elapsedMs: optional(elapsedMs),
  differences: optional(differences),
})

const resultEvent = object<ResultEvent>({
  type: oneOf<'result'>('result'),
  time,
  plan,
  exit: about('The exit status.', exit),
  interrupted: flag,
  refused: optional(refused),
  downtime: optional(downtime),
  outcomes: about('How many operations ended so.', recordOf<OutcomeState, number>(state, count)),
  left: optional(about('How many operations a new plan would still have; absent: nobody looked.', count)),
})

export const applyEvent = about(
  `One line of \`volctl apply -o ndjson\`; the last is of type result. ${STABLE}`,
  either(named('event', event), named('result', resultEvent)),
)

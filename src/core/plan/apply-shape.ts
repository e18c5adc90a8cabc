/** The shapes of what apply reports while it runs and at the end. */

import { ExitStatus } from '../base/exit-status.ts'
import type { FailureCode } from '../messages/codes.ts'
import { about, named } from '../trust/json-schema.ts'
import { count, flag, list, number, object, oneOf, optional, type Shape, type ShapeOf, text } from '../trust/shape.ts'
import { kind, type PodRef, said } from './operation-shape.ts'
import type { OperationKind, Refusal, Step } from './plan.ts'

const OUTCOME_STATES = ['done', 'failed', 'blocked', 'refused', 'skipped', 'interrupted'] as const

export type OutcomeState = (typeof OUTCOME_STATES)[number]

const time = about('RFC 3339.', text)
export const exit = oneOf(...Object.values(ExitStatus))
/** Of the catalogue, or a word in capitals of the system's own. */
const failureCode = about(
  "From the catalogue in volctl-codes(7), or the system's own, such as EBUSY.",
  text,
) as Shape<FailureCode>
const elapsedMs = about('Milliseconds.', number)

const difference = object({ what: text, was: text, now: text })

export interface Difference extends ShapeOf<typeof difference> {}

const differences = about(
  'In what the operation differs from the reviewed plan.',
  list<Difference>(named('difference', difference)),
)

export const refused = about<Refusal>(
  'The safety rule that refused everything; nothing was changed.',
  object({ rule: text, ...said('refusal') }),
)

export const downtime = about(
  'Of --stop-kubelet: how the kubelet was down.',
  object({
    unit: text,
    stoppedAt: time,
    downMs: about('Milliseconds, until it ran again; if it does not, until then.', number),
    runs: about('systemd shows it as active, and its health port answers if it has one.', flag),
    why: optional(about('Why it does not.', text)),
    byOthers: optional(about('Somebody else has started it: volctl did not wait until the node is Ready.', flag)),
    ready: optional(about('Whether the node is Ready again; absent: not known.', flag)),
  }),
)

/** How the kubelet was down for an apply (--stop-kubelet). */
export interface KubeletDowntime extends ShapeOf<typeof downtime> {}

const state = named('state', oneOf(...OUTCOME_STATES))

export const deleted = object({ files: count, bytes: count })

const outcome = object({
  id: text,
  kind,
  state,
  code: optional(failureCode),
  message: text,
  hint: optional(text),
  elapsedMs,
  because: optional(about('skipped: the id of the operation that did not succeed.', text)),
  differences: optional(differences),
  deleted: optional(about('What was deleted.', deleted)),
})

export interface Outcome extends ShapeOf<typeof outcome> {}

export const outcomes = list<Outcome>(named('outcome', outcome))

export const plan = about('The id of the plan, as the journal has it.', text)

/** `left`: an operation that the look at the end still plans. `note`: said about the whole apply. */
export type ApplyEventType = 'start' | 'step' | OutcomeState | 'left' | 'note'

export interface ApplyEvent extends Partial<Pick<Outcome, 'code' | 'hint' | 'elapsedMs' | 'differences'>> {
  readonly type: ApplyEventType
  /** RFC 3339. */
  readonly time: string
  readonly message: string
  /** Of the operation; absent: it is about the whole apply. */
  readonly id?: string
  readonly kind?: OperationKind
  readonly pod?: PodRef
  readonly volume?: string
  /** Of an apply of a cluster. */
  readonly node?: string
  readonly step?: Step
}

/** The last line of `-o ndjson`. */
export interface ResultEvent {
  readonly type: 'result'
  readonly time: string
  readonly plan: string
  readonly exit: ExitStatus
  readonly interrupted: boolean
  readonly refused?: Refusal
  readonly downtime?: KubeletDowntime
  /** How many operations ended so. */
  readonly outcomes: Readonly<Partial<Record<OutcomeState, number>>>
  /** How many operations a new plan would still have; absent: nobody looked. */
  readonly left?: number
}

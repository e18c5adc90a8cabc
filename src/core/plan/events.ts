/** What apply reports while it runs and at the end: data, drawn by views. */

import { counted } from '../base/text.ts'
import type { FailureCode } from '../messages/codes.ts'
import { ExitStatus, type Finding, type Hint } from '../messages/findings.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import {
  count,
  flag,
  hint,
  list,
  number,
  type ObjectOf,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  text,
} from '../trust/shape.ts'
import { args, type PodRef } from '../volumes/finding.ts'
import type { Step } from '../volumes/steps.ts'
import type { ClusterOperation, ClusterPlan } from './cluster-plan.ts'
import { kind } from './operation-shape.ts'
import { type Operation, type OperationKind, type Plan, type ReviewedPlan, refused } from './plan.ts'

/** In the order in which they are counted. */
export const OUTCOME_STATES = ['done', 'failed', 'refused', 'skipped', 'interrupted', 'blocked'] as const

export type OutcomeState = (typeof OUTCOME_STATES)[number]

const time = about('RFC 3339.', text)
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
  list(named('difference', difference)),
)

const downtime = about(
  'Of --stop-kubelet: how the kubelet was down.',
  object({
    unit: text,
    stoppedAt: time,
    downMs: about('Milliseconds, until it ran again; if it does not, until then.', number),
    runs: about('systemd shows it as active, and its health port answers if it has one.', flag),
    why: maybe('Why it does not.', text),
    byOthers: maybe('Somebody else has started it: volctl did not wait until the node is Ready.', flag),
    ready: maybe('Whether the node is Ready again; absent: not known.', flag),
  }),
)

/** How the kubelet was down for an apply (--stop-kubelet). */
export interface KubeletDowntime extends ShapeOf<typeof downtime> {}

const state = named('state', oneOf(...OUTCOME_STATES))

const deleted = object({ files: count, bytes: count })

const outcome = object({
  id: text,
  kind,
  state,
  code: optional(failureCode),
  message: text,
  args,
  hint: optional(hint),
  elapsedMs,
  because: maybe('skipped: the id of the operation that did not succeed.', text),
  differences: optional(differences),
  deleted: maybe('What was deleted.', deleted),
})

export interface Outcome extends ShapeOf<typeof outcome> {}

export const outcomes = list(named('outcome', outcome))

/** `left`: an operation that the look at the end still plans. `note`: said about the whole apply. */
type ApplyEventType = 'start' | 'step' | OutcomeState | 'left' | 'note'

export interface ApplyEvent extends Partial<Pick<Outcome, 'code' | 'args' | 'hint' | 'elapsedMs' | 'differences'>> {
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

/** How an apply ended as a whole. */
export const END = {
  plan: about('The id of the plan, as the journal has it.', text),
  exit: about('The exit status.', oneOf(...Object.values(ExitStatus))),
  interrupted: flag,
  refused: maybe('The safety rule that refused everything; nothing was changed.', refused),
  downtime: optional(downtime),
}

interface End extends ObjectOf<typeof END> {}

export interface ApplyResult<Op = Operation, Made = Plan> extends End {
  readonly outcomes: readonly Outcome[]
  /** What a new plan would still do; undefined if the last look failed or was not waited for. */
  readonly left: readonly Op[] | undefined
  readonly after?: Made
}

/** Of an apply of a cluster. */
export type ClusterApplyResult = ApplyResult<ClusterOperation, ClusterPlan>

/** Nothing of it is left to do: it was done, or the world was already as it would make it. */
export function isFulfilled({ state, because }: Pick<Outcome, 'state' | 'because'>): boolean {
  return state === 'done' || (state === 'skipped' && because === undefined)
}

/** What an event says of its operation. */
export interface EventSubject extends Pick<Operation, 'id' | 'kind' | 'pod'> {
  readonly volume?: { readonly name: string }
  readonly node?: string
}

interface Said<Code extends string> extends Finding<Code> {
  readonly hint?: Hint
}

/** What is said of an error or a finding, without what else it has. */
export function saidOf<Code extends string>({ code, message, args, hint }: Said<Code>): Said<Code> {
  return { code, message, args, hint }
}

/** RFC 3339. */
function timeNow(): string {
  return new Date().toISOString()
}

/** An event about an operation. */
export function operationEvent(
  type: ApplyEventType,
  { id, kind, pod, volume, node }: EventSubject,
  message: string,
  more: Pick<ApplyEvent, 'code' | 'args' | 'hint' | 'step' | 'elapsedMs' | 'differences'> = {},
): ApplyEvent {
  const names = { pod, volume: volume?.name, node }
  return { type, time: timeNow(), id, kind, ...names, message, ...more }
}

export function note(message: string, more: Pick<ApplyEvent, 'code' | 'args' | 'hint'> = {}): ApplyEvent {
  return { type: 'note', time: timeNow(), message, ...more }
}

type Where = Pick<ReviewedPlan, 'node' | 'rootDir'> | Pick<ClusterPlan, 'scope' | 'cluster'>

/** An apply's answer for `-o json` and `yaml`. @param plan that was carried out */
export function applyDocument(
  plan: Where & { readonly volctlVersion: string },
  { outcomes, left, after, ...end }: ApplyResult | ClusterApplyResult,
) {
  return {
    apiVersion: 'volctl.io/v1',
    kind: 'ApplyResult',
    ...('cluster' in plan ? { scope: plan.scope, cluster: plan.cluster } : { node: plan.node, rootDir: plan.rootDir }),
    volctlVersion: plan.volctlVersion,
    ...end,
    outcomes,
    left,
    waiting: after?.waiting,
    problems: after?.problems,
  }
}

/** The last line of `-o ndjson`: how many operations ended so; absent `left`: nobody looked. */
export function resultEvent({ outcomes, left, after: _, ...end }: ApplyResult | ClusterApplyResult) {
  const states = counted(outcomes.map(({ state }) => state))
  return { type: 'result', time: timeNow(), ...end, outcomes: states, left: left?.length }
}

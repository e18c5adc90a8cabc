/** What apply reports while it runs and at the end: data, drawn by views. */

import type { FailureCode } from '../codes/codes.ts'
import type { ExitStatus } from '../errors/exit-status.ts'
import { defined } from '../lang/defined.ts'
import type { ClusterOperation, ClusterPlan } from './cluster-plan.ts'
import type { Difference } from './differences.ts'
import type { Operation, OperationKind, Plan, PodRef, Step } from './plan.ts'

export type OutcomeState = 'done' | 'failed' | 'blocked' | 'refused' | 'skipped' | 'interrupted'

export interface Outcome {
  readonly id: string
  readonly kind: OperationKind
  readonly state: OutcomeState
  readonly code?: FailureCode
  readonly message: string
  readonly hint?: string
  readonly elapsedMs: number
  /** For skipped: the operation that did not succeed; absent: the operation's work was already done. */
  readonly because?: string
  /** For Changed: how the operation differs from the plan. */
  readonly differences?: readonly Difference[]
  /** What was deleted by descriptors. */
  readonly deleted?: { readonly files: number; readonly bytes: number }
}

/** Nothing of it is left to do: it was done, or the world was already as it would make it. */
export function isFulfilled({ state, because }: Pick<Outcome, 'state' | 'because'>): boolean {
  return state === 'done' || (state === 'skipped' && because === undefined)
}

/** Events of `-o ndjson`. `left`: an operation that the look at the end still plans. `note`: said about the whole apply. */
export type ApplyEventType = 'start' | 'step' | OutcomeState | 'left' | 'note'

export interface ApplyEvent {
  readonly type: ApplyEventType
  /** RFC 3339. */
  readonly time: string
  readonly message: string
  readonly code?: FailureCode
  readonly hint?: string
  readonly id?: string
  readonly kind?: OperationKind
  readonly pod?: PodRef
  readonly volume?: string
  /** Of an apply of a cluster. */
  readonly node?: string
  readonly step?: Step
  readonly elapsedMs?: number
  readonly differences?: readonly Difference[]
}

/** How the kubelet was down for an apply (--stop-kubelet). */
export interface KubeletDowntime {
  readonly unit: string
  /** RFC 3339. */
  readonly stoppedAt: string
  /** Until it ran again; if it does not, until now. */
  readonly downMs: number
  /** systemd shows it as active, and its health port answers if it has one. */
  readonly runs: boolean
  /** Why it does not. */
  readonly why?: string
  /** Whether the node is Ready again; absent: not waited for, or not readable. */
  readonly ready?: boolean
}

export interface ApplyResult {
  /** The plan's id, as in the journal. */
  readonly plan: string
  readonly outcomes: readonly Outcome[]
  /** What a new plan would still do; undefined if the last look failed or was not waited for. */
  readonly left: readonly Operation[] | undefined
  readonly after?: Plan
  readonly interrupted: boolean
  /** The safety rule that refused everything; nothing was changed. */
  readonly refused?: NonNullable<Plan['refused']>
  /** Of an apply that has stopped the kubelet. */
  readonly downtime?: KubeletDowntime
  readonly exit: ExitStatus
}

/** Of an apply of a cluster. */
export interface ClusterApplyResult extends Omit<ApplyResult, 'left' | 'after'> {
  readonly left: readonly ClusterOperation[] | undefined
  readonly after?: ClusterPlan
}

/** What an event says of its operation. */
export interface EventSubject extends Pick<Operation, 'id' | 'kind' | 'pod'> {
  readonly volume?: { readonly name: string }
  readonly node?: string
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
  more: Pick<ApplyEvent, 'code' | 'hint' | 'step' | 'elapsedMs' | 'differences'> = {},
): ApplyEvent {
  return {
    type,
    time: timeNow(),
    id,
    kind,
    ...defined({ pod, volume: volume?.name, node }),
    message,
    ...more,
  }
}

export function note(message: string, more: Pick<ApplyEvent, 'code' | 'hint'> = {}): ApplyEvent {
  return { type: 'note', time: timeNow(), message, ...more }
}

/** An apply's answer for `-o json` and `yaml`. */
export interface ApplyDocument
  extends Pick<Plan, 'apiVersion' | 'node' | 'rootDir' | 'volctlVersion'>,
    Pick<ApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'downtime' | 'outcomes'> {
  readonly kind: 'ApplyResult'
  /** What a new plan would still do; absent if the last look failed or was not waited for. */
  readonly left?: readonly Operation[]
  readonly waiting?: Plan['waiting']
  readonly problems?: Plan['problems']
}

/** The same of an apply of a cluster. */
export interface ClusterApplyDocument
  extends Pick<ClusterPlan, 'apiVersion' | 'scope' | 'cluster' | 'volctlVersion'>,
    Pick<ClusterApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'outcomes'> {
  readonly kind: 'ApplyResult'
  readonly left?: readonly ClusterOperation[]
  readonly waiting?: ClusterPlan['waiting']
  readonly problems?: ClusterPlan['problems']
}

/** The last line of `-o ndjson`. */
export interface ResultEvent extends Pick<ApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'downtime'> {
  readonly type: 'result'
  /** RFC 3339. */
  readonly time: string
  /** How many operations ended this way. */
  readonly outcomes: Partial<Readonly<Record<OutcomeState, number>>>
  /** How many operations a new plan would still have. */
  readonly left?: number
}

/** What apply reports while it runs and at the end: data, drawn by views. */

import type { ExitStatus } from '../base/exit-status.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import type { ApplyEvent, ApplyEventType, KubeletDowntime, Outcome } from './apply-shape.ts'
import type { ClusterOperation, ClusterPlan } from './cluster-plan.ts'
import type { Operation, Plan } from './plan.ts'

export type { ApplyEvent, ApplyEventType, KubeletDowntime, Outcome, OutcomeState, ResultEvent } from './apply-shape.ts'

/** Nothing of it is left to do: it was done, or the world was already as it would make it. */
export function isFulfilled({ state, because }: Pick<Outcome, 'state' | 'because'>): boolean {
  return state === 'done' || (state === 'skipped' && because === undefined)
}

export interface ApplyResult<Op = Operation, Made = Plan> {
  /** The plan's id, as in the journal. */
  readonly plan: string
  readonly outcomes: readonly Outcome[]
  /** What a new plan would still do; undefined if the last look failed or was not waited for. */
  readonly left: readonly Op[] | undefined
  readonly after?: Made
  readonly interrupted: boolean
  /** The safety rule that refused everything; nothing was changed. */
  readonly refused?: NonNullable<Plan['refused']>
  /** Of an apply that has stopped the kubelet. */
  readonly downtime?: KubeletDowntime
  readonly exit: ExitStatus
}

/** Of an apply of a cluster. */
export type ClusterApplyResult = ApplyResult<ClusterOperation, ClusterPlan>

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
    ...omitUndefined({ pod, volume: volume?.name, node }),
    message,
    ...more,
  }
}

export function note(message: string, more: Pick<ApplyEvent, 'code' | 'hint'> = {}): ApplyEvent {
  return { type: 'note', time: timeNow(), message, ...more }
}

/** An apply's answer for `-o json` and `yaml`; of a cluster it has `scope` and `cluster` in the place of `node` and `rootDir`. */
export interface ApplyDocument
  extends Pick<Plan, 'apiVersion' | 'node' | 'rootDir' | 'volctlVersion'>,
    Pick<ApplyResult, 'plan' | 'exit' | 'interrupted' | 'refused' | 'downtime' | 'outcomes'> {
  readonly kind: 'ApplyResult'
  /** What a new plan would still do; absent if the last look failed or was not waited for. */
  readonly left?: readonly Operation[]
  readonly waiting?: Plan['waiting']
  readonly problems?: Plan['problems']
}

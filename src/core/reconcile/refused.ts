/**
 * What a refused plan says of its parts. The pods of another cluster, or of one that was restored from a backup, are not in the API
 * either: nobody may be told to stop one of them for that.
 */
import type { ProblemCode, WaitingCode } from '../codes/codes.ts'
import { defined } from '../lang/defined.ts'
import type { Operation, Refusal } from '../plan/plan.ts'

/** Next steps that are right only if the API is right about pods. */
const TRUSTS_THE_API: ReadonlySet<ProblemCode | WaitingCode> = new Set<ProblemCode | WaitingCode>([
  'OrphanPodDir',
  'PodGoneButRunning',
  'PodStillRunning',
])

interface Advice {
  readonly code: ProblemCode | WaitingCode
  readonly hint?: string
}

/** A problem or a wait, without a next step that the refusal makes dangerous. */
export function adviseRefused<T extends Advice>(advice: T, refused: Refusal | undefined): T {
  if (refused === undefined || advice.hint === undefined || !TRUSTS_THE_API.has(advice.code)) return advice
  return {
    ...advice,
    hint: `First find out why the plan is refused (${refused.code}); stop and remove nothing before.`,
  }
}

export function blockRefused(operation: Operation, { code, message, hint }: Refusal): Operation {
  return {
    ...operation,
    blocked: { code: code === 'OutageSuspected' ? code : 'Refused', message, ...defined({ hint }) },
  }
}

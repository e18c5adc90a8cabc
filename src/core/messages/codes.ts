/**
 * The one catalogue of codes: every reason, and every code of a problem, of an operation that is blocked, waits or ends other than
 * well, of a refusal and of an error. What carries a code has its type from here, so that a code without an entry does not compile.
 * They stand in groups by the kind of their cause; no code is in two of them.
 */

import { CLUSTER_CODES } from './cluster-codes.ts'
import { CAUSE_KINDS, type CauseKind, type CodeEntry, type OutsideCode, type Place } from './code-entry.ts'
import { type Hint, marked } from './command.ts'
import { PATH_CODES } from './path-codes.ts'
import { REASON_CODES } from './reasons.ts'
import { RUN_CODES } from './run-codes.ts'
import { VOLUME_CODES } from './volume-codes.ts'

export const CODES = {
  ...CLUSTER_CODES,
  ...PATH_CODES,
  ...REASON_CODES,
  ...RUN_CODES,
  ...VOLUME_CODES,
} satisfies Readonly<Record<string, CodeEntry>>

export type CodesIn<Where extends Place> = {
  [Each in Code]: Extract<(typeof CODES)[Each]['in'][number], Where> extends never ? never : Each
}[Code]

export type Code = keyof typeof CODES
export type Reason = CodesIn<'reason'>
export type BlockCode = CodesIn<'blocked'>
export type WaitingCode = CodesIn<'waiting'>
export type ProblemCode = CodesIn<'problem'>
/** An operation that is blocked by the time of an apply ends with the code of what blocks it. */
export type OutcomeCode = CodesIn<'outcome' | 'blocked'>
export type RefusalCode = CodesIn<'refusal'>
export type ErrorCode = CodesIn<'error'>

/** What an error of volctl may have; a problem may be why something fails. */
export type FailureCode = ErrorCode | OutcomeCode | ProblemCode | RefusalCode | OutsideCode

/** Every code of the catalogue. */
export const ALL_CODES = Object.keys(CODES) as Code[]

/** Codes that may appear in one place. */
export function codesIn<Where extends Place>(where: Where): CodesIn<Where>[] {
  return ALL_CODES.filter((code) => isCodeOf(where, code))
}

/** What kind of cause a code is of; undefined: none, as of a reason, of an error of a command and of a system's own code. */
export function causeOf(code: string | undefined): CauseKind | undefined {
  return entryOf(code)?.cause
}

/** What is said with a finding or an error of it that has no hint of its own. */
export function remedyOf(code: string): Hint | undefined {
  const remedy = entryOf(code)?.remedy
  return remedy && marked(remedy)
}

/** What an operator does next, as `explain CODE` and the manual say it. */
export function nextOf(code: Code): Hint {
  const { remedy = 'Look at the plan; then: `volctl apply`', next = remedy }: Partial<CodeEntry> = entryOf(code) ?? {}
  return marked(next)
}

/** Does a kubelet that runs do what waits with this code? */
export function isByKubelet(code: WaitingCode): boolean {
  return entryOf(code)?.byKubelet === true
}

/** Does a block stay the cause although the operation waits (S38)? A kubelet that runs mends some; who else acts first, most. */
export function outlasts(code: BlockCode, wait: WaitingCode, isSetUp: boolean): boolean {
  const { lasts, cause }: Partial<CodeEntry> = entryOf(code) ?? {}
  if (!isByKubelet(wait)) return lasts === 'always'
  if (lasts === 'in-set-up' || lasts === 'in-tear-down') return isSetUp === (lasts === 'in-set-up')
  return lasts !== 'never' && cause !== undefined && CAUSE_KINDS[cause].lasts === true
}

/** Several causes of a code in one sentence; undefined: each has its own. @param users whom they have in common */
export function saidOfMany(code: Code, n: number, users: string): string | undefined {
  return entryOf(code)?.many?.(n, users) || undefined
}

/** What is known of a code; undefined: it is none of the catalogue. */
export function entryOf(code: string | undefined): CodeEntry | undefined {
  return code !== undefined && Object.hasOwn(CODES, code) ? CODES[code as Code] : undefined
}

export function isCodeOf<Where extends Place>(where: Where, code: Code): code is CodesIn<Where> {
  return (CODES[code].in as readonly Place[]).includes(where)
}

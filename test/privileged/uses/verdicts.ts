/** What came of each trial, and what of it must not be. */
import { type Combination, negligible, type OperationName } from './combinations.ts'

export interface Outcome {
  readonly kind: OperationName
  readonly state: string
  readonly code: string | undefined
  readonly message: string
}

export interface Verdict extends Combination {
  /** Why it was not tried on this machine; all else is empty then. */
  readonly skipped?: string
  readonly outcomes: readonly Outcome[]
  /** Where the use was named first, and whether the plan said so, before anything was done. */
  readonly named?: { readonly by: string; readonly planned: boolean; readonly text: string }
  /** A disk that is not of the trial was in the way. */
  readonly disturbed?: boolean
  /** How the use was hurt, in words; empty: it was not. */
  readonly hurt: string
}

/** In a line. */
export const nameOf = ({ kind, operation, use }: Combination): string => `${kind}, ${operation}, ${use}`

export function isDone({ outcomes, operation }: Verdict): boolean {
  return outcomes.some(({ kind }) => kind === operation) && outcomes.every(({ state }) => state === 'done')
}

/**
 * What must not be, in words; empty: all is well. A use is hurt neither by what was done nor by what was refused half-way,
 * a refusal names it, and where nobody uses anything all is done.
 */
export function wrongOf(verdict: Verdict): string {
  const { use, outcomes, named, hurt, skipped } = verdict
  if (skipped !== undefined) return ''
  const what = outcomes.map(({ kind, state, code = '' }) => `${kind} ${state} ${code}`.trim()).join(', ')
  const why = outcomes.find(({ state }) => state !== 'done')?.message ?? ''
  const told = `${what || 'nothing was planned'}; ${why}`
  if (hurt !== '' && negligible(verdict) === undefined) return `hurt (${hurt}): ${told}`
  if (isDone(verdict)) return ''
  if (use === 'none') return `refused, and nobody uses it: ${told}`
  return named === undefined ? `refused, and the use is not named: ${told}` : ''
}

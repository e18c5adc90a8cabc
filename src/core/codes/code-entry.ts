/** What is known of one code. */
import type { CauseKind } from './cause-kinds.ts'

/** Where a code may appear, with what it says there. A code that stands in several places means the same in each. */
export const PLACES = {
  reason: 'an operation is planned for it',
  blocked: 'an operation is blocked by it, in a plan or when an apply looks again',
  waiting: 'someone else has to act first',
  problem: 'a plan reports it',
  outcome: 'an operation or an apply ends with it',
  refusal: 'a safety rule refuses a plan or an apply as a whole',
  error: 'a command fails with it',
} as const

export type Place = keyof typeof PLACES

interface Entry {
  /** In one plain sentence. */
  readonly means: string
  /** What an operator does next. */
  readonly next: string
  /** Rules that the code comes from, the most important one first; absent: none is known. */
  readonly rules?: readonly string[]
  /** It blocks only because a flag was not given: the person did not ask for the operation. */
  readonly onRequest?: true
  /** In a cluster it is a fact about the node, and not about one volume there. */
  readonly ofNode?: true
}

/** A code that a finding of a plan or an end of an operation can have says what kind of cause it is. */
export type CodeEntry = Entry &
  (
    | { readonly in: readonly ('reason' | 'error')[]; readonly cause?: never }
    | { readonly in: readonly Place[]; readonly cause: CauseKind }
  )

/** What is known of one code. */

/** Where a code may appear. A code that stands in several places means the same in each. */
export type Place = 'reason' | 'blocked' | 'waiting' | 'problem' | 'outcome' | 'refusal' | 'error'

export interface CodeEntry {
  readonly in: readonly Place[]
  /** In one plain sentence. */
  readonly means: string
  /** What an operator does next. */
  readonly next: string
  /** Rules that the code comes from, the most important one first; absent: none is known. */
  readonly rules?: readonly string[]
}

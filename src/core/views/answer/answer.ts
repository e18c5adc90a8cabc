/**
 * The one answer that every screen draws: what this is about, what needs a person, what is ready, what stays, what others do, the
 * counts, and what to type next. Each part is left out where it is empty.
 */
import type { NextStep, Severity } from '../../plan/plan.ts'

/** One line below a title; the labels of a part stand in a column. */
export interface Row {
  readonly label?: string
  readonly text: string
  /** Something is lost for good. */
  readonly loss?: true
}

export interface Part {
  /** '': the part's name says all. */
  readonly title: string
  readonly rows: readonly Row[]
}

/** A cause, or several that differ only in what they are about. */
export interface Need {
  readonly severity: Severity
  /** One sentence. */
  readonly text: string
  /** What it is about, where the sentence does not say, or not all of it. */
  readonly names?: string
  /** What hangs on it, by name. */
  readonly wake: readonly string[]
  readonly remedy: readonly string[]
}

export interface Answer {
  readonly headline: string
  /** What is not as it should be with the machine or the server. */
  readonly doubts: readonly string[]
  /** Something could not be read. */
  readonly incomplete: boolean
  readonly needs: readonly Need[]
  /** How stands what was named, of a cluster. */
  readonly stands?: Part
  readonly ready?: Part
  readonly kept?: Part
  readonly others?: Part
  readonly notes: readonly string[]
  /** They add up. */
  readonly counts: string
  /** The first is the next step; the others belong to it, in order. */
  readonly next: readonly NextStep[]
}

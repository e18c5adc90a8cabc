/** The answer to a line: what its sentence means, and what its names are on this node. Data, drawn by a view. */
import { ALL_CODES } from '../codes/codes.ts'
import type { Explanation, Subject, Verdict } from '../explain/explanation.ts'
import { about } from '../json/json-schema.ts'
import { flag, list, type ObjectOf, optional, type Shape, text } from '../json/shape.ts'
import { codeOf } from '../plan/operation-shape.ts'
import type { NameKind } from './line-name.ts'
import type { LogLine } from './log-line.ts'
import type { SentenceName } from './sentences/sentences.ts'

export const SENTENCE = {
  name: about('Of the catalogue of sentences; stable. New ones may come.', text as Shape<SentenceName>),
  by: about('Who says it.', list(text)),
  means: text,
  why: optional(about('Why that happens.', text)),
  next: about('What to do on this node.', text),
  volctl: optional(about('What volctl does about it.', text)),
  codes: list(codeOf(ALL_CODES)),
  rules: list(text),
  harmless: about('true: no trouble by itself.', flag),
}

/** A known sentence, with the node's own names in its text. */
export interface SentenceView extends ObjectOf<typeof SENTENCE> {}

/** What a name of the line is on this node. */
export interface NameView {
  readonly kind: NameKind
  readonly name: string
  readonly found: boolean
  /** In one line: the verdict on it, or that there is no such thing. */
  readonly says: string
  /** What to ask volctl explain for, where it was found. */
  readonly ask?: string
  readonly subject?: Subject
  readonly verdict?: Verdict
  /** volctl finds nothing wrong, and does not look at what the line says. */
  readonly unchecked?: true
}

/** The line as it was taken apart, without what only serves to recognise it. */
export type LineView = Pick<LogLine, 'format' | 'time' | 'host' | 'program' | 'severity' | 'source' | 'message' | 'cut'>

/** What was asked of one line, without the line itself and the whole explanation. */
export interface LineAnswer {
  /** Absent: nobody knows the line. */
  readonly sentence?: SentenceView
  /** What was being done when the cause came in the way, in one sentence. */
  readonly failed?: string
  /** The line's own last words, where volctl knows no cause further in. */
  readonly says?: string
  /** Other sentences that the line says. */
  readonly also: readonly SentenceName[]
  readonly names: readonly NameView[]
  /** Another node that the line names, or on which it was written, and what that means. */
  readonly otherNode?: { readonly name: string; readonly says: string }
  /** The one that the explanation is about. */
  readonly main?: NameView
}

export interface LineExplanation extends LineAnswer {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'LineExplanation'
  readonly line: LineView
  /** Absent: the node could not be looked at. */
  readonly node?: string
  /** RFC 3339: when the node was looked at. */
  readonly createdAt?: string
  /** Of the most specific thing that was found. */
  readonly explanation?: Explanation
}

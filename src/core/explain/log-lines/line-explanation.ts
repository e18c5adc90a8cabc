/** The answer to a line: what its names are on this node, and what it says. Data, drawn by a view. */
import type { Explanation, Subject, Verdict } from '../explanation.ts'
import type { LineHead, LogLine } from './log-line.ts'
import type { NameKind } from './take-names.ts'

/** A known sentence. */
export interface SentenceView {
  /** Who says it. */
  readonly by: string
  readonly means: string
  /** Why that is so; absent: the sentence says it all, or the line names no cause that volctl knows. */
  readonly cause?: string
  /** Of a CSI driver that was called: the code of gRPC, and what that means. */
  readonly answered?: string
  /** What to do. */
  readonly next: string
  /** Nothing is wrong in this line. */
  readonly harmless: boolean
  /** What the answer is about where the line names several things; absent: the volume. */
  readonly about?: 'pod' | 'driver'
}

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
}

/** Another node, which the line is about, or on which it was written, and what that means. */
export interface OtherNode {
  readonly name: string
  readonly says: string
}

export interface LineAnswer {
  /** Absent: volctl does not know the sentence. */
  readonly sentence?: SentenceView
  /** What the line names, the most telling first. */
  readonly names: readonly NameView[]
  /** The names of a line of another node are looked for there. */
  readonly otherNode?: OtherNode
  /** The one that the explanation is about. */
  readonly main?: NameView
}

/** What `volctl explain 'LINE' -o json` prints. */
export interface LineExplanation extends LineAnswer {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'LineExplanation'
  /** As it was taken apart. */
  readonly line: LineHead & Pick<LogLine, 'message'>
  /** Absent: the node could not be looked at. */
  readonly node?: string
  /** RFC 3339: when the node was looked at. */
  readonly createdAt?: string
  /** Of the most specific thing that was found. */
  readonly explanation?: Explanation
}

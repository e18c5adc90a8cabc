/** The answer to a line: what its sentence means, and what its names are on this node or in the cluster. Data, drawn by a view. */
import type { ClusterExplanation } from '../cluster/explain/cluster-explanation.ts'
import { ALL_CODES } from '../codes/codes.ts'
import { type Explanation, subjectShape, verdict } from '../explain/explanation.ts'
import { about, asIn, named } from '../json/json-schema.ts'
import { either, flag, list, object, oneOf, optional, type Shape, type ShapeOf, text } from '../json/shape.ts'
import { cluster } from '../plan/cluster-plan.ts'
import { codeOf } from '../plan/operation-shape.ts'
import { NAME_KINDS } from './line-name.ts'
import { LINE_FORMATS, type LogLine } from './log-line.ts'
import type { SentenceName } from './sentences/sentences.ts'
import { LINE_SEVERITIES } from './sentences/severity.ts'

export const sentenceName = text as Shape<SentenceName>

const SENTENCE = {
  name: about('Of the catalogue of sentences; stable. New ones may come.', sentenceName),
  by: about('Who says it.', list(text)),
  means: text,
  why: optional(about('Why that happens.', text)),
  next: about('What to do on this node.', text),
  volctl: optional(about('What volctl does about it.', text)),
  codes: list(codeOf(ALL_CODES)),
  rules: list(text),
  harmless: about('true: the line alone means no trouble.', flag),
}

const sentence = object(SENTENCE)

export const sentenceShape = object({ apiVersion: oneOf('volctl.io/v1'), kind: oneOf('Sentence'), ...SENTENCE })

/** What `volctl explain TargetBusy -o json` prints. */
export interface SentenceExplanation extends ShapeOf<typeof sentenceShape> {}

/** A known sentence, with the node's own names in its text. */
export interface SentenceView extends ShapeOf<typeof sentence> {}

const nameShape = object({
  kind: about('podVolume: what a pod calls it, or its directory there; volume: its unique name.', oneOf(...NAME_KINDS)),
  name: text,
  found: flag,
  says: about('In one line: the verdict on it, or that there is no such thing.', text),
  ask: optional(about('What to ask volctl explain for, where it was found.', text)),
  subject: optional(subjectShape),
  verdict: optional(verdict),
  unchecked: optional(about('volctl finds nothing wrong, and does not look at what the line says.', oneOf<true>(true))),
})

/** What a name of the line is on this node. */
export interface NameView extends ShapeOf<typeof nameShape> {}

const name = named<NameView>('name', nameShape)

const lineShape = object({
  format: oneOf(...LINE_FORMATS),
  time: optional(about('As the line has it; of an event its age.', text)),
  host: optional(about('As journald or syslog has it.', text)),
  program: optional(about('Of an event: who sent it.', text)),
  severity: optional(oneOf(...LINE_SEVERITIES)),
  source: optional(about('"nestedpendingoperations.go:348"', text)),
  message: about('Without header and quotes.', text),
  cut: about('The line was longer than what is read of one.', flag),
})

/** The line as it was taken apart, without what only serves to recognise it. */
export interface LineView extends ShapeOf<typeof lineShape> {}

export const line = named<LineView>('line', lineShape)

/** What was asked of one line, without the line itself and the whole explanation. */
export const ANSWER = {
  sentence: optional(about('Absent: nobody knows the line.', named<SentenceView>('sentence', sentence))),
  failed: optional(about('What was being done when the cause came in the way, in one sentence.', text)),
  says: optional(about("The line's own last words, where volctl knows no cause further in.", text)),
  also: about('Other sentences that the line says.', list(sentenceName)),
  names: about('What the line names, the most telling first.', list(name)),
  otherNode: optional(
    about(
      'Another node that the line names, or on which it was written, and what that means.',
      object({ name: text, says: text }),
    ),
  ),
  main: optional(about('The one that the explanation is about.', name)),
}

const answer = object(ANSWER)

export interface LineAnswer extends ShapeOf<typeof answer> {}

/** Where it was asked. */
export const HEAD = {
  scope: optional(about('With --cluster; absent: of a node.', oneOf<'cluster'>('cluster'))),
  node: optional(about('Absent: the node could not be looked at.', text)),
  cluster: optional(about('With --cluster; absent: it could not be read.', cluster)),
  createdAt: optional(about('RFC 3339: when the node was looked at, or the reading of the cluster began.', text)),
}

const head = object(HEAD)

export interface LineHead extends ShapeOf<typeof head> {}

export const lineExplanationShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('LineExplanation'),
  line,
  ...HEAD,
  ...ANSWER,
  explanation: optional(
    about(
      'Of the most specific thing that was found.',
      either(asIn<Explanation>('explanation'), asIn<ClusterExplanation>('cluster-explanation')),
    ),
  ),
})

export interface LineExplanation extends ShapeOf<typeof lineExplanationShape> {}

/** A node or a cluster that explains lines and logs. */
export interface LineScope<Explained> {
  readonly head: LineHead
  /** @returns the answer; and what the most specific thing was explained as, where that can be asked for alone */
  readonly answer: (line: LogLine) => { readonly answer: LineAnswer; readonly explained?: Explained }
  /** What asks for one thing there. */
  readonly command: string
}

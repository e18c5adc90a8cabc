/** What findings are made of: a code with what is said, whose it is, what it follows from, and what a person can do. */
import { volctl } from '../base/command.ts'
import type { Place } from '../messages/code-entry.ts'
import { type Code, type CodesIn, codesIn } from '../messages/codes.ts'
import { said } from '../messages/findings.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import {
  count as anyCount,
  path as anyPath,
  code,
  keptRecord,
  list,
  object,
  optional,
  type Shape,
  type ShapeOf,
  scalar,
  text,
} from '../trust/shape.ts'
import type { RowKey, Subject } from './subject.ts'

export const path = named('path', anyPath)
export const count = named('count', anyCount)
/** CamelCase: one of the known codes; any in the schema. */
export function codeOf<Code extends string>(known: readonly Code[]): Shape<Code> {
  return named('code', about('CamelCase, from the catalogue in volctl-codes(7).', code(known)))
}

const arg = scalar<string | number | undefined>(
  (value) => value === undefined || typeof value === 'string' || Number.isFinite(value),
  'text or a number',
  { type: ['string', 'number'] },
)

export const args = optional(
  about('What the sentence in the message is made of, by name; absent: it is a sentence of its own.', keptRecord(arg)),
)

/** What is said with a code: of whatever is blocked, refused, waits or is a problem. */
export function finding<Where extends Place>(where: Where) {
  return { code: codeOf<CodesIn<Where>>(codesIn(where)), message: text, args, hint: optional(text) }
}

const podFields = object({ namespace: optional(text), name: optional(text), uid: text })

export interface PodRef extends ShapeOf<typeof podFields> {}

export const pod = named('pod', podFields)

/** Of what waits, and of a cause. */
export const until = maybe('RFC 3339: when it is over at the latest, where that is known.', text)

export const causeKey = maybe('Key of its cause in `summary.causes`.', text)

/** A process that uses what would be taken away. */
export const users = maybe(
  'Processes that use what would be taken away: those that `message` names, and those that it only counts.',
  list(object({ pid: anyCount, process: text })),
)

export const obstacle = object({ ...finding('blocked'), users, cause: causeKey })

export interface Blocked extends ShapeOf<typeof obstacle> {}

export const causeSubject = object({
  driver: optional(text),
  pod: optional(pod),
  /** By the name that screens use. */
  volume: optional(text),
  nodes: maybe('Of a cluster; of a volume the node that has or wants it.', list(text)),
  claim: maybe('namespace/name', text),
  attachment: optional(text),
  list: maybe('A list of the API, by its plural name.', text),
  object: maybe('What could not be read: "secrets shop/db", "section tree".', text),
  path: optional(text),
})

/** The one thing that a cause is a fact about: one of these, a volume maybe of a pod or on a node; nothing: the node or cluster as a whole. */
export interface CauseSubject extends ShapeOf<typeof causeSubject> {}

/** What a finding follows from, given where it is made; absent: its own code and subject are its cause. */
export interface Because {
  /** Absent: the finding's own. */
  readonly code?: Code
  /** Absent: what the finding is about. */
  readonly subject?: CauseSubject
  /** Of a volume as subject: whose it is. */
  readonly whose?: Subject
  /** It only follows: another finding has the words. */
  readonly follows?: true
  /** The hint in its parts: a sentence, which is the same for all such findings, and the command of this one. */
  readonly remedy?: readonly string[]
  /** The command of the remedy as data; `first`: it is the next step, once a person has done this. */
  readonly command?: { readonly argv: readonly string[]; readonly first?: string }
  /** A kubelet that starts ends it. */
  readonly byStart?: true
  /** It has the cause of what is said of this volume on this node, where that needs a person. */
  readonly row?: RowKey
}

export type Obstacle = Blocked & { readonly because?: Because }

/** S23: blocks an operation that is done only on request. @param flag the flag that asks for it */
export function notAsked(flag: string): Obstacle {
  return {
    ...said('NotAsked'),
    hint: `To ask for it: ${volctl('apply', flag)}`,
  }
}

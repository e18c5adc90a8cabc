/** What findings are made of: a code with what is said, whose it is, what it follows from, and what a person can do. */

import type { Place } from '../messages/code-entry.ts'
import { type Code, type CodesIn, codesIn } from '../messages/codes.ts'
import { advice, volctl } from '../messages/command.ts'
import { said } from '../messages/findings.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import {
  count as anyCount,
  path as anyPath,
  code,
  hint,
  keptRecord,
  list,
  object,
  oneOf,
  optional,
  type Shape,
  type ShapeOf,
  scalar,
  text,
} from '../trust/shape.ts'

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
  return { code: codeOf<CodesIn<Where>>(codesIn(where)), message: text, args, hint: optional(hint) }
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
    hint: advice`To ask for it: ${volctl('apply', flag)}`,
  }
}

// What a finding belongs to. Set where the finding is created; never inferred later.

/**
 * One volume on one node. Of this node's plan: its unique name, else its plugin and its name within its pod, else its path. Of a
 * cluster's: the node before that. Stable for the same state.
 */
export type RowKey = string

/** The UID under which the pod's directory is. */
export type PodUid = string

/**
 * What an operation, a wait, a problem or a decision is about: a volume, or one pod's part of it; a pod as a whole; a CSI driver; a
 * VolumeAttachment or an absolute path that is no volume's; the node. Of a cluster's plan also a volume on each of several nodes, nodes,
 * an object of the API, one of its lists, or the API itself.
 */
export type Subject =
  | { readonly row: RowKey; readonly pod?: PodUid }
  | { readonly pod: PodUid }
  | { readonly driver: string }
  | { readonly attachment: string }
  | { readonly path: string }
  | { readonly node: true }
  | { readonly rows: readonly RowKey[] }
  | { readonly nodes: readonly string[] }
  /** namespace/name */
  | { readonly claim: string }
  | { readonly list: string }
  | { readonly api: true }

export const THE_NODE: Subject = { node: true }

export function rowOf(subject: Subject | undefined): RowKey | undefined {
  return subject !== undefined && 'row' in subject ? subject.row : undefined
}

/** Each volume on a node that it is about. */
export function rowsOf(subject: Subject | undefined): readonly RowKey[] {
  if (subject === undefined) return []
  return 'row' in subject ? [subject.row] : 'rows' in subject ? subject.rows : []
}

/** True if both are of one volume, maybe of two pods. */
export function areOfOneRow(a: Subject | undefined, b: Subject | undefined): boolean {
  const row = rowOf(a)
  return row !== undefined && row === rowOf(b)
}

/** The pod whose part of a volume it is, or that it is about as a whole. */
export function podOf(subject: Subject | undefined): PodUid | undefined {
  return subject !== undefined && 'pod' in subject ? subject.pod : undefined
}

const row = about(
  'A volume: its unique name, else its plugin and pod, else its path; in a cluster\'s plan "NODE UNIQUE-NAME", else "NODE va/NAME". The same for the same state.',
  text,
)

const fields = object({
  row: optional(row),
  pod: maybe("UID: one pod's part of the volume; without one, the pod as a whole.", text),
  driver: maybe('A CSI driver.', text),
  attachment: maybe('A VolumeAttachment that is of no volume here.', text),
  path: maybe('Of no volume.', anyPath),
  node: optional(oneOf(true as const)),
  rows: maybe('A volume on each of these nodes.', list(row)),
  claim: maybe('namespace/name', text),
  nodes: optional(list(text)),
  list: maybe('A list of the API, by its plural name.', text),
  api: optional(oneOf(true as const)),
})

export const subject = named('subject', about('Whose it is: at least one of these.', fields as Shape<Subject>))

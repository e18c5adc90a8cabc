/** Causes: why something on a node is not as it should be, once for all that hangs on it (`summary.causes`). The same in both scopes. */
import { CAUSE_KINDS } from '../messages/code-entry.ts'
import { ALL_CODES, type Code } from '../messages/codes.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import { flag, keyOf, list, object, optional, type ShapeOf, text } from '../trust/shape.ts'
import { args, codeOf, count, pod, severity, until, users } from './operation-shape.ts'
import type { RowKey, Subject } from './subject.ts'

const causeSubject = object({
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

/** Consequences included. */
const affects = object({
  operations: about('Ids of operations of this plan.', list(text)),
  waiting: count,
  pods: list(pod),
  volumes: about('Volumes of no pod that is named.', list(text)),
})

const cause = about(
  'Why something is blocked, waits or is wrong: once for all that hangs on it.',
  object({
    /** Findings name it in `cause`. */
    key: about('Stable for the same state.', text),
    kind: keyOf(CAUSE_KINDS),
    subject: about('The one thing that it is a fact about; empty: the node or cluster as a whole.', causeSubject),
    /** `error` needs a person before something can be done, `warning` stops nothing, `info` passes in time or is asked for by a flag. */
    severity: about('By what it stops.', severity),
    /** Of the finding that says most. */
    code: codeOf(ALL_CODES),
    message: text,
    args,
    users,
    remedy: about(
      'What lifts it, as a person reads it: a sentence, and maybe the command that it ends with.',
      list(text),
    ),
    command: maybe(
      'The command of the remedy by its words, without the flags in force; `first`: it is the next step, once a person has done this.',
      object({ argv: list(text), first: optional(text) }),
    ),
    byStart: maybe('A kubelet that starts ends it.', flag),
    affects: about('What hangs on it.', affects),
    until,
  }),
)

export interface Cause extends ShapeOf<typeof cause> {}

export const causes = maybe(
  'Why things are blocked, wait or are wrong: those that stop most first.',
  list(named('cause', cause)),
)

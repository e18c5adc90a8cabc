/** Causes: why something on a node is not as it should be, once for all that hangs on it (`summary.causes`). The same in both scopes. */
import { CAUSE_KINDS } from '../messages/code-entry.ts'
import { ALL_CODES } from '../messages/codes.ts'
import { about, maybe, named } from '../trust/json-schema.ts'
import { flag, hint, keyOf, list, object, optional, type ShapeOf, text } from '../trust/shape.ts'
import { args, causeSubject, codeOf, count, pod, until, users } from '../volumes/finding.ts'
import { severity } from './operation-shape.ts'

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
      list(hint),
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

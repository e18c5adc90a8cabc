/** The shape of a plan's causes, the same in both scopes. */
import { CAUSE_KINDS, type CauseKind } from '../codes/cause-kinds.ts'
import { ALL_CODES } from '../codes/codes.ts'
import { about, named } from '../json/json-schema.ts'
import { list, object, oneOf, optional, text } from '../json/shape.ts'
import type { Cause, CauseAffects, CauseSubject } from './cause.ts'
import { codeOf, count, pod } from './operation-shape.ts'
import { until } from './plan-shape.ts'

const causeSubject = object<CauseSubject>({
  driver: optional(text),
  pod: optional(pod),
  volume: optional(text),
  object: optional(text),
  path: optional(text),
})

const affects = object<CauseAffects>({
  operations: about('Ids of operations of this plan.', list(text)),
  waiting: count,
  pods: list(pod),
  volumes: about('Volumes of no pod that is named.', list(text)),
})

const cause = about(
  'Why something is blocked, waits or is wrong: once for all that hangs on it.',
  object<Cause>({
    key: about('Stable for the same state.', text),
    kind: oneOf(...(Object.keys(CAUSE_KINDS) as CauseKind[])),
    subject: about('The one thing that it is a fact about; empty: the node or cluster as a whole.', causeSubject),
    severity: about('By what it stops.', oneOf('error', 'warning', 'info')),
    code: codeOf(ALL_CODES),
    message: text,
    remedy: about('What lifts it, as a person reads it.', list(text)),
    affects: about('What hangs on it.', affects),
    until,
  }),
)

export const causes = optional(
  about('Why things are blocked, wait or are wrong: those that stop most first.', list(named('cause', cause))),
)

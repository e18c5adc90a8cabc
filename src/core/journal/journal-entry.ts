/** The lines of a journal, as far as volctl reads them: fields and kinds of lines that other versions add are left out. */
import { anything, count, flag, integer, list, object, oneOf, optional, type ShapeOf, text } from '../json/shape.ts'
import { deleted, OUTCOME_STATES } from '../plan/apply-shape.ts'
import { podFields } from '../plan/operation-shape.ts'
import { OPERATION_KINDS } from '../plan/plan.ts'

/** `time` is RFC 3339, `run` is one for each apply. */
const line = { time: text, run: text }
const kind = oneOf(...OPERATION_KINDS)

/** Of an apply. Fields that journals of earlier versions lack are optional. */
const begin = object({
  ...line,
  node: text,
  rootDir: text,
  bootID: optional(text),
  plan: optional(text),
  plannedAt: optional(text),
  volctlVersion: optional(text),
  by: optional(object({ pid: integer, uid: integer, user: text, sudoUser: optional(text) })),
  planFile: optional(text),
  guards: optional(anything),
  /** Of an apply of the whole cluster. */
  cluster: optional(object({ server: text, uid: optional(text) })),
  /** Why anyone on the network path could have answered in the API server's place. */
  insecureApi: optional(text),
  /** The apply that died, and whose lock was taken over. */
  tookOverFrom: optional(object({ pid: integer, user: text, since: text })),
})

/** Of an operation that began; `message` says why it was planned. Reasons and codes are words: they may be of another version. */
const intent = object({
  id: text,
  kind,
  reason: optional(text),
  message: optional(text),
  pod: optional(podFields),
  volume: optional(object({ name: text, uniqueName: optional(text), handle: optional(text) })),
  /** Ops of any version: they are only shown. */
  steps: list(object({ op: text, target: text, detail: optional(text) })),
})

const outcome = object({
  id: text,
  kind,
  state: oneOf(...OUTCOME_STATES),
  code: optional(text),
  message: text,
  hint: optional(text),
  elapsedMs: count,
  pod: optional(podFields),
  volume: optional(text),
  deleted: optional(deleted),
})

export type Intent = ShapeOf<typeof intent>
export type JournalOutcome = ShapeOf<typeof outcome>

/** By the line's type; this version knows no others. */
export const LINES = {
  begin,
  intent: object({ ...line, operations: list(intent) }),
  stateFile: object({ ...line, operation: text, path: text, content: text }),
  lazy: object({ ...line, operation: text, path: text, dev: text }),
  outcome: object({ ...line, outcomes: list(outcome) }),
  /** The kubelet was stopped for the apply; the timer starts it, if the apply does not. */
  stop: object({ ...line, unit: text, timer: text, limitMs: count }),
  start: object({ ...line, unit: text, downMs: count, runs: flag }),
  end: object({ ...line, exit: integer, interrupted: flag }),
} as const

export type JournalLine = {
  [Type in keyof typeof LINES]: { readonly type: Type } & ShapeOf<(typeof LINES)[Type]>
}[keyof typeof LINES]

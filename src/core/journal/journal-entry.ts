/** The lines of a journal, as far as volctl reads them: fields that other versions add are left out. */

import { anything, count, flag, integer, list, object, oneOf, optional, text } from '../json/shape.ts'
import type { Outcome, OutcomeState } from '../plan/events.ts'
import { OPERATION_KINDS, type PodRef } from '../plan/plan.ts'

interface Line {
  /** RFC 3339. */
  readonly time: string
  /** One for each apply. */
  readonly run: string
}

export interface JournalUser {
  readonly pid: number
  readonly uid: number
  readonly user: string
  readonly sudoUser?: string
}

/** Fields that journals of earlier versions lack are optional. */
export interface BeginLine extends Line {
  readonly node: string
  readonly rootDir: string
  readonly bootID?: string
  readonly plan?: string
  readonly plannedAt?: string
  readonly volctlVersion?: string
  readonly by?: JournalUser
  readonly planFile?: string
  readonly guards?: unknown
  /** Of an apply of the whole cluster. */
  readonly cluster?: { readonly server: string; readonly uid?: string }
  /** Why anyone on the network path could have answered in the API server's place. */
  readonly insecureApi?: string
  /** The apply that died, and whose lock was taken over. */
  readonly tookOverFrom?: { readonly pid: number; readonly user: string; readonly since: string }
}

/** Reasons and codes are words: a journal may be of another version of volctl. */
export interface Intent {
  readonly id: string
  readonly kind: Outcome['kind']
  readonly reason?: string
  readonly message?: string
  readonly pod?: PodRef
  readonly volume?: { readonly name: string; readonly uniqueName?: string; readonly handle?: string }
  /** Ops of any version: they are only shown. */
  readonly steps: readonly { readonly op: string; readonly target: string; readonly detail?: string }[]
}

export interface JournalOutcome {
  readonly id: string
  readonly kind: Outcome['kind']
  readonly state: OutcomeState
  readonly code?: string
  readonly message: string
  readonly hint?: string
  readonly elapsedMs: number
  readonly pod?: PodRef
  readonly volume?: string
  readonly deleted?: { readonly files: number; readonly bytes: number }
}

export interface StateFileLine extends Line {
  readonly operation: string
  readonly path: string
  readonly content: string
}

export interface LazyLine extends Line {
  readonly operation: string
  readonly path: string
  readonly dev: string
}

/** The kubelet was stopped for the apply. */
export interface StopLine extends Line {
  readonly unit: string
  /** What starts it, if the apply does not. */
  readonly timer: string
  readonly limitMs: number
}

export interface StartLine extends Line {
  readonly unit: string
  readonly downMs: number
  readonly runs: boolean
}

export interface EndLine extends Line {
  readonly exit: number
  readonly interrupted: boolean
}

const line = { time: text, run: text }
const kind = oneOf(...OPERATION_KINDS)
const pod = object<PodRef>({ namespace: optional(text), name: optional(text), uid: text })

const deleted = object<NonNullable<JournalOutcome['deleted']>>({ files: count, bytes: count })

/** For an operation that began; `message` says why it was planned. */
export const INTENT = {
  id: text,
  kind,
  reason: optional(text),
  message: optional(text),
  pod: optional(pod),
  volume: optional(
    object<NonNullable<Intent['volume']>>({ name: text, uniqueName: optional(text), handle: optional(text) }),
  ),
  steps: list(object<Intent['steps'][number]>({ op: text, target: text, detail: optional(text) })),
} as const

export const OUTCOME = {
  id: text,
  kind,
  state: oneOf<OutcomeState>('done', 'failed', 'blocked', 'refused', 'skipped', 'interrupted'),
  code: optional(text),
  message: text,
  hint: optional(text),
  elapsedMs: count,
  pod: optional(pod),
  volume: optional(text),
  deleted: optional(deleted),
} as const

/** Of an apply, without the time of its line. */
export const BEGIN = {
  run: text,
  node: text,
  rootDir: text,
  bootID: optional(text),
  plan: optional(text),
  plannedAt: optional(text),
  volctlVersion: optional(text),
  by: optional(object<JournalUser>({ pid: integer, uid: integer, user: text, sudoUser: optional(text) })),
  planFile: optional(text),
  // For an unknown type, every shape is one.
  guards: optional(anything) as never,
  cluster: optional(object<NonNullable<BeginLine['cluster']>>({ server: text, uid: optional(text) })),
  insecureApi: optional(text),
  tookOverFrom: optional(object<NonNullable<BeginLine['tookOverFrom']>>({ pid: integer, user: text, since: text })),
} as const

/** By the line's type; this version knows no others. */
export const LINES = {
  begin: object<BeginLine>({ time: text, ...BEGIN }),
  intent: object<Line & { readonly operations: readonly Intent[] }>({
    ...line,
    operations: list(object<Intent>(INTENT)),
  }),
  stateFile: object<StateFileLine>({ ...line, operation: text, path: text, content: text }),
  lazy: object<LazyLine>({ ...line, operation: text, path: text, dev: text }),
  outcome: object<Line & { readonly outcomes: readonly JournalOutcome[] }>({
    ...line,
    outcomes: list(object<JournalOutcome>(OUTCOME)),
  }),
  stop: object<StopLine>({ ...line, unit: text, timer: text, limitMs: count }),
  start: object<StartLine>({ ...line, unit: text, downMs: count, runs: flag }),
  end: object<EndLine>({ ...line, exit: integer, interrupted: flag }),
} as const

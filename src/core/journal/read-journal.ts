/**
 * Reads the journal in a directory, the newest file first and no more of them than are asked for. It is shown as what happened, so only
 * root may have written it: a file that somebody else could have written is not read (S33). Fields and kinds of lines that other
 * versions add are left out.
 */
import { closeSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { unreadText } from '../files/disk-trouble.ts'
import {
  anything,
  count,
  flag,
  integer,
  list,
  object,
  oneOf,
  optional,
  ShapeError,
  type ShapeOf,
  text,
} from '../json/shape.ts'
import { defined } from '../lang/defined.ts'
import { ownValue } from '../lang/own-value.ts'
import { deleted, OUTCOME_STATES } from '../plan/apply-shape.ts'
import { podFields } from '../plan/operation-shape.ts'
import { OPERATION_KINDS } from '../plan/plan.ts'
import { NotTrusted, openKept, openTrustedDirectory, requireOneName, TRUST_HINT } from '../trust/files.ts'
import { readToLimit } from '../trust/plain-files.ts'
import { JOURNAL_FILE, KEPT_FILES } from './write-journal.ts'

const begin = object({
  node: text,
  rootDir: text,
  bootID: optional(text),
  plan: optional(text),
  plannedAt: optional(text),
  volctlVersion: optional(text),
  by: optional(object({ pid: integer, uid: integer, user: text, sudoUser: optional(text) })),
  planFile: optional(text),
  guards: optional(anything),
  cluster: optional(object({ server: text, uid: optional(text) })),
  insecureApi: optional(text),
  tookOverFrom: optional(object({ pid: integer, user: text, since: text })),
})

/** What its intent and its outcome have in common. Reasons, codes and ops are words: they may be of another version. */
const operation = { id: text, kind: oneOf(...OPERATION_KINDS), pod: optional(podFields) }
const intent = object({
  ...operation,
  reason: optional(text),
  message: optional(text),
  volume: optional(object({ name: text })),
  steps: list(object({ op: text, target: text, detail: optional(text) })),
})
const outcome = object({
  ...operation,
  state: oneOf(...OUTCOME_STATES),
  code: optional(text),
  message: text,
  hint: optional(text),
  elapsedMs: count,
  volume: optional(text),
  deleted: optional(deleted),
})

/** By the line's type. Each also has `time` (RFC 3339), and `run`, one for each apply. */
const LINES = {
  begin,
  intent: object({ operations: list(intent) }),
  stateFile: object({ operation: text, path: text, content: text }),
  lazy: object({ operation: text, path: text }),
  outcome: object({ outcomes: list(outcome) }),
  stop: object({ unit: text }),
  start: object({ downMs: count, runs: flag }),
  end: object({ exit: integer, interrupted: flag }),
} as const
const head = object({ time: text, run: text })

type Line = {
  [Type in keyof typeof LINES]: { readonly type: Type } & ShapeOf<(typeof LINES)[Type]>
}[keyof typeof LINES] &
  ShapeOf<typeof head>

export interface PastOperation
  extends Partial<Omit<ShapeOf<typeof intent>, 'volume'>>,
    Partial<Omit<ShapeOf<typeof outcome>, 'state'>> {
  readonly id: string
  readonly kind: ShapeOf<typeof outcome>['kind']
  /** unfinished: it was begun, and the apply died, or is at work. */
  readonly state: ShapeOf<typeof outcome>['state'] | 'unfinished'
  /** RFC 3339: when it was written down; absent: it never began. */
  readonly begunAt?: string
  /** Why it was planned; `message` says how it ended. */
  readonly why?: string
  /** State files that it removed, with what was in them. */
  readonly stateFiles?: readonly { readonly path: string; readonly content: string }[]
  /** What it detached lazily. */
  readonly lazy?: readonly string[]
}

export interface PastApply extends ShapeOf<typeof begin> {
  readonly run: string
  /** RFC 3339. */
  readonly begunAt: string
  /** RFC 3339; absent: it was killed, or is at work. */
  readonly endedAt?: string
  readonly exit?: number
  readonly interrupted?: boolean
  /** How the kubelet was stopped for it (--stop-kubelet); without `startedAt`, systemd starts it. */
  readonly kubelet?: {
    readonly unit: string
    readonly stoppedAt: string
    readonly startedAt?: string
    readonly downMs?: number
    readonly runs?: boolean
  }
  readonly operations: readonly PastOperation[]
}

/** Oldest first. `damaged`: lines that cannot be read, of the files that were read, with their numbers from 1. */
export interface PastApplies {
  readonly applies: readonly PastApply[]
  readonly damaged: readonly { readonly file: string; readonly line: number; readonly why: string }[]
}

/** `last`: how many of the newest, 0 for all; `plan`: the beginning of a plan's ID. */
export interface Wanted {
  readonly last?: number
  readonly plan?: string
}

/** Of one file (S34): an apply of 100,000 operations makes one of 200 MB. */
const MAX_BYTES = 400 * 1024 * 1024

/** @returns none where there is no journal @throws VolctlError FileUnreadable */
export function readJournal(directory: string, { last = 0, plan = '' }: Wanted = {}): PastApplies {
  let found: PastApplies = { applies: [], damaged: [] }
  let path = directory
  let place: number | undefined
  try {
    place = openTrustedDirectory(directory)
    for (const suffix of ['', ...Array.from({ length: KEPT_FILES }, (_, index) => `.${index + 1}`)]) {
      path = `${directory}/${JOURNAL_FILE}${suffix}`
      const { applies, damaged } = toldBy(linesOf(place, `${JOURNAL_FILE}${suffix}`), `${JOURNAL_FILE}${suffix}`)
      const wanted = applies.filter((apply) => (apply.plan ?? '').startsWith(plan))
      // Of none (-0) the slice is whole.
      found = { applies: [...wanted, ...found.applies].slice(-last), damaged: [...damaged, ...found.damaged] }
      // An apply is in one file: a journal is put aside before one begins.
      if (last > 0 && found.applies.length === last) break
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw unreadable(path, error)
  } finally {
    if (place !== undefined) closeSync(place)
  }
  return found
}

function linesOf(directory: number, name: string): string[] {
  let fd: number | undefined
  try {
    const file = openKept(directory, name)
    fd = file.fd
    requireOneName(file.stats)
    return readToLimit(fd, MAX_BYTES).toString('utf8').split('\n')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function toldBy(lines: readonly string[], file: string): PastApplies {
  const applies = new Map<string, { apply: PastApply; readonly operations: Map<string, PastOperation> }>()
  const damaged: PastApplies['damaged'][number][] = []
  for (const [index, each] of lines.entries()) {
    if (each.trim() === '') continue
    const line = lineOf(each)
    if (typeof line === 'string') damaged.push({ file, line: index + 1, why: line })
    else if (line?.type === 'begin') {
      const { type: _, time: begunAt, ...begun } = line
      applies.set(line.run, { apply: { ...begun, begunAt, operations: [] }, operations: new Map() })
    } else if (line !== undefined) {
      const told = applies.get(line.run)
      if (told !== undefined) told.apply = { ...told.apply, ...addedBy(line, told.operations, told.apply) }
    }
  }
  const all = [...applies.values()].map(({ apply, operations }) => ({ ...apply, operations: [...operations.values()] }))
  return { applies: all, damaged }
}

/** @returns undefined: of a later version; as text, what is wrong with it */
function lineOf(text: string): Line | string | undefined {
  let entry: { readonly type?: unknown } | null
  try {
    entry = JSON.parse(text)
  } catch {
    return 'not JSON: cut off by a crash, or by an apply that is still writing'
  }
  const type = String(entry?.type)
  const shape = ownValue(LINES as Readonly<Record<string, (value: unknown, at: string) => object>>, type)
  try {
    return shape && ({ ...shape(entry, ''), ...head(entry, ''), type } as Line)
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
}

/** Adds to the operations what a line says of them. @returns what it says of the apply */
function addedBy(line: Line, operations: Map<string, PastOperation>, { kubelet }: PastApply): Partial<PastApply> {
  const { time } = line
  const about = 'operation' in line ? operations.get(line.operation) : undefined
  if (line.type === 'intent') {
    for (const { message: why, volume, ...each } of line.operations)
      operations.set(each.id, {
        ...each,
        ...{ begunAt: time, state: 'unfinished' },
        ...defined({ volume: volume?.name, why }),
      })
  } else if (line.type === 'outcome') {
    for (const each of line.outcomes) operations.set(each.id, { ...operations.get(each.id), ...each })
  } else if (line.type === 'stateFile' && about !== undefined) {
    const { path, content } = line
    operations.set(about.id, { ...about, stateFiles: [...(about.stateFiles ?? []), { path, content }] })
  } else if (line.type === 'lazy' && about !== undefined) {
    operations.set(about.id, { ...about, lazy: [...(about.lazy ?? []), line.path] })
  } else if (line.type === 'stop') return { kubelet: { unit: line.unit, stoppedAt: time } }
  else if (line.type === 'start' && kubelet !== undefined)
    return { kubelet: { ...kubelet, startedAt: time, downMs: line.downMs, runs: line.runs } }
  else if (line.type === 'end') return { endedAt: time, exit: line.exit, interrupted: line.interrupted }
  return {}
}

function unreadable(path: string, error: unknown): VolctlError {
  const isDenied = errnoOf(error) === 'EACCES'
  const why = isDenied ? 'permission denied' : unreadText(error)
  const hint = error instanceof NotTrusted ? TRUST_HINT : 'Give the journal directory with --journal.'
  return new VolctlError('FileUnreadable', `the journal ${path} cannot be read: ${why}`, {
    cause: error,
    hint: isDenied ? 'Only root can read the journal: sudo volctl journal' : hint,
  })
}

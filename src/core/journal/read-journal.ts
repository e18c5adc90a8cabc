/**
 * Reads the journal in a directory, the newest file first and no more of them than are asked for. It is shown as what happened, so only
 * root may have written it: a file that somebody else could have written is not read (S33). A line is what an apply has written, or was
 * cut off; kinds of lines that other versions add are left out.
 */
import { closeSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { unreadText } from '../files/disk-trouble.ts'
import { defined } from '../lang/defined.ts'
import type { Outcome } from '../plan/events.ts'
import type { Operation } from '../plan/plan.ts'
import { NotTrusted, openKept, openTrustedDirectory, requireOneName, TRUST_HINT } from '../trust/files.ts'
import { readToLimit } from '../trust/plain-files.ts'
import { JOURNAL_FILE, type JournalEntry, KEPT_FILES } from './write-journal.ts'

/** `time` is RFC 3339; `run`, one for each apply. */
type Line = JournalEntry & { readonly time: string; readonly run: string }

type Intent = Pick<Operation, 'id' | 'kind' | 'pod' | 'reason' | 'message' | 'steps'> & {
  readonly volume?: { name: string }
}

export interface PastOperation
  extends Pick<Intent, 'id' | 'kind' | 'pod'>,
    Partial<Pick<Intent, 'reason' | 'steps'>>,
    Partial<Omit<Outcome, 'id' | 'kind' | 'state'>> {
  readonly volume?: string
  /** unfinished: it was begun, and the apply died, or is at work. */
  readonly state: Outcome['state'] | 'unfinished'
  /** RFC 3339: when it was written down; absent: it never began. */
  readonly begunAt?: string
  /** Why it was planned; `message` says how it ended. */
  readonly why?: string
  /** State files that it removed, with what was in them. */
  readonly stateFiles?: readonly { readonly path: string; readonly content: string }[]
  /** What it detached lazily. */
  readonly lazy?: readonly string[]
}

export interface PastApply extends Omit<Extract<JournalEntry, { type: 'begin' }>, 'type'> {
  readonly run: string
  /** RFC 3339. */
  readonly begunAt: string
  /** RFC 3339; absent: it was killed, or is at work. */
  endedAt?: string
  exit?: number
  interrupted?: boolean
  /** How the kubelet was stopped for it (--stop-kubelet); without `startedAt`, systemd starts it. */
  kubelet?: {
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

/** `last`: how many of the newest, 0 for all; `plan`: the beginning of a plan's ID; `maxBytes`: of one file. */
export interface Wanted {
  readonly last?: number
  readonly plan?: string
  readonly maxBytes?: number
}

/** Of one file (S34): an apply of 100,000 operations makes one of 200 MB. */
const MAX_BYTES = 400 * 1024 * 1024

/** @returns none where there is no journal @throws VolctlError FileUnreadable */
export function readJournal(
  directory: string,
  { last = 0, plan = '', maxBytes = MAX_BYTES }: Wanted = {},
): PastApplies {
  let found: PastApplies = { applies: [], damaged: [] }
  let path = directory
  let place: number | undefined
  try {
    place = openTrustedDirectory(directory)
    for (const suffix of ['', ...Array.from({ length: KEPT_FILES }, (_, index) => `.${index + 1}`)]) {
      path = `${directory}/${JOURNAL_FILE}${suffix}`
      const { applies, damaged } = toldBy(
        linesOf(place, `${JOURNAL_FILE}${suffix}`, maxBytes),
        `${JOURNAL_FILE}${suffix}`,
      )
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

function linesOf(directory: number, name: string, maxBytes: number): string[] {
  let fd: number | undefined
  try {
    const file = openKept(directory, name)
    fd = file.fd
    requireOneName(file.stats)
    return readToLimit(fd, maxBytes).toString('utf8').split('\n')
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

function toldBy(lines: readonly string[], file: string): PastApplies {
  const told = new Map<string, Told>()
  const damaged: PastApplies['damaged'][number][] = []
  for (const [index, each] of lines.entries()) {
    try {
      if (each.trim() !== '') tell(told, JSON.parse(each))
    } catch {
      damaged.push({ file, line: index + 1, why: 'cut off by a crash, or by an apply that is still writing' })
    }
  }
  return { applies: [...told.values()].map(({ apply, by }) => ({ ...apply, operations: [...by.values()] })), damaged }
}

/** An apply, and its operations by their IDs. */
interface Told {
  readonly apply: PastApply
  readonly by: Map<string, PastOperation>
}

/** @throws where it is no line of an apply */
function tell(told: Map<string, Told>, line: Line): void {
  if (line?.type === 'begin') {
    const { type: _, time: begunAt, ...begun } = line
    told.set(line.run, { apply: { ...begun, begunAt, operations: [] }, by: new Map() })
    return
  }
  const found = told.get(line?.run)
  if (found === undefined) return
  const { apply, by } = found
  const { time } = line
  const about = 'operation' in line ? by.get(line.operation) : undefined
  if (line.type === 'intent') {
    for (const { id, kind, pod, reason, message: why, volume, steps } of line.operations as readonly Intent[])
      by.set(id, {
        id,
        kind,
        reason,
        begunAt: time,
        state: 'unfinished',
        steps,
        why,
        ...defined({ pod, volume: volume?.name }),
      })
  } else if (line.type === 'outcome') {
    for (const each of line.outcomes as readonly Outcome[]) by.set(each.id, { ...by.get(each.id), ...each })
  } else if (line.type === 'stateFile' && about !== undefined) {
    const { path, content } = line
    by.set(about.id, { ...about, stateFiles: [...(about.stateFiles ?? []), { path, content }] })
  } else if (line.type === 'lazy' && about !== undefined) {
    by.set(about.id, { ...about, lazy: [...(about.lazy ?? []), line.path] })
  } else if (line.type === 'stop') apply.kubelet = { unit: line.unit, stoppedAt: time }
  else if (line.type === 'start' && apply.kubelet !== undefined)
    apply.kubelet = { ...apply.kubelet, startedAt: time, downMs: line.downMs, runs: line.runs }
  else if (line.type === 'end') Object.assign(apply, { endedAt: time, exit: line.exit, interrupted: line.interrupted })
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

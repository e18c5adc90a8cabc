/**
 * Reads the journal in a directory. It is shown as what happened, so only root may have written it: a file that somebody else
 * could have written is not read (S33). The journal is read line by line, and only what was asked for is kept (S34).
 */
import { closeSync } from 'node:fs'
import { errnoOf, VolctlError } from '../errors/errors.ts'
import { unreadText } from '../files/disk-trouble.ts'
import { ShapeError, type ShapeOf } from '../json/shape.ts'
import { defined } from '../lang/defined.ts'
import { ownValue } from '../lang/own-value.ts'
import { NotTrusted, openKept, openTrustedDirectory, requireOneName, TRUST_HINT } from '../trust/files.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { type Intent, type JournalLine, type JournalOutcome, LINES } from './journal-entry.ts'
import { readLines } from './read-lines.ts'
import { JOURNAL_FILE, KEPT_FILES } from './write-journal.ts'

export interface PastOperation extends Partial<Omit<Intent, 'volume'>>, Partial<Omit<JournalOutcome, 'state'>> {
  readonly id: string
  readonly kind: Intent['kind']
  /** unfinished: it was begun, and the apply died, or is at work. */
  readonly state: JournalOutcome['state'] | 'unfinished'
  /** RFC 3339: when it was written down; absent: it never began. */
  readonly begunAt?: string
  /** Why it was planned; `message` says how it ended. */
  readonly why?: string
  /** State files that it removed, with what was in them. */
  readonly stateFiles?: readonly { readonly path: string; readonly content: string }[]
  /** What it detached lazily. */
  readonly lazy?: readonly string[]
}

export interface PastApply extends Omit<ShapeOf<typeof LINES.begin>, 'time'> {
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

/** A line that cannot be read. `line` is its number, from 1. */
export interface DamagedLine {
  readonly file: string
  readonly line: number
  readonly why: string
}

/** Oldest first. */
export interface PastApplies {
  readonly applies: readonly PastApply[]
  readonly damaged: readonly DamagedLine[]
}

/** Which applies are wanted: the others are not kept while the rest is read. */
export interface Wanted {
  /** How many of the newest; 0: all. */
  readonly last?: number
  /** The beginning of a plan's ID. */
  readonly plan?: string
  /** Characters of lines whose applies may be kept at once. */
  readonly maxKept?: number
}

/** All operations of a batch are one line: 5000 operations of 1500 characters each. */
const MAX_LINE_BYTES = 32 * 1024 * 1024
/** Of one file: an apply of 100,000 operations makes one of 200 MB. */
const MAX_BYTES = 1024 * 1024 * 1024
/** Such an apply still fits. */
const MAX_KEPT = 200 * 1024 * 1024
/** Whoever needs more of them reads the file itself. */
const MAX_DAMAGED = 1000

/** @returns none where there is no journal; of rotated files, too @throws VolctlError FileUnreadable */
export function readJournal(directory: string, wanted: Wanted = {}): PastApplies {
  const reading = new Reading(wanted)
  let path = directory
  let place: number | undefined
  try {
    place = openTrustedDirectory(directory)
    const aside = Array.from({ length: KEPT_FILES }, (_, index) => `${JOURNAL_FILE}.${KEPT_FILES - index}`)
    for (const name of [...aside, JOURNAL_FILE]) {
      path = `${directory}/${name}`
      readFile(place, name, reading)
    }
  } catch (error) {
    // The directory is missing; a file that is missing was passed over.
    if (errnoOf(error) !== 'ENOENT')
      throw errnoOf(error) === 'EACCES' ? denied(directory, error) : unreadable(path, error)
  } finally {
    if (place !== undefined) closeSync(place)
  }
  return reading.finish()
}

function readFile(directory: number, name: string, reading: Reading): void {
  const file = openIfThere(directory, name)
  if (file === undefined) return
  try {
    requireOneName(file.stats)
    if (file.stats.size > MAX_BYTES) throw new TooLarge(`is larger than ${MAX_BYTES} bytes`)
    let number = 0
    for (const line of readLines(file.fd, MAX_LINE_BYTES)) reading.take(line, name, ++number)
  } finally {
    closeSync(file.fd)
  }
}

function openIfThere(directory: number, name: string): ReturnType<typeof openKept> | undefined {
  try {
    return openKept(directory, name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** An apply while its lines are read. */
interface Apply {
  head: Omit<PastApply, 'operations'>
  readonly operations: Map<string, PastOperation>
  /** Size of the lines that are kept for it. */
  size: number
}

class Reading {
  readonly #wanted: Wanted
  readonly #applies = new Map<string, Apply>()
  readonly #damaged: DamagedLine[] = []
  #kept = 0

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  finish(): PastApplies {
    const applies = [...this.#applies.values()]
    return {
      applies: applies.map(({ head, operations }) => ({ ...head, operations: [...operations.values()] })),
      damaged: this.#damaged,
    }
  }

  /** @param text with its newline; undefined: it is too long */
  take(text: string | undefined, file: string, number: number): void {
    if (text?.trim() === '') return
    const line = lineOf(text)
    if (typeof line === 'string') {
      if (this.#damaged.length < MAX_DAMAGED) this.#damaged.push({ file, line: number, why: line })
    } else if (line !== undefined) this.#add(line, text?.length ?? 0)
  }

  #add(line: JournalLine, size: number): void {
    if (line.type === 'begin') this.#begin(line)
    // Without its apply: that is not wanted, or its beginning was in a file that has been deleted.
    const apply = this.#applies.get(line.run)
    if (apply === undefined) return
    addTo(apply, line)
    apply.size += size
    this.#kept += size
    if (this.#kept > (this.#wanted.maxKept ?? MAX_KEPT))
      throw new TooLarge('has more than volctl can show at once (see --last and --plan)')
  }

  #begin({ type: _, time: begunAt, ...begin }: JournalLine & { readonly type: 'begin' }): void {
    const { last = 0, plan = '' } = this.#wanted
    if (!(begin.plan ?? '').startsWith(plan)) return
    this.#applies.set(begin.run, { head: { begunAt, ...begin }, operations: new Map(), size: 0 })
    const [oldest] = this.#applies
    if (last === 0 || this.#applies.size <= last || oldest === undefined) return
    this.#applies.delete(oldest[0])
    this.#kept -= oldest[1].size
  }
}

/** @returns undefined: of a later version; as text, what is wrong with it */
function lineOf(text: string | undefined): JournalLine | string | undefined {
  if (text === undefined) return 'longer than any line that apply writes'
  let entry: { readonly type?: unknown } | null
  try {
    entry = JSON.parse(text)
  } catch {
    return text.endsWith('\n') ? 'not JSON' : 'cut off by a crash, or by an apply that is still writing'
  }
  const type = String(entry?.type)
  const shape = ownValue(LINES as Readonly<Record<string, (value: unknown, at: string) => object>>, type)
  try {
    return shape && ({ ...shape(entry, ''), type } as JournalLine)
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
}

function addTo(apply: Apply, line: JournalLine): void {
  const { operations, head } = apply
  const found = 'operation' in line ? operations.get(line.operation) : undefined
  if (line.type === 'intent') {
    for (const { message: why, volume, ...intent } of line.operations)
      operations.set(intent.id, {
        ...intent,
        ...{ begunAt: line.time, state: 'unfinished' },
        ...defined({ volume: volume?.name, why }),
      })
  } else if (line.type === 'outcome') {
    for (const outcome of line.outcomes) operations.set(outcome.id, { ...operations.get(outcome.id), ...outcome })
  } else if (line.type === 'stateFile' && found !== undefined) {
    const { path, content } = line
    operations.set(found.id, { ...found, stateFiles: [...(found.stateFiles ?? []), { path, content }] })
  } else if (line.type === 'lazy' && found !== undefined) {
    operations.set(found.id, { ...found, lazy: [...(found.lazy ?? []), line.path] })
  } else if (line.type === 'stop') {
    apply.head = { ...head, kubelet: { unit: line.unit, stoppedAt: line.time } }
  } else if (line.type === 'start' && head.kubelet !== undefined) {
    const { time: startedAt, downMs, runs } = line
    apply.head = { ...head, kubelet: { ...head.kubelet, startedAt, downMs, runs } }
  } else if (line.type === 'end') {
    const { time: endedAt, exit, interrupted } = line
    apply.head = { ...head, endedAt, exit, interrupted }
  }
}

function unreadable(path: string, error: unknown): VolctlError {
  return new VolctlError('FileUnreadable', `the journal ${path} cannot be read: ${unreadText(error)}`, {
    cause: error,
    hint: error instanceof NotTrusted ? TRUST_HINT : 'Give the journal directory with --journal.',
  })
}

function denied(directory: string, cause: unknown): VolctlError {
  return new VolctlError('FileUnreadable', `the journal in ${directory} cannot be read: permission denied`, {
    cause,
    hint: 'Only root can read the journal: sudo volctl journal',
  })
}

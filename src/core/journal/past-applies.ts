/** From the lines of a journal to the applies that they record, oldest first. Pure. */

import { about, named } from '../json/json-schema.ts'
import {
  count,
  flag,
  integer,
  list,
  type ObjectOf,
  object,
  oneOf,
  optional,
  ShapeError,
  type ShapeOf,
  text,
} from '../json/shape.ts'
import { defined } from '../lang/defined.ts'
import { ownValue } from '../lang/own-value.ts'
import { OUTCOME_STATES } from '../plan/apply-shape.ts'
import {
  BEGIN,
  type BeginLine,
  type EndLine,
  INTENT,
  type Intent,
  type JournalOutcome,
  LINES,
  OUTCOME,
} from './journal-entry.ts'
import type { Line } from './read-lines.ts'

const pastOperation = object({
  id: text,
  kind: INTENT.kind,
  reason: INTENT.reason,
  pod: INTENT.pod,
  volume: optional(about('The spec name.', text)),
  steps: optional(INTENT.steps),
  begunAt: optional(about('RFC 3339: when it was written down; absent: it never began.', text)),
  why: optional(about('Why it was planned.', text)),
  state: about('unfinished: it was begun, and the apply died, or is at work.', oneOf(...OUTCOME_STATES, 'unfinished')),
  code: OUTCOME.code,
  message: optional(about('How it ended.', text)),
  hint: OUTCOME.hint,
  elapsedMs: optional(about('Milliseconds.', OUTCOME.elapsedMs)),
  deleted: OUTCOME.deleted,
  stateFiles: optional(
    about('State files that it removed, with what was in them.', list(object({ path: text, content: text }))),
  ),
  lazy: optional(about('What it detached lazily.', list(text))),
})

export interface PastOperation extends ShapeOf<typeof pastOperation> {}

const pastApply = object({
  begunAt: about('RFC 3339.', text),
  ...BEGIN,
  endedAt: optional(about('RFC 3339; absent: it was killed, or is at work.', text)),
  exit: optional(about('The exit status.', integer)),
  interrupted: optional(flag),
  kubelet: optional(
    about(
      'How the kubelet was stopped for it (--stop-kubelet).',
      object({
        unit: text,
        stoppedAt: about('RFC 3339: just before the stop.', text),
        startedAt: optional(about('RFC 3339; absent: the apply was killed, or is at work. systemd starts it.', text)),
        downMs: optional(about('Milliseconds.', count)),
        runs: optional(flag),
      }),
    ),
  ),
  operations: list<PastOperation>(named('operation', pastOperation)),
})

export interface PastApply extends ShapeOf<typeof pastApply> {}

type PastStop = NonNullable<PastApply['kubelet']>

const damaged = object({ file: text, line: about('From 1.', count), why: text })

/** A line that cannot be read. */
export interface DamagedLine extends ShapeOf<typeof damaged> {}

export const PAST_APPLIES = {
  applies: list<PastApply>(named('apply', pastApply)),
  damaged: about('Lines that cannot be read.', list<DamagedLine>(named('damagedLine', damaged))),
}

export interface PastApplies extends ObjectOf<typeof PAST_APPLIES> {}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

interface Apply {
  readonly begin: BeginLine
  readonly operations: Map<string, Writable<PastOperation>>
  kubelet?: PastStop
  end?: EndLine
  /** Size of the lines that are kept for this apply. */
  bytes: number
}

/** One file of a journal. */
export interface JournalPart {
  readonly name: string
  readonly lines: Iterable<Line>
}

/** Which applies are wanted: the others are not kept while the rest is read. */
export interface Wanted {
  /** How many of the newest; 0: all. */
  readonly last: number
  /** Beginnings of ids; empty: any. */
  readonly plan: string
  readonly operation: string
  /** Characters of lines that may be kept at once. */
  readonly maxKept: number
}

export const EVERYTHING: Wanted = { last: 0, plan: '', operation: '', maxKept: Number.POSITIVE_INFINITY }

/** The applies that are wanted exceed `maxKept`. */
export class TooMuch extends Error {}

/**
 * @param files oldest first
 * @throws TooMuch
 */
export function pastApplies(files: Iterable<JournalPart>, wanted: Wanted = EVERYTHING): PastApplies {
  const reading = new Reading(wanted)
  for (const { name, lines } of files) {
    let number = 0
    for (const line of lines) {
      number++
      const why = line === undefined ? 'longer than any line that apply writes' : reading.take(line)
      if (why === undefined) continue
      const cutOff = why === NOT_JSON && line?.endsWith('\n') === false
      reading.damage({
        file: name,
        line: number,
        why: cutOff ? 'cut off by a crash, or by an apply that is still writing' : why,
      })
    }
  }
  return reading.finish()
}

const NOT_JSON = 'not JSON'
/** Whoever needs more of them reads the file itself. */
const MAX_DAMAGED = 1000

class Reading {
  readonly #wanted: Wanted
  readonly #applies = new Map<string, Apply>()
  readonly #damaged: DamagedLine[] = []
  #kept = 0

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  /** @returns what is wrong with the line */
  take(line: string): string | undefined {
    if (line.trim() === '') return undefined
    const before = this.#applies.size
    const taken = takeLine(line, this.#applies, this.#wanted)
    if (typeof taken === 'string') return taken
    if (taken === undefined) return undefined
    const kept = line.length * taken.share
    taken.apply.bytes += kept
    this.#kept += kept
    if (this.#applies.size > before) this.#forgetOldest()
    if (this.#kept > this.#wanted.maxKept) throw new TooMuch()
    return undefined
  }

  damage(damaged: DamagedLine): void {
    if (this.#damaged.length < MAX_DAMAGED) this.#damaged.push(damaged)
  }

  finish(): PastApplies {
    const { last, operation } = this.#wanted
    const applies = [...this.#applies.values()].filter(({ operations }) => operation === '' || operations.size > 0)
    return { applies: applies.slice(-last).map(finished), damaged: this.#damaged }
  }

  /** Only the newest are wanted; if one operation is wanted, it is not known yet which applies contain it. */
  #forgetOldest(): void {
    const { last, operation } = this.#wanted
    if (last === 0 || operation !== '') return
    for (const [run, { bytes }] of this.#applies) {
      if (this.#applies.size <= last) return
      this.#applies.delete(run)
      this.#kept -= bytes
    }
  }
}

interface Taken {
  readonly apply: Apply
  /** How much of the line is kept, from 0 to 1. */
  readonly share: number
}

/** @returns what is wrong with the line, or how much of the line is kept */
function takeLine(line: string, applies: Map<string, Apply>, wanted: Wanted): string | Taken | undefined {
  let entry: { readonly type?: unknown } | null
  try {
    entry = JSON.parse(line)
  } catch {
    return NOT_JSON
  }
  try {
    const type = String(entry?.type)
    const shape = ownValue(LINES as Readonly<Record<string, (value: unknown, at: string) => unknown>>, type)
    return shape === undefined ? undefined : take(type, shape(entry, ''), applies, wanted)
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
}

type Read<Type extends keyof typeof LINES> = ReturnType<(typeof LINES)[Type]>

function take(type: string, line: unknown, applies: Map<string, Apply>, wanted: Wanted): Taken | undefined {
  if (type === 'begin') {
    const begin = line as Read<'begin'>
    if (!(begin.plan ?? '').startsWith(wanted.plan)) return undefined
    const apply: Apply = { begin, operations: new Map(), bytes: 0 }
    applies.set(begin.run, apply)
    return { apply, share: 1 }
  }
  // The beginning of this apply was in a journal that has been deleted, or the apply is not wanted.
  const apply = applies.get((line as { run: string }).run)
  return apply === undefined ? undefined : { apply, share: addTo(apply, type, line, wanted.operation) }
}

/** @returns how much of the line is kept, from 0 to 1 */
function addTo(apply: Apply, type: string, line: unknown, wanted: string): number {
  if (type === 'intent') {
    const { time, operations } = line as Read<'intent'>
    const found = operations.filter(({ id }) => id.startsWith(wanted))
    for (const operation of found) apply.operations.set(operation.id, begun(operation, time))
    return shareOf(found, operations)
  }
  if (type === 'outcome') {
    const { outcomes } = line as Read<'outcome'>
    const found = outcomes.filter(({ id }) => id.startsWith(wanted))
    for (const outcome of found) endOperation(apply, outcome)
    return shareOf(found, outcomes)
  }
  if (type === 'stateFile') {
    const { operation, path, content } = line as Read<'stateFile'>
    const found = apply.operations.get(operation)
    if (found !== undefined) found.stateFiles = [...(found.stateFiles ?? []), { path, content }]
  } else if (type === 'lazy') {
    const { operation, path } = line as Read<'lazy'>
    const found = apply.operations.get(operation)
    if (found !== undefined) found.lazy = [...(found.lazy ?? []), path]
  } else if (type === 'stop') {
    const { time: stoppedAt, unit } = line as Read<'stop'>
    apply.kubelet = { unit, stoppedAt }
  } else if (type === 'start' && apply.kubelet !== undefined) {
    const { time: startedAt, downMs, runs } = line as Read<'start'>
    apply.kubelet = { ...apply.kubelet, startedAt, downMs, runs }
  } else if (type === 'end') apply.end = line as Read<'end'>
  return 1
}

function shareOf(some: readonly unknown[], all: readonly unknown[]): number {
  return all.length === 0 ? 1 : some.length / all.length
}

function begun({ message: why, volume, ...intent }: Intent, begunAt: string): PastOperation {
  return {
    ...intent,
    begunAt,
    ...defined({ volume: volume?.name, why }),
    state: 'unfinished',
  }
}

function endOperation({ operations }: Apply, outcome: JournalOutcome): void {
  operations.set(outcome.id, { ...operations.get(outcome.id), ...outcome })
}

function finished({ begin: { time: begunAt, ...begin }, operations, kubelet, end }: Apply): PastApply {
  return {
    begunAt,
    ...begin,
    ...(end === undefined ? {} : { endedAt: end.time, exit: end.exit, interrupted: end.interrupted }),
    ...defined({ kubelet }),
    operations: [...operations.values()],
  }
}

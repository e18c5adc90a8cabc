/** From the lines of a journal to the applies that they tell of, oldest first. Pure. */
import type { OutcomeState } from '../apply/events.ts'
import { ownValue } from '../own-value.ts'
import { ShapeError } from '../shape.ts'
import { type BeginLine, type EndLine, type Intent, type JournalOutcome, LINES } from './journal-entry.ts'

/** unfinished: it was begun, and the apply died. */
export type PastState = OutcomeState | 'unfinished'

export interface PastOperation extends Omit<Partial<Intent>, 'id' | 'kind' | 'message' | 'volume'> {
  readonly id: string
  readonly kind: Intent['kind']
  /** RFC 3339: when it was written down, which is before it began; refused ones never begin. */
  readonly begunAt?: string
  readonly volume?: string
  /** Why it was planned. */
  readonly why?: string
  readonly state: PastState
  readonly code?: string
  /** How it ended. */
  readonly message?: string
  readonly hint?: string
  readonly elapsedMs?: number
  readonly deleted?: { readonly files: number; readonly bytes: number }
  /** State files that it removed, with what was in them. */
  readonly stateFiles?: readonly { readonly path: string; readonly content: string }[]
  /** What it detached lazily. */
  readonly lazy?: readonly string[]
}

export interface PastApply extends Omit<BeginLine, 'time'> {
  /** RFC 3339. */
  readonly begunAt: string
  /** Absent: it was killed, or is at work. */
  readonly endedAt?: string
  readonly exit?: number
  readonly interrupted?: boolean
  readonly operations: readonly PastOperation[]
}

/** A line that cannot be read. */
export interface DamagedLine {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly why: string
}

export interface PastApplies {
  readonly applies: readonly PastApply[]
  readonly damaged: readonly DamagedLine[]
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

interface Apply {
  readonly begin: BeginLine
  readonly operations: Map<string, Writable<PastOperation>>
  end?: EndLine
}

/** @param files text by name, oldest first */
export function pastApplies(files: readonly { readonly name: string; readonly text: string }[]): PastApplies {
  const applies = new Map<string, Apply>()
  const damaged: DamagedLine[] = []
  for (const { name, text } of files) {
    const lines = text.split('\n')
    for (const [index, line] of lines.entries()) {
      if (line === '') continue
      const why = takeLine(line, applies)
      if (why === undefined) continue
      const cutOff = why === NOT_JSON && index === lines.length - 1
      damaged.push({ file: name, line: index + 1, why: cutOff ? 'it is cut off: a crash, or an apply at work' : why })
    }
  }
  return { applies: [...applies.values()].map(finished), damaged }
}

const NOT_JSON = 'it is not JSON'

/** @returns what is wrong with the line */
function takeLine(line: string, applies: Map<string, Apply>): string | undefined {
  let entry: { readonly type?: unknown } | null
  try {
    entry = JSON.parse(line)
  } catch {
    return NOT_JSON
  }
  try {
    const type = String(entry?.type)
    const shape = ownValue(LINES as Readonly<Record<string, (value: unknown, at: string) => unknown>>, type)
    if (shape !== undefined) take(type, shape(entry, ''), applies)
    return undefined
  } catch (error) {
    if (error instanceof ShapeError) return error.message
    throw error
  }
}

type Read<Type extends keyof typeof LINES> = ReturnType<(typeof LINES)[Type]>

function take(type: string, line: unknown, applies: Map<string, Apply>): void {
  if (type === 'begin') {
    const begin = line as Read<'begin'>
    applies.set(begin.run, { begin, operations: new Map() })
    return
  }
  // Its beginning was in a journal that has been thrown away.
  const apply = applies.get((line as { run: string }).run)
  if (apply === undefined) return
  if (type === 'intent') {
    const { time, operations } = line as Read<'intent'>
    for (const operation of operations) apply.operations.set(operation.id, begun(operation, time))
  } else if (type === 'outcome') {
    for (const outcome of (line as Read<'outcome'>).outcomes) endOperation(apply, outcome)
  } else if (type === 'stateFile') {
    const { operation, path, content } = line as Read<'stateFile'>
    const found = apply.operations.get(operation)
    if (found !== undefined) found.stateFiles = [...(found.stateFiles ?? []), { path, content }]
  } else if (type === 'lazy') {
    const { operation, path } = line as Read<'lazy'>
    const found = apply.operations.get(operation)
    if (found !== undefined) found.lazy = [...(found.lazy ?? []), path]
  } else if (type === 'end') apply.end = line as Read<'end'>
}

function begun({ message: why, volume, ...intent }: Intent, begunAt: string): PastOperation {
  return {
    ...intent,
    begunAt,
    ...(volume === undefined ? {} : { volume: volume.name }),
    ...(why === undefined ? {} : { why }),
    state: 'unfinished',
  }
}

function endOperation({ operations }: Apply, outcome: JournalOutcome): void {
  operations.set(outcome.id, { ...operations.get(outcome.id), ...outcome })
}

function finished({ begin: { time: begunAt, ...begin }, operations, end }: Apply): PastApply {
  return {
    begunAt,
    ...begin,
    ...(end === undefined ? {} : { endedAt: end.time, exit: end.exit, interrupted: end.interrupted }),
    operations: [...operations.values()],
  }
}

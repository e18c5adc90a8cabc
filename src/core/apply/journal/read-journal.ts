/**
 * Reads the journal in a directory, the newest file first and no more of them than are asked for. It is shown as what happened, so only
 * root may have written it (S33). A line is what an apply has written, or was cut off by a crash, or by an apply that is still writing;
 * kinds of lines that other versions add are left out.
 */

import { unreadText } from '../../messages/disk-trouble.ts'
import { said, VolctlError } from '../../messages/findings.ts'
import { linesOf } from '../../node/read-lazily-detached.ts'
import type { KubeletDowntime, Outcome } from '../../plan/events.ts'
import type { Operation } from '../../plan/plan.ts'
import { NotTrusted, TRUST_HINT } from '../../trust/files.ts'
import { JOURNAL_FILE, type JournalEntry, KEPT_FILES } from './write-journal.ts'

type Entry<Type> = Omit<Extract<JournalEntry, { type: Type }>, 'type'>

/** `why` it was planned, and as `message` how it ended; unfinished: the apply died, or is at work. Times are RFC 3339. */
export interface PastOperation
  extends Pick<Operation, 'id' | 'kind' | 'pod'>,
    Partial<Pick<Operation, 'reason' | 'steps'> & Omit<Outcome, 'id' | 'kind' | 'state'>> {
  readonly state: Outcome['state'] | 'unfinished'
  readonly volume?: string
  readonly begunAt?: string
  readonly why?: string
  /** That it removed, with what was in them. */
  readonly stateFiles?: Omit<Entry<'stateFile'>, 'operation'>[]
}

/** Without an end it was killed, or is at work. */
export interface PastApply extends Entry<'begin'>, Partial<Entry<'end'>> {
  readonly run: string
  readonly begunAt: string
  readonly endedAt?: string
  /** How the kubelet was stopped for it (--stop-kubelet); without `startedAt`, systemd starts it. */
  readonly kubelet?: Partial<KubeletDowntime & { readonly startedAt: string }>
  readonly operations: readonly PastOperation[]
}

/** Oldest first; and the lines that cannot be read, of the files that were read, with their numbers from 1. */
export interface PastApplies {
  readonly applies: readonly PastApply[]
  readonly damaged: readonly { readonly file: string; readonly line: number }[]
}

/** Of one file (S34): an apply of 100,000 operations makes one of 200 MB. */
const MAX_BYTES = 400 * 1024 * 1024

/**
 * @param last how many of the newest, 0 for all @param plan the beginning of a plan's ID
 * @throws VolctlError FileUnreadable; without a journal there are no applies
 */
export function readJournal(directory: string, last = 0, plan = '', maxBytes = MAX_BYTES): PastApplies {
  let found: PastApplies = { applies: [], damaged: [] }
  // An apply is in one file: a journal is put aside before one begins.
  for (let kept = 0; kept <= KEPT_FILES && (last === 0 || found.applies.length < last); kept++) {
    const { applies, damaged } = readFile(directory, kept === 0 ? JOURNAL_FILE : `${JOURNAL_FILE}.${kept}`, maxBytes)
    const ofPlan = applies.filter((apply) => (apply.plan ?? '').startsWith(plan))
    // Of none (-0) the slice is whole.
    found = { applies: [...ofPlan, ...found.applies].slice(-last), damaged: [...damaged, ...found.damaged] }
  }
  return found
}

function readFile(directory: string, file: string, maxBytes: number): PastApplies {
  const runs: Runs = new Map()
  try {
    const damaged = linesOf(directory, file, maxBytes).flatMap((line, index) => {
      try {
        // It may be null.
        if (line.trim() !== '') note(runs, { ...JSON.parse(line) })
        return []
      } catch {
        return [{ file, line: index + 1 }]
      }
    })
    return { applies: [...runs.values()].map(([apply, by]) => ({ ...apply, operations: [...by.values()] })), damaged }
  } catch (cause) {
    const hint = cause instanceof NotTrusted ? TRUST_HINT : 'Only root can read it; --journal names another directory.'
    throw new VolctlError(said('FileUnreadable.journal', { directory, file, why: unreadText(cause) }), { cause, hint })
  }
}

/** Applies by their runs, with their operations by their IDs. */
type Runs = Map<string, [apply: Omit<PastApply, 'operations'>, by: Map<string, PastOperation>]>

/** @throws where the line lacks what one of its kind has */
function note(runs: Runs, line: JournalEntry & { readonly time: string; readonly run: string }): void {
  const { run, time } = line
  if (line.type === 'begin') {
    const { type: _, time: begunAt, ...begun } = line
    runs.set(run, [{ ...begun, begunAt }, new Map()])
  }
  const [apply, by] = runs.get(run) ?? []
  if (apply === undefined || by === undefined) return
  const add = (more: Partial<PastApply>): unknown => runs.set(run, [{ ...apply, ...more }, by])
  if (line.type === 'intent')
    for (const { message: why, volume, id, kind, reason, pod, steps } of line.operations as readonly Operation[]) {
      const begun = { id, kind, reason, begunAt: time, state: 'unfinished', steps, why } as const
      by.set(id, { ...begun, stateFiles: [], pod, volume: volume?.name })
    }
  if (line.type === 'outcome')
    for (const each of line.outcomes as readonly Outcome[]) by.set(each.id, { ...by.get(each.id), ...each })
  if (line.type === 'stateFile') by.get(line.operation)?.stateFiles?.push({ path: line.path, content: line.content })
  if (line.type === 'stop') add({ kubelet: { unit: line.unit, stoppedAt: time } })
  if (line.type === 'start')
    add({ kubelet: { ...apply.kubelet, startedAt: time, downMs: line.downMs, runs: line.runs } })
  if (line.type === 'end') add({ endedAt: time, exit: line.exit, interrupted: line.interrupted })
}

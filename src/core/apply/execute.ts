/**
 * Carries out a plan, of a node or of a cluster: what both have in common. Other applies are kept out by then, everything has been read
 * again, and each operation that no longer matches is refused (S26). The journal is opened before the first change (S14). At the end
 * everything is read once more, to report what is left to do.
 */

import { entryOf } from '../messages/codes.ts'
import { CameBack, ExitStatus, errorMessage, type VolctlError } from '../messages/findings.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import {
  type ApplyEvent,
  type ApplyResult,
  isFulfilled,
  note,
  type Outcome,
  operationEvent,
  saidOf,
} from '../plan/events.ts'
import type { Refusal, ReviewedPlan } from '../plan/plan.ts'
import { invoker } from '../trust/invoker.ts'
import { ALREADY_DONE, type FoundAgain } from './find-again.ts'
import type { Journal, JournalEntry } from './journal/write-journal.ts'
import { type AnyPlan, type Run, subjectOf } from './operation/run.ts'

type Begin = Extract<JournalEntry, { readonly type: 'begin' }>

/** An apply after its first look. */
export interface Begun<Op extends AnyOperation, Made extends AnyPlan<Op>> {
  readonly what: 'node' | 'cluster'
  /** The plan of this look: what is left as long as nothing was changed. */
  readonly fresh: Made
  /** The reviewed operations as they are now. */
  readonly found: readonly FoundAgain<Op>[]
  readonly run: Run<Op>
  /** Carries out, or settles, every operation that has no outcome yet. */
  runAll(): Promise<void>
  /** Plans once more. */
  lookAfter(): Promise<Made>
}

/**
 * @param id of the plan, as in the journal
 * @throws VolctlError why the run stopped before it changed anything, unless that is a refusal
 */
export async function execute<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  id: string,
  begun: Begun<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult<Op, Made>> {
  const { run, found } = begun
  using journal = run.journal
  for (const each of found) settleBeforehand(each, run)
  await begun.runAll()
  const { stop, changedSomething, isInterrupted: interrupted } = run
  const outcomes = found.flatMap(({ operation }) => run.outcomes.get(operation.id) ?? [])
  const refused = interrupted || changedSomething || stop === undefined ? undefined : refusalOf(stop)
  const after = interrupted ? undefined : await lookAfter(begun, onEvent)
  if (refused === undefined) for (const operation of after?.operations ?? []) onEvent(leftEvent(operation))
  const wholly = refused === undefined ? exitStatusOf(outcomes) : ExitStatus.Refused
  const exit = interrupted ? ExitStatus.Interrupted : wholly
  run.flushOutcomes()
  endJournal(journal, { exit, interrupted }, onEvent)
  return { plan: id, outcomes, left: after?.operations, after, interrupted, refused, exit }
}

/** The first entry of a journal. @param beginning what is said of the node or the cluster */
export function firstEntry(
  plan: string,
  { createdAt: plannedAt, volctlVersion }: Pick<ReviewedPlan, 'createdAt' | 'volctlVersion'>,
  beginning: Pick<Begin, 'node' | 'rootDir'> & Partial<Begin>,
): Begin {
  return { type: 'begin', plan, plannedAt, volctlVersion, by: invoker(), ...beginning }
}

/**
 * Opened where any operation may be carried out.
 *
 * @throws VolctlError JournalFailed; then nothing was changed
 */
export function journalFor(found: readonly FoundAgain<AnyOperation>[], open: () => Journal, first: Begin): Journal {
  const willRun = found.some(({ operation, refused }) => refused === undefined && operation.blocked === undefined)
  const journal = willRun ? open() : NO_JOURNAL
  try {
    journal.write(first)
    return journal
  } catch (error) {
    journal[Symbol.dispose]()
    throw error
  }
}

const NO_JOURNAL: Journal = { write: () => {}, [Symbol.dispose]: () => {} }

function settleBeforehand<Op extends AnyOperation>(
  { operation, refused, differences }: FoundAgain<Op>,
  run: Run<Op>,
): void {
  const { blocked } = operation
  if (blocked !== undefined) {
    run.settle(operation, 'blocked', saidOf(blocked))
    return
  }
  const isDone = refused === ALREADY_DONE
  // Such an operation ends as one that was not begun: what the last look lacks is no reason then.
  if (refused === undefined || (run.isStopping && !isDone)) return
  run.settle(operation, isDone ? 'skipped' : 'refused', { ...saidOf(refused), differences })
}

/** Undefined: it failed. */
async function lookAfter<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  begun: Begun<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<Made | undefined> {
  if (!begun.run.changedSomething) return begun.fresh
  const planCommand = begun.what === 'cluster' ? 'volctl plan --cluster' : 'volctl plan'
  try {
    return await begun.lookAfter()
  } catch (error) {
    onEvent(
      note(`the ${begun.what} could not be read after the apply: ${errorMessage(error)}`, {
        code: 'ReadFailed',
        hint: `Run ${planCommand} to see what is left to do.`,
      }),
    )
    return undefined
  }
}

/** Writes the last entry of an apply. A failure only makes a message: everything has been done by then. */
export function endJournal(
  journal: Journal,
  { exit, interrupted }: Pick<ApplyResult, 'exit' | 'interrupted'>,
  onEvent: (event: ApplyEvent) => void,
): void {
  try {
    journal.write({ type: 'end', exit, interrupted })
  } catch (error) {
    onEvent(note(errorMessage(error), { code: 'JournalFailed' }))
  }
}

/** Once an apply has begun, only somebody else who does this work refuses it as a whole (S11). */
function refusalOf(stop: VolctlError): Refusal {
  if (!(stop instanceof CameBack)) throw stop
  return { rule: 'S11', ...saidOf(stop) }
}

/** The event of an operation that is still to be done after the apply. */
function leftEvent(operation: AnyOperation): ApplyEvent {
  const { blocked } = operation
  return operationEvent('left', subjectOf(operation), (blocked ?? operation).message, blocked && saidOf(blocked))
}

/** The result of an apply that a safety rule refuses before anything is done. */
export function refuseAll<Op extends AnyOperation>(
  plan: string,
  { operations }: AnyPlan<Op>,
  refused: Refusal,
  onEvent: (event: ApplyEvent) => void,
): ApplyResult<Op, never> {
  const { code, message, args } = refused
  onEvent(note(message, saidOf(refused)))
  const outcomes = operations.map(
    ({ id, kind }): Outcome => ({ id, kind, state: 'refused', code, message, args, elapsedMs: 0 }),
  )
  return { plan, outcomes, left: operations, interrupted: false, refused, exit: ExitStatus.Refused }
}

/** From outcomes to the exit status of an apply that was not interrupted (contract, "Exit status"). */
function exitStatusOf(outcomes: readonly Outcome[]): ExitStatus {
  // Nobody asked for it, or for what it comes after.
  const isUnasked = ({ state, code }: Outcome): boolean =>
    (state === 'blocked' || state === 'skipped') && entryOf(code)?.onRequest === true
  return outcomes.every((each) => isFulfilled(each) || isUnasked(each)) ? ExitStatus.Ok : ExitStatus.Partial
}

/**
 * Carries out a plan, of a node or of a cluster: what both have in common.
 *
 * Other applies are kept out. Everything is read again, and each operation that no longer matches is refused (S26). The journal is
 * opened before the first change (S14). At the end everything is read once more, to report what is left to do.
 */

import { errorMessage } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { invoker } from '../linux/invoker.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import type { Journal, JournalEntry } from '../plan/documents/write-journal.ts'
import { type ApplyEvent, type ApplyResult, note } from '../plan/events.ts'
import type { Refusal } from '../plan/plan.ts'
import type { FoundAgain } from './find-again.ts'
import { conclude, refuseAll } from './operation/conclude.ts'
import type { AnyPlan, Run } from './operation/run.ts'

/** A plan that was reviewed: made just now, or read from a file. */
interface Reviewed<Op extends AnyOperation> extends AnyPlan<Op> {
  readonly createdAt: string
  readonly volctlVersion: string
}

type Begin = Extract<JournalEntry, { readonly type: 'begin' }>
export type Beginning = Pick<Begin, 'node' | 'rootDir'> & Partial<Begin>

/** Where a plan is carried out. */
export interface Scope<Op extends AnyOperation, Made extends AnyPlan<Op>> {
  /** What is read, and the command that reads it, for messages. */
  readonly words: { readonly what: string; readonly planCommand: string }
  /** @throws VolctlError Locked */
  lock(): Held<Op, Made> | Promise<Held<Op, Made>>
  /** Undefined: this apply has none. */
  openJournal(): Journal | undefined
}

/** Keeps other applies out until it is disposed of. */
interface Held<Op extends AnyOperation, Made extends AnyPlan<Op>> extends AsyncDisposable {
  /** The apply that died with it, in words. */
  readonly takenOver: { readonly message: string; readonly hint: string } | undefined
  lookAgain(): Promise<Looked<Op, Made>>
}

/** What was read again. */
export interface Looked<Op extends AnyOperation, Made extends AnyPlan<Op>> {
  /** The plan of this look: what is left as long as nothing was changed. */
  readonly fresh: Made
  /** Opened before the look, with its first entry. */
  readonly journal?: Journal
  /** The reviewed operations as they are now. @throws VolctlError if the plan is not of this node or cluster */
  compare(): readonly FoundAgain<Op>[]
  /** What the journal's first entry says of the scope. */
  beginning(): Beginning
  /** @param operations those of the plan, as they will be carried out */
  start(operations: readonly Op[], journal: Journal): Started<Op, Made>
}

interface Started<Op extends AnyOperation, Made extends AnyPlan<Op>> {
  readonly run: Run<Op>
  /** Carries out, or settles, every operation that has no outcome yet. */
  runAll(): Promise<void>
  /** Plans once more. */
  lookAfter(): Promise<Made>
}

/**
 * @param id of the plan, as in the journal
 * @throws VolctlError Locked, JournalFailed, or a failed look; then nothing was changed
 */
export async function execute<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  id: string,
  plan: Reviewed<Op>,
  scope: Scope<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult<Op, Made>> {
  await using held = await scope.lock()
  const { takenOver } = held
  if (takenOver !== undefined) onEvent(note(takenOver.message, { code: 'Locked', hint: takenOver.hint }))
  const begun = await begin(id, plan, scope, held)
  if ('refused' in begun) return refuseAll(id, plan, begun.refused, onEvent)
  const { started, fresh, found } = begun
  const { run } = started
  using journal = run.journal
  for (const each of found) settleBeforehand(each, run)
  await started.runAll()
  const after = () => lookAfter(scope, started, onEvent)
  const result = { plan: id, ...(await conclude(plan, fresh, run, after, onEvent)) }
  run.flushOutcomes()
  endJournal(journal, result, onEvent)
  return result
}

/** A separate function: memory then keeps of the look only what the run keeps. That of a large cluster takes most of it. */
async function begin<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  id: string,
  plan: Reviewed<Op>,
  scope: Scope<Op, Made>,
  held: Held<Op, Made>,
): Promise<
  | { readonly started: Started<Op, Made>; readonly fresh: Made; readonly found: readonly FoundAgain<Op>[] }
  | { readonly refused: Refusal }
> {
  const looked = await held.lookAgain()
  const { fresh } = looked
  if (fresh.refused !== undefined) return { refused: fresh.refused }
  const found = looked.compare()
  const willRun = found.some(({ operation, refused }) => refused === undefined && operation.blocked === undefined)
  const journal = looked.journal ?? (willRun ? scope.openJournal() : undefined) ?? NO_JOURNAL
  try {
    if (looked.journal === undefined) journal.write(firstEntry(id, plan, looked.beginning()))
    const operations = found.map(({ operation }) => operation)
    return { started: looked.start(operations, journal), fresh, found }
  } catch (error) {
    journal[Symbol.dispose]()
    throw error
  }
}

/** The first entry of a journal. @param beginning what the scope adds */
export function firstEntry(
  plan: string,
  { createdAt: plannedAt, volctlVersion }: Pick<Reviewed<never>, 'createdAt' | 'volctlVersion'>,
  beginning: Beginning,
): Begin {
  return { type: 'begin', plan, plannedAt, volctlVersion, by: invoker(), ...beginning }
}

const NO_JOURNAL: Journal = { write: () => {}, [Symbol.dispose]: () => {} }

function settleBeforehand<Op extends AnyOperation>(
  { operation, refused, alreadyDone, differences }: FoundAgain<Op>,
  run: Run<Op>,
): void {
  const reason = operation.blocked ?? refused
  if (reason === undefined) return
  // Such an operation ends as one that was not begun: what the last look lacks is no reason then.
  if (run.isStopping && operation.blocked === undefined && alreadyDone !== true) return
  const { code, message, hint } = reason
  const unblocked = alreadyDone ? 'skipped' : 'refused'
  const state = operation.blocked === undefined ? unblocked : 'blocked'
  run.settle(operation, state, { code, message, ...omitUndefined({ hint, differences }) })
}

async function lookAfter<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  { words: { what, planCommand } }: Scope<Op, Made>,
  started: Started<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<Made | undefined> {
  try {
    return await started.lookAfter()
  } catch (error) {
    onEvent(
      note(`the ${what} could not be read after the apply: ${errorMessage(error)}`, {
        code: 'ReadFailed',
        hint: `Run ${planCommand} to see what is left to do.`,
      }),
    )
    return undefined
  }
}

/** Writes the last entry of an apply. A failure only makes a message: everything has been done by then. */
function endJournal(
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

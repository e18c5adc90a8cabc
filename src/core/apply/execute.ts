/**
 * Carries out a plan, of a node or of a cluster: what both have in common. Other applies are kept out by then, everything has been read
 * again, and each operation that no longer matches is refused (S26). The journal is opened before the first change (S14). At the end
 * everything is read once more, to report what is left to do.
 */

import { errorMessage } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import { invoker } from '../linux/invoker.ts'
import type { AnyOperation } from '../plan/cluster-plan.ts'
import type { Journal, JournalEntry } from '../plan/documents/write-journal.ts'
import { type ApplyEvent, type ApplyResult, note } from '../plan/events.ts'
import type { FoundAgain } from './find-again.ts'
import { conclude } from './operation/conclude.ts'
import type { AnyPlan, Run } from './operation/run.ts'

/** A plan that was reviewed: made just now, or read from a file. */
interface Reviewed<Op extends AnyOperation> extends AnyPlan<Op> {
  readonly createdAt: string
  readonly volctlVersion: string
}

type Begin = Extract<JournalEntry, { readonly type: 'begin' }>

/** An apply after its first look. */
export interface Begun<Op extends AnyOperation, Made extends AnyPlan<Op>> {
  /** What is read, and the command that reads it, for messages. */
  readonly words: { readonly what: string; readonly planCommand: string }
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

/** @param id of the plan, as in the journal */
export async function execute<Op extends AnyOperation, Made extends AnyPlan<Op>>(
  id: string,
  plan: AnyPlan<Op>,
  begun: Begun<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult<Op, Made>> {
  const { run, fresh, found } = begun
  using journal = run.journal
  for (const each of found) settleBeforehand(each, run)
  await begun.runAll()
  const result = { plan: id, ...(await conclude(plan, fresh, run, () => lookAfter(begun, onEvent), onEvent)) }
  run.flushOutcomes()
  endJournal(journal, result, onEvent)
  return result
}

/** The first entry of a journal. @param beginning what is said of the node or the cluster */
export function firstEntry(
  plan: string,
  { createdAt: plannedAt, volctlVersion }: Pick<Reviewed<never>, 'createdAt' | 'volctlVersion'>,
  beginning: Pick<Begin, 'node' | 'rootDir'> & Partial<Begin>,
): Begin {
  return { type: 'begin', plan, plannedAt, volctlVersion, by: invoker(), ...beginning }
}

/**
 * Opened where any operation may be carried out.
 *
 * @param open gives undefined where this apply has none
 * @throws VolctlError JournalFailed; then nothing was changed
 */
export function journalFor(
  found: readonly Pick<FoundAgain<AnyOperation>, 'operation' | 'refused'>[],
  open: () => Journal | undefined,
  first: Begin,
): Journal {
  const willRun = found.some(({ operation, refused }) => refused === undefined && operation.blocked === undefined)
  const journal = (willRun ? open() : undefined) ?? NO_JOURNAL
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
  begun: Begun<Op, Made>,
  onEvent: (event: ApplyEvent) => void,
): Promise<Made | undefined> {
  const { what, planCommand } = begun.words
  try {
    return await begun.lookAfter()
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

/**
 * Carries out a plan: the only code that changes a node.
 *
 * The node is read again first, and each operation that no longer matches is refused (S26). Then every operation whose
 * predecessors are done runs as soon as no other operation works on its volume or pod. A failure skips only the operations
 * that depend on it. At the end the node is read once more, to report what is left to do.
 */

import { errorMessage } from '../errors/errors.ts'
import { DEFAULT_JOURNAL_DIR } from '../journal/lazy-memory.ts'
import { type Journal, type JournalEntry, openJournal, spokenJournal } from '../journal/write-journal.ts'
import { defined } from '../lang/defined.ts'
import { type ApplyEvent, type ApplyResult, note } from '../plan/events.ts'
import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { planId } from '../plan/plan-id.ts'
import { invoker } from '../processes/invoker.ts'
import { ApplyRun } from './apply-run.ts'
import { type FoundAgain, findAgain, requireSameNode } from './conditions/find-again.ts'
import { defaultLockFile, type Lock, takeLock } from './lock.ts'
import { conclude, endJournal, refuseAll } from './operation/conclude.ts'
import type { ApplyContext } from './operation/ports.ts'
import { runAll } from './run-all.ts'

/**
 * @param plan the plan that was reviewed: made just now, or read from a file
 * @throws VolctlError Locked, LockFailed, JournalFailed, OtherNode, PlanTooOld, or a failed look; then nothing was changed
 */
export async function applyPlan(
  plan: ReviewedPlan,
  context: ApplyContext,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult> {
  const id = planId(plan)
  if (plan.refused !== undefined) return refuseAll(id, plan, plan.refused, onEvent)
  using lock = takeLock(context.lockFile ?? defaultLockFile(plan.rootDir))
  sayTakenOver(lock, onEvent)
  const fresh = await freshPlan(plan, context)
  if (fresh.refused !== undefined) return refuseAll(id, plan, fresh.refused, onEvent)
  requireSameNode(plan, fresh)
  const found = findAgain(plan, fresh, context.isDone)
  const willRun = found.some(({ operation, refused }) => refused === undefined && operation.blocked === undefined)
  using journal = willRun ? openJournalOf(context, onEvent) : NO_JOURNAL
  journal.write(beginning(id, plan, fresh, context, lock))
  const operations = found.map(({ operation }) => operation)
  const apply = new ApplyRun(fresh, operations, context, journal, onEvent)
  settleBeforehand(found, apply)
  await runAll(apply, context)
  const ended = {
    outcomes: apply.outcomes,
    interrupted: context.signal?.aborted === true || context.abandon?.aborted === true,
    stop: apply.stop,
    changedSomething: apply.changedSomething,
    lookAfter: () => lookAfter(context, onEvent),
    subjectOf: (operation: Operation) => operation,
  }
  const result = { plan: id, ...(await conclude(plan, fresh, ended, onEvent)) }
  apply.flushOutcomes()
  endJournal(journal, result, onEvent)
  return result
}

async function freshPlan(plan: ReviewedPlan, context: ApplyContext): Promise<Plan> {
  const { freshPlan, planIsFresh } = context
  if (freshPlan !== undefined) return freshPlan
  return planIsFresh && isWhole(plan) ? plan : context.replan(await context.look())
}

function isWhole(plan: ReviewedPlan): plan is Plan {
  return 'summary' in plan
}

function sayTakenOver({ takenOverFrom }: Lock, onEvent: (event: ApplyEvent) => void): void {
  if (takenOverFrom === undefined) return
  const { pid, user, since } = takenOverFrom
  const message = `took over the lock of an apply that died: pid ${pid} of ${user}, since ${since}`
  onEvent(
    note(message, { code: 'StaleLock', hint: 'volctl journal lists the operations that it began and did not finish.' }),
  )
}

function openJournalOf(context: ApplyContext, onEvent: (event: ApplyEvent) => void): Journal {
  const { journalDir = DEFAULT_JOURNAL_DIR, lazyDir = journalDir, noJournal = false } = context
  if (noJournal) return spokenJournal(lazyDir, (line) => onEvent(note(line, { code: 'NoJournal' })))
  return openJournal(journalDir, { lazyDirectory: lazyDir })
}

function beginning(
  id: string,
  plan: ReviewedPlan,
  { inputs: { api } }: Plan,
  { guards, planFile }: ApplyContext,
  lock: Lock,
): JournalEntry {
  const { node, rootDir, bootID, createdAt, volctlVersion } = plan
  const insecureApi = api.insecure ?? api.secondLookInsecure
  return {
    type: 'begin',
    node,
    rootDir,
    ...defined({ bootID }),
    plan: id,
    plannedAt: createdAt,
    volctlVersion,
    by: invoker(),
    ...defined({ planFile, guards, insecureApi, tookOverFrom: lock.takenOverFrom }),
  }
}

const NO_JOURNAL: Journal = { write: () => {}, [Symbol.dispose]: () => {} }

function settleBeforehand(found: readonly FoundAgain[], apply: ApplyRun): void {
  for (const { operation, refused, alreadyDone, differences } of found) {
    const reason = operation.blocked ?? refused
    if (reason === undefined) continue
    const { code, message, hint } = reason
    const unblocked = alreadyDone ? 'skipped' : 'refused'
    const state = operation.blocked === undefined ? unblocked : 'blocked'
    apply.settle(operation, state, {
      code,
      message,
      ...defined({ hint, differences }),
    })
  }
}

async function lookAfter(context: ApplyContext, onEvent: (event: ApplyEvent) => void): Promise<Plan | undefined> {
  try {
    return context.replan(await context.look())
  } catch (error) {
    onEvent(
      note(`the node could not be read after the apply: ${errorMessage(error)}`, {
        code: 'LookFailed',
        hint: 'Run volctl plan to see what is left to do.',
      }),
    )
    return undefined
  }
}

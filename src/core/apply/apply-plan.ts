/**
 * Carries out a plan: the only code that changes a node.
 *
 * Every operation whose predecessors are done runs as soon as no other operation works on its volume or pod. A failure skips only
 * the operations that depend on it. What is the same for a cluster is in execute.ts.
 */

import { once } from 'node:events'
import { ExitStatus, Interrupted, marked, said, VolctlError } from '../messages/findings.ts'
import { type ApplyEvent, type ApplyResult, note, saidOf } from '../plan/events.ts'
import type { Operation, Plan, ReviewedPlan } from '../plan/plan.ts'
import { planId } from '../plan/plan-id.ts'
import { ApplyRun } from './apply-run.ts'
import { endJournal, execute, firstEntry, journalFor, refuseAll } from './execute.ts'
import { findAgain, requireSameNode } from './find-again.ts'
import { defaultLockFile, takeLock } from './lock.ts'
import { kubeletCameBack, kubeletIsBack, plannedWithKubelet } from './operation/ask-kubelet.ts'
import type { ApplyContext } from './operation/step.ts'
import { BATCH_OPERATIONS, runBatch } from './run-batch.ts'
import { runOperation } from './run-operation.ts'

/**
 * @param plan the plan that was reviewed: made just now, or read from a file
 * @throws VolctlError Locked, JournalFailed, OtherNode, Changed, or a failed look; then nothing was changed
 */
export async function applyPlan(
  plan: ReviewedPlan,
  context: ApplyContext,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult> {
  const id = planId(plan)
  if (plan.refused !== undefined) return refuseAll(id, plan, plan.refused, onEvent)
  const result = await whileLocked(id, plan, context, onEvent)
  return { ...result, downtime: context.kubeletStop?.downtime }
}

async function whileLocked(
  id: string,
  plan: ReviewedPlan,
  context: ApplyContext,
  onEvent: (event: ApplyEvent) => void,
): Promise<ApplyResult> {
  const { node, rootDir, bootID } = plan
  const { guards, planFile, kubeletStop } = context
  using lock = takeLock(context.lockFile ?? defaultLockFile(rootDir))
  const { takenOverFrom: tookOverFrom } = lock
  if (tookOverFrom !== undefined) {
    const { pid, user, since } = tookOverFrom
    const hint = marked('`volctl journal` lists the operations that it began and did not finish.')
    onEvent(
      note(`took over the lock of an apply that died: pid ${pid} of ${user}, since ${since}`, { code: 'Locked', hint }),
    )
  }
  const look = (): Promise<Plan> => context.look()
  const first = (api: Plan['inputs']['api'] | undefined) => {
    const insecureApi = api?.insecure ?? api?.secondLookInsecure
    return firstEntry(id, plan, { node, rootDir, bootID, planFile, guards, insecureApi, tookOverFrom })
  }
  // A stop is recorded before it is made, and the plan is that of a look after it (S35).
  using opened = kubeletStop && context.openJournal()
  // Whatever has happened, the kubelet runs again before anything else is done (S35).
  await using _stopped = { [Symbol.asyncDispose]: async () => kubeletStop?.end() }
  opened?.write(first('summary' in plan ? (plan as Plan).inputs.api : undefined))
  const looks = { look, kubeletIsBack: () => kubeletIsBack(context) }
  /** Of a journal in which a stop is recorded: an apply that goes no further was not killed. */
  const end = async (exit: ExitStatus, interrupted = false): Promise<void> => {
    await kubeletStop?.end()
    if (opened !== undefined) endJournal(opened, { exit, interrupted }, onEvent)
  }
  let fresh: Plan
  try {
    fresh = (opened && (await kubeletStop?.begin(opened, looks, onEvent))) ?? context.freshPlan ?? (await look())
    if (fresh.refused === undefined) requireSameNode(plan, fresh)
  } catch (error) {
    await end(error instanceof VolctlError ? error.exit : ExitStatus.Failed, error instanceof Interrupted)
    throw error
  }
  if (fresh.refused !== undefined) {
    await end(ExitStatus.Refused)
    return refuseAll(id, plan, fresh.refused, onEvent)
  }
  const found = findAgain(plan, fresh, context.isDone)
  const journal = opened ?? journalFor(found, context.openJournal, first(fresh.inputs.api))
  const operations = found.map(({ operation }) => operation)
  const run = new ApplyRun(fresh, operations, context, journal, onEvent)
  // Somebody has started the kubelet that was to be down for this.
  if (kubeletStop !== undefined && plannedWithKubelet(fresh)) run.stopFor(kubeletCameBack())
  const runThem = async (): Promise<void> => {
    await runAll(run, context)
    // What is left is looked at afterwards, when there is time.
    await kubeletStop?.end()
  }
  return await execute(id, { what: 'node', fresh, found, run, runAll: runThem, lookAfter: look }, onEvent)
}

/** Two at a time: one is checked, or its directories are removed, while the umounts of the other run. */
const BATCHES = 2

/**
 * Starts operations that may run, waits until one of them ends, and starts no new ones once a kubelet is back (S11) or after a
 * signal.
 */
async function runAll(apply: ApplyRun, { parallel, abandon }: ApplyContext): Promise<void> {
  const { schedule } = apply
  const running = new Map<Promise<void>, readonly Operation[]>()
  let batches = 0
  /** Until the conditions of a batch are checked. Checking two at once would only delay both. */
  let checking: Promise<void> | undefined
  const abandoned = abandon && once(abandon, 'abort')

  const start = (operations: readonly Operation[], work: Promise<void>): void => {
    const task: Promise<void> = work.catch((error) => apply.fail(operations, error)).finally(() => running.delete(task))
    running.set(task, operations)
  }
  const startWhatMayRun = (): void => {
    while (batches < BATCHES && checking === undefined && running.size < parallel) {
      const batch = [...schedule.ready(true).take(BATCH_OPERATIONS)]
      // A single operation gains nothing from a batch. Outside one, its steps are reported one by one.
      if (batch.length < 2) break
      batches++
      const checked = Promise.withResolvers<void>()
      checking = checked.promise.then(() => {
        checking = undefined
      })
      for (const operation of batch) schedule.start(operation)
      const work = runBatch(batch, apply, checked.resolve).finally(() => {
        batches--
        checked.resolve()
      })
      start(batch, work)
    }
    while (running.size < parallel) {
      const { value: operation } = schedule.ready(batches > 0 ? false : undefined).next()
      if (operation === undefined) return
      schedule.start(operation)
      start([operation], runOperation(operation, apply))
    }
  }

  for (;;) {
    for (const { operation, because, stuck } of schedule.drop()) {
      if (stuck) apply.settle(operation, 'skipped', { ...saidOf(said('StillAtWork.call', { because })), because })
      else apply.settleSkipped(operation, because, apply.outcomes.get(because)?.code)
    }
    if (!apply.isStopping) startWhatMayRun()
    if (running.size === 0) break
    await Promise.race([...running.keys(), checking, abandoned].filter((each) => each !== undefined))
    if (abandon?.aborted) break
  }
  for (const operation of [...running.values()].flat())
    apply.settle(operation, 'interrupted', said('StillAtWork.abandoned'))
  for (const operation of apply.schedule.waiting) {
    const why = apply.stop
    if (why === undefined) apply.settleInterrupted(operation)
    else apply.settle(operation, 'refused', saidOf(why))
  }
}

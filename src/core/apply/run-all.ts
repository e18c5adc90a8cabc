/**
 * The loop of an apply: starts operations that may run, waits until one of them ends, and starts no new ones once a kubelet
 * is back (S11) or after a signal.
 */

import { defined } from '../lang/defined.ts'
import type { Operation } from '../plan/plan.ts'
import type { ApplyRun } from './apply-run.ts'
import type { ApplyContext } from './operation/ports.ts'
import { BATCH_OPERATIONS, runBatch } from './run-batch.ts'
import { runOperation } from './run-operation.ts'

const DEFAULT_PARALLEL = 8
/** Two at a time: one is checked, or its directories are removed, while the umounts of the other run. */
const BATCHES = 2

export async function runAll(apply: ApplyRun, context: ApplyContext): Promise<void> {
  const { schedule } = apply
  const parallel = Math.max(1, context.parallel ?? DEFAULT_PARALLEL)
  const running = new Map<Promise<void>, readonly Operation[]>()
  let batches = 0
  /** The batch whose conditions are being checked. Checking two at once would only delay both. */
  let checking: readonly Operation[] | undefined
  let checked = Promise.withResolvers<void>()
  const abandoned = aborted(context.abandon)

  const start = (operations: readonly Operation[], work: Promise<void>): void => {
    const task: Promise<void> = work.catch((error) => apply.fail(operations, error)).finally(() => running.delete(task))
    running.set(task, operations)
  }
  const startWhatMayRun = (): void => {
    while (batches < BATCHES && checking === undefined && running.size < parallel) {
      const batch = [...schedule.readyForBatch().take(BATCH_OPERATIONS)]
      // A single operation gains nothing from a batch. Outside one, its steps are reported one by one.
      if (batch.length < 2) break
      batches++
      checking = batch
      const doneChecking = (): void => {
        // Called once more at the end, when another batch may be being checked.
        if (checking !== batch) return
        checking = undefined
        checked.resolve()
      }
      for (const operation of batch) schedule.start(operation)
      const work = runBatch(batch, apply, doneChecking).finally(() => {
        batches--
        doneChecking()
      })
      start(batch, work)
    }
    while (running.size < parallel) {
      const { value: operation } = (batches > 0 ? schedule.readyAlone() : schedule.ready()).next()
      if (operation === undefined) return
      schedule.start(operation)
      start([operation], runOperation(operation, apply))
    }
  }

  for (;;) {
    for (const { operation, because, code, stuck } of schedule.drop()) {
      if (stuck) settleBehindAbandoned(apply, operation, because)
      else apply.settleSkipped(operation, because, code)
    }
    if (!apply.isStopping) startWhatMayRun()
    if (running.size === 0) break
    await Promise.race([...running.keys(), checked.promise, ...(abandoned === undefined ? [] : [abandoned])])
    checked = Promise.withResolvers()
    if (context.abandon?.aborted) break
  }
  for (const operations of running.values()) {
    for (const operation of operations) {
      apply.settle(operation, 'interrupted', {
        code: 'StillAtWork',
        message: 'abandoned before it ended; it may still be running',
      })
    }
  }
  settleWaiting(apply)
}

function settleBehindAbandoned(apply: ApplyRun, operation: Operation, because: string): void {
  const message = `not started: a call on ${because} was abandoned and may still be running`
  apply.settle(operation, 'skipped', { code: 'StillAtWork', because, message })
}

function settleWaiting(apply: ApplyRun): void {
  for (const operation of apply.schedule.waiting) {
    const why = apply.stop ?? apply.outOfTime
    if (why === undefined) apply.settleInterrupted(operation)
    else {
      const { code, message, hint } = why
      apply.settle(operation, 'refused', { code, message, ...defined({ hint }) })
    }
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> | undefined {
  if (signal === undefined) return undefined
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

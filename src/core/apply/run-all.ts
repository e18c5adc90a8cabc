/** The loop: starts what may run, waits for any of it to end, and stops starting when told to (S11, signals). */
import type { FailureCode } from '../codes/codes.ts'
import type { Operation } from '../plan/plan.ts'
import type { ApplyRun } from './apply-run.ts'
import type { ApplyContext } from './operation/ports.ts'
import { BATCH_OPERATIONS, runBatch } from './run-batch.ts'
import { runOperation } from './run-operation.ts'

const DEFAULT_PARALLEL = 8
/** One is checked, or its directories removed, while the umounts of the other go on. */
const BATCHES = 2

export async function runAll(run: ApplyRun, context: ApplyContext): Promise<void> {
  const { schedule } = run
  const parallel = Math.max(1, context.parallel ?? DEFAULT_PARALLEL)
  const running = new Map<Promise<void>, readonly Operation[]>()
  let batches = 0
  /** The batch that is being looked into: two at once would take turns, and both begin late. */
  let lookedInto: readonly Operation[] | undefined
  let looked = Promise.withResolvers<void>()
  const abandoned = aborted(context.abandon)

  const start = (operations: readonly Operation[], work: Promise<void>): void => {
    const task: Promise<void> = work.catch((error) => run.fail(operations, error)).finally(() => running.delete(task))
    running.set(task, operations)
  }
  const startWhatMayRun = (): void => {
    while (batches < BATCHES && lookedInto === undefined && running.size < parallel) {
      const batch = [...schedule.readyForBatch().take(BATCH_OPERATIONS)]
      // One operation alone gains nothing from a batch, and its steps are said one by one.
      if (batch.length < 2) break
      batches++
      lookedInto = batch
      const doneLooking = (): void => {
        // Told again later, when it may be another one's turn.
        if (lookedInto !== batch) return
        lookedInto = undefined
        looked.resolve()
      }
      for (const operation of batch) schedule.start(operation)
      const work = runBatch(batch, run, doneLooking).finally(() => {
        batches--
        doneLooking()
      })
      start(batch, work)
    }
    while (running.size < parallel) {
      const { value: operation } = (batches > 0 ? schedule.readyAlone() : schedule.ready()).next()
      if (operation === undefined) return
      schedule.start(operation)
      start([operation], runOperation(operation, run))
    }
  }

  for (;;) {
    for (const { operation, because, code } of schedule.drop()) {
      run.settle(operation, 'skipped', { code, because, message: whyDropped(run, because, code) })
    }
    if (!run.isStopping && !context.abandon?.aborted) startWhatMayRun()
    if (running.size === 0) break
    await Promise.race([...running.keys(), looked.promise, ...(abandoned === undefined ? [] : [abandoned])])
    looked = Promise.withResolvers()
    if (context.abandon?.aborted) break
  }
  for (const operations of running.values()) {
    for (const operation of operations) {
      run.settle(operation, 'interrupted', { code: 'Abandoned', message: 'left unfinished: it may still be at work' })
    }
  }
  settleWaiting(run)
}

function whyDropped(run: ApplyRun, because: string, code: FailureCode): string {
  if (code === 'StillAtWork') return `not begun: a call on ${because} was given up and may still be at work`
  const before = run.outcomes.get(because)
  if (before === undefined) return `not begun: operation ${because} has to come first and is not in the plan`
  return `not begun: ${before.kind} ${because} has to come first and was ${before.state}`
}

function settleWaiting(run: ApplyRun): void {
  for (const operation of run.schedule.waiting) {
    if (run.stop === undefined) {
      run.settle(operation, 'interrupted', { code: 'Interrupted', message: 'not begun any more' })
    } else {
      const { code, message, hint } = run.stop
      run.settle(operation, 'refused', { code, message, ...(hint === undefined ? {} : { hint }) })
    }
  }
}

function aborted(signal: AbortSignal | undefined): Promise<void> | undefined {
  if (signal === undefined) return undefined
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

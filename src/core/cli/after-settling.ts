/** Waits for the settle time of a kubelet that has just stopped (S11): a runbook need not count it out. */
import { formatDuration } from '../base/text.ts'
import { pause } from '../linux/deadline.ts'
import type { Plan } from '../plan/plan.ts'
import { settledAt } from '../plan/plan-summary.ts'
import { Redrawn, type Terminal } from '../views/redrawn.ts'

const REDRAW_MS = 500
/** How often this machine is asked whether a kubelet has come back meanwhile. */
const ASK_MS = 5000

export interface Waiter<T> {
  /** Another whole look, and the plan that it gives. */
  again(): Promise<T>
  /** Asks this machine alone: a kubelet runs again, or may start. */
  kubeletIsBack(): Promise<boolean>
  readonly signal: AbortSignal
  /** Says that a wait begins. @param left how long it takes, in words */
  begins(left: string): void
  /** Undefined: standard error is no terminal. */
  readonly terminal: Terminal | undefined
  /** No wait goes on beyond this moment, in milliseconds since the epoch. */
  readonly until?: number
}

/**
 * Waits until the settle time is over, and looks again; as often as that look still waits for it. A kubelet that comes back
 * ends the wait: the next look shows it.
 *
 * @returns the last look
 */
export async function afterSettling<T extends { readonly plan: Plan }>(first: T, waiter: Waiter<T>): Promise<T> {
  const { signal, again, until = Number.POSITIVE_INFINITY } = waiter
  let looked = first
  for (let end = settledAt(looked.plan); end !== undefined; end = settledAt(looked.plan)) {
    if (signal.aborted || end > until) break
    await countDown(end, waiter)
    if (signal.aborted) break
    looked = await again()
  }
  return looked
}

async function countDown<T>(end: number, { signal, begins, terminal, kubeletIsBack }: Waiter<T>): Promise<void> {
  // By a clock that nobody sets; `end` is by the same one as the look's own time.
  const over = performance.now() + Math.max(0, end - Date.now())
  const left = (): number => over - performance.now()
  const inSeconds = (): string => formatDuration(Math.ceil(left() / 1000) * 1000)
  if (left() <= 0) return
  begins(inSeconds())
  using line = new Redrawn(terminal, '')
  let asked = performance.now()
  while (left() > 0 && !signal.aborted) {
    line.draw(`Waiting for the kubelet's last calls: ${inSeconds()} left`)
    await pause(Math.min(REDRAW_MS, left()), signal)
    if (performance.now() - asked < ASK_MS) continue
    if (await kubeletIsBack()) return
    asked = performance.now()
  }
}

import type { Operation, Plan } from '../plan/plan.ts'
import type { Host } from './host.ts'
import type { Journal } from './journal.ts'
import type { ApplyContext } from './ports.ts'
import type { Surroundings } from './surroundings.ts'
import type { WaitingBudget } from './waiting-budget.ts'

/** What a step of one operation works with. */
export interface StepContext {
  readonly operation: Operation
  /** The plan as it was found again before the start. */
  readonly plan: Plan
  readonly context: ApplyContext
  readonly host: Host
  readonly journal: Journal
  readonly around: Surroundings
  readonly waiting: WaitingBudget
  readonly signal: AbortSignal | undefined
  /** Said while it waits. */
  readonly say: (message: string) => void
  /** Devices seen and calls answered so far in this apply, by volume. */
  readonly record: VolumeRecord
}

/** What this apply has learnt of a volume, for the detach that comes after (S21). */
export interface VolumeRecord {
  readonly devices: Set<string>
  unstaged: boolean
  touched: boolean
}

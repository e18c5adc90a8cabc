import type { Host } from '../../node/host.ts'
import type { Journal } from '../../plan/documents/write-journal.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { ContentLook } from '../../users/content-look.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import type { ApplyContext, CsiNode } from './ports.ts'
import type { Surroundings } from './surroundings.ts'
import type { VolumeRecord } from './volume-record.ts'
import type { WaitingBudget } from './waiting-budget.ts'

export interface BringUp {
  /** The volume, as the pod wants it now. */
  wanted?: VolumeToMount
  /** Absolute path of the device node that an earlier step has mounted or mapped. */
  device?: string
  /** The source of a bind mount if its step names none: a device's global mount, or a directory that needs no mount. */
  source?: string
  /** A CSI volume's driver, and its capabilities. */
  csi?: { readonly node: CsiNode; readonly capabilities: readonly string[] }
}

/** What a step of one operation works with; always passed as `run` (an ApplyRun is `apply`). */
export interface StepContext {
  readonly operation: Operation
  /** The plan that was made right before the start. */
  readonly plan: Plan
  readonly context: ApplyContext
  readonly host: Host
  readonly journal: Journal
  readonly around: Surroundings
  readonly waiting: WaitingBudget
  readonly signal: AbortSignal | undefined
  /** A recent look for users of directory content. @param since it began no earlier */
  readonly users: (since?: number) => Promise<ContentLook>
  /** Reports progress. */
  readonly say: (message: string) => void
  /** Devices seen and calls answered so far in this apply, by volume. */
  readonly record: VolumeRecord
  /** Set where operations that come first have yet to run: the volume is still mounted or mapped. */
  readonly isAhead?: boolean
  /** What an operation that sets up a volume has found out so far. */
  readonly bringUp: BringUp
}

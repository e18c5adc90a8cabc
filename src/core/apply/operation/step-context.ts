import type { VolumeToMount } from '../../desired/desired-state.ts'
import type { ContentLook } from '../../holders/content-look.ts'
import type { Host } from '../../host/host.ts'
import type { Journal } from '../../journal/write-journal.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { ApplyContext, CsiNode } from './ports.ts'
import type { Surroundings } from './surroundings.ts'
import type { VolumeRecord } from './volume-record.ts'
import type { WaitingBudget } from './waiting-budget.ts'

export interface BringUp {
  /** The volume as the pod wants it just now. */
  wanted?: VolumeToMount
  /** Absolute path of the device node that a step has brought to this node. */
  device?: string
  /** What a bind mount that names no source is of: a device's global mount, or a directory that needs none. */
  source?: string
  /** What a flexVolume driver says of itself. */
  flex?: FlexCapabilities
  /** A CSI volume's driver, which was asked what it can do. */
  csi?: { readonly node: CsiNode; readonly capabilities: readonly string[] }
}

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
  /** Who uses content of directories, by a look that is as good as one of this moment. */
  readonly users: () => Promise<ContentLook>
  /** Said while it waits. */
  readonly say: (message: string) => void
  /** Devices seen and calls answered so far in this apply, by volume. */
  readonly record: VolumeRecord
  /** What an operation that brings a volume up has found out so far. */
  readonly bringUp: BringUp
}

export interface FlexCapabilities {
  readonly attach: boolean
  readonly fsGroup: boolean
}

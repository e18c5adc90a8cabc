import type { Journal } from '../../plan/documents/write-journal.ts'
import type { MachineFacts } from '../../rules/machine-facts.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import type { ApplyContext, CsiNode } from './ports.ts'

interface BringUp {
  /** The volume, as the pod wants it now. */
  wanted?: VolumeToMount | undefined
  /** Absolute path of the device node that an earlier step has mounted or mapped. */
  device?: string
  /** The source of a bind mount if its step names none: a device's global mount, or a directory that needs no mount. */
  source?: string
  /** A CSI volume's driver, and its capabilities. */
  csi?: { readonly node: CsiNode; readonly capabilities: readonly string[] }
}

/** What a step of one operation works with; always passed as `run` (an ApplyRun is `apply`). */
export interface StepContext extends MachineFacts {
  readonly context: ApplyContext
  readonly journal: Journal
  /** Reports progress. */
  readonly say: (message: string) => void
  /** What an operation that sets up a volume has found out so far. */
  readonly bringUp: BringUp
}

/** What of a volume the links of its chain are judged by. */
import type { VolumeToMount } from '../desired/desired-state.ts'

export interface Needs {
  /** Pods of this node want it, and their set-up is known. */
  readonly wanted: readonly VolumeToMount[]
  /** Somebody here wants it, or may still use it. */
  readonly isNeeded: boolean
}

/** What a node's ledger is made from: desired and actual state, and what proves which CSI volume a thing is. */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume } from '../actual/pod-volume.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import type { ApiObjects } from '../desired/api-objects.ts'
import type { DesiredState } from '../desired/desired-state.ts'
import type { Pod, VolumeAttachment } from '../model/objects.ts'
import type { CsiIdentity, Identified } from './identified.ts'

export interface LedgerSources {
  readonly inputs: ActualInputs
  readonly objects: ApiObjects
  readonly desired: DesiredState
  readonly staged: readonly StagedVolume[]
  readonly blocks: readonly BlockVolume[]
  /** CSI volumes that a state file on this node names. */
  readonly recorded: readonly CsiIdentity[]
  /** UIDs of all pods that the API, the disk or the runtime has. */
  readonly podUids: readonly string[]
  /** Pods in the API that have ended. */
  readonly endedPods: readonly Pod[]
  readonly identify: Identify
}

/** Each is asked once for a thing. */
export interface Identify {
  podVolume(volume: PodVolume): Identified
  staged(staged: StagedVolume): Identified
  block(block: BlockVolume): Identified
  attachment(attachment: VolumeAttachment): CsiIdentity | undefined
}

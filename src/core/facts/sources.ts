/** What a node's ledger is made from: desired and actual state, and what proves which CSI volume a thing is. */

import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../kube/api/objects.ts'
import type { ApiObjects, Handle } from '../volumes/api-objects.ts'
import type { DesiredState } from '../volumes/desired-state.ts'
import { csiSourceOf } from '../volumes/in-tree-volumes.ts'
import { volumesInStatus } from '../volumes/node-affinity.ts'
import type { ActualInputs } from './actual/actual-inputs.ts'
import type { BlockVolume } from './actual/block-volume.ts'
import type { PodVolume } from './actual/pod-volumes.ts'
import type { StagedVolume } from './actual/staged-volumes.ts'
import type { StateFile } from './actual/state-file.ts'
import { csiUniqueName, parseCsiUniqueName } from './actual/volume-names.ts'

export interface LedgerSources {
  readonly inputs: ActualInputs
  readonly objects: ApiObjects
  readonly desired: DesiredState
  readonly staged: readonly StagedVolume[]
  readonly blocks: readonly BlockVolume[]
  readonly onDisk: OnDisk
  /** UIDs of all pods that the API, the disk or the runtime has. */
  readonly podUids: readonly string[]
  /** Pods in the API that have ended. */
  readonly endedPods: readonly Pod[]
  readonly identify: Identify
}

/** Every CSI volume that a state file on this node names, pods and staging directories alike. */
export interface OnDisk {
  readonly all: readonly DiskRecord[]
  of(uniqueName: string): readonly DiskRecord[]
}

/** A state file's directory, relative to the root directory, and the volume that the file names. */
export interface DiskRecord {
  readonly path: string
  readonly volume: CsiIdentity
}

/** Each looks once at a thing. */
interface Identify {
  podVolume(volume: PodVolume): Identified
  staged(staged: StagedVolume): Identified
  block(block: BlockVolume): Identified
  attachment(attachment: VolumeAttachment): CsiIdentity | undefined
}

// Which CSI volume a directory, a block map or an attachment of this node belongs to, and what proves it (S17).

export interface CsiIdentity {
  readonly driver: string
  readonly handle: string
  readonly from: string
}

/** Of a state file that can be used. */
export function identityOnRecord(stateFile: StateFile | undefined): CsiIdentity | undefined {
  const data = stateFile?.data
  return data && { driver: data.driver, handle: data.handle, from: 'vol_data.json' }
}

export function identityOfObject(volume: PersistentVolume | undefined): CsiIdentity | undefined {
  const csi = volume && csiSourceOf(volume)
  return csi && { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${volume.metadata.name}` }
}

/** CSI volumes that the node's status lists: the last trace of one whose PersistentVolume and state file are both gone (N64). */
export function identitiesInStatus(node: Node | null | undefined): CsiIdentity[] {
  return volumesInStatus(node).flatMap((name) => {
    const volume = parseCsiUniqueName(name)
    return volume === undefined ? [] : { ...volume, from: "the node's status" }
  })
}

export function uniqueNameOf({ driver, handle }: Handle): string {
  return csiUniqueName(driver, handle)
}

export type Identified =
  | { readonly identity: CsiIdentity; readonly unconfirmed?: undefined }
  | { readonly identity?: undefined; readonly unconfirmed: string; readonly hint: string }

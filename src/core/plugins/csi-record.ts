/** The volume that the state file in a CSI volume's place names. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import { readStateFile, type VolumeData } from '../actual/state-file.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { CSI_PLUGIN } from '../names/volume-names.ts'
import { csiPublishStateFile } from './csi-paths.ts'

export interface OtherVolume {
  /** Of the state file, relative to the root directory. */
  readonly path: string
  readonly data: VolumeData
}

/**
 * What is recorded in this volume's place, if that is another volume: the PersistentVolume was deleted and created again under
 * the same name, or its source has changed. Undefined: this volume, or no usable record.
 */
export function otherOnRecord({ tree }: ActualInputs, volume: VolumeToMount): OtherVolume | undefined {
  if (volume.plugin !== CSI_PLUGIN) return undefined
  const path = csiPublishStateFile(volume)
  const data = readStateFile(tree.get(path))?.data
  if (data === undefined || (data.driverName === volume.driver && data.volumeHandle === volume.handle)) return undefined
  return { path, data }
}

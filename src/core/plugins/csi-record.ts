/** Another volume in the place of a CSI volume: by the state file there, or by what is mounted. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import { stagedShownBy } from '../actual/staged-on-device.ts'
import { stagedVolumes } from '../actual/staged-volumes.ts'
import { readStateFile, type VolumeData } from '../actual/state-file.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { isWithin } from '../files/path-within.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { CSI_PLUGIN } from '../names/volume-names.ts'
import { csiPublishStateFile, csiStagingDir, csiTarget } from './csi-paths.ts'

export interface OtherVolume {
  /** Relative to the root directory: its state file here, or the directory where it is staged. */
  readonly path: string
  /** DRIVER^HANDLE, or where it is staged if no state file names it. */
  readonly name: string
  /** The state file names the volume that the pod wants, and the mount is another one's all the same. */
  readonly byMount: boolean
}

/**
 * What is recorded in this volume's place, if that is another volume: the PersistentVolume was deleted and created again under
 * the same name, or its source has changed. Undefined: this volume, or no usable record.
 */
export function otherOnRecord({ tree }: ActualInputs, volume: VolumeToMount): OtherVolume | undefined {
  if (volume.plugin !== CSI_PLUGIN) return undefined
  const path = csiPublishStateFile(volume)
  const data = readStateFile(tree.get(path))?.data
  return data === undefined || isOf(data, volume) ? undefined : { path, name: nameOf(data), byMount: false }
}

/**
 * S17, S18: a driver may have mixed volumes up, and the pod would write to one that another pod may use. A staged volume is
 * published from where it is staged; without that, only the very same directory is another's.
 *
 * @param shown what is published for the volume
 * @param own what is staged for it; undefined: nothing is
 * @param others what is staged for any volume
 * @returns what is published instead of the volume, or where that is staged; undefined: the volume, or nothing shows whether it is
 */
export function otherThanStaged(
  shown: MountInfo,
  own: MountInfo | undefined,
  others: () => readonly MountInfo[],
): MountInfo | undefined {
  if (own !== undefined) return own.dev === shown.dev && isWithin(shown.root, own.root) ? undefined : shown
  return others().find(({ dev, root }) => dev === shown.dev && root === shown.root)
}

/** What is mounted in this volume's place, if that is what is staged for another one. */
export function otherMounted(inputs: ActualInputs, volume: VolumeToMount): OtherVolume | undefined {
  const shown = volume.mode === 'Block' ? undefined : inputs.top(csiTarget(volume))
  if (shown === undefined) return undefined
  const showing = stagedShownBy(stagedVolumes(inputs), shown)
  const own = csiStagingDir(volume)
  if (showing.some(({ dir, stateFile }) => dir === own || isOf(stateFile?.data, volume))) return undefined
  const staged = own === undefined ? undefined : inputs.top(`${own}/globalmount`)
  const mount = otherThanStaged(shown, staged, () => showing.flatMap(({ layers }) => layers))
  const other = showing.find(({ layers }) => mount === shown || layers.some((layer) => layer === mount))
  if (other === undefined) return undefined
  const { dir, stateFile } = other
  const name = stateFile?.data === undefined ? `what is staged at ${inputs.absolute(dir)}` : nameOf(stateFile.data)
  return { path: dir, name, byMount: true }
}

function isOf(data: VolumeData | undefined, { driver, handle }: VolumeToMount): boolean {
  return data?.driverName === driver && data?.volumeHandle === handle
}

function nameOf({ driverName, volumeHandle }: VolumeData): string {
  return `${driverName}^${volumeHandle}`
}

/** Where the kubelet keeps volumes, relative to the root directory (R021, P35, P22; of CSI C10). */

import { CSI_PLUGIN, csiGlobalDir, escapeQualifiedName } from '../facts/actual/volume-names.ts'
import type { VolumeToMount } from './desired-state.ts'

type Named = Pick<VolumeToMount, 'podUid' | 'plugin' | 'specName'>

/**
 * pods/UID/volumes/PLUGIN/NAME: of a CSI volume the directory with state file and target. Only the name of a translated inline volume has
 * a character to escape (C10).
 */
export function podVolumeDir({ podUid, plugin, specName }: Named): string {
  return `pods/${podUid}/volumes/${escapeQualifiedName(plugin)}/${escapeQualifiedName(specName)}`
}

/** pods/UID/volumeDevices/PLUGIN/NAME: the pod's link to the device. */
export function podDeviceLink({ podUid, plugin, specName }: Named): string {
  return `pods/${podUid}/volumeDevices/${escapeQualifiedName(plugin)}/${specName}`
}

/** The volume's directory, of a raw block volume the pod's link. */
export function podDirOf(volume: VolumeToMount): string {
  return volume.mode === 'Block' ? podDeviceLink(volume) : podVolumeDir(volume)
}

/** Where a pod's volume is mounted, or the pod's link to the device (R021). */
export function podPathOf(volume: VolumeToMount): string {
  return volume.plugin === CSI_PLUGIN && volume.mode !== 'Block' ? csiTarget(volume) : podDirOf(volume)
}

/** The marker that an emptyDir, or a volume of another plugin with a marker, is set up (P21). */
export function readyMarker(podUid: string, name: string, plugin = 'kubernetes.io/empty-dir'): string {
  return `pods/${podUid}/plugins/${escapeQualifiedName(plugin)}/${name}/ready`
}

/** The name of the emptyDir that a volume of another plugin is built on (P22). */
export function wrappedName(name: string): string {
  return `wrapped_${name}`
}

// The directories and files of a CSI volume.

/** The directory of all raw block volumes; it contains `staging` and `publish` beside a directory for each volume. */
export const CSI_BLOCK_DIR = `plugins/${CSI_PLUGIN}/volumeDevices`
export const VOLUME_DATA = 'vol_data.json'

type Volume = Pick<VolumeToMount, 'podUid' | 'plugin' | 'specName' | 'mode' | 'driver' | 'handle' | 'persistentVolume'>

/** NodePublishVolume's target_path (C55). */
export function csiTarget(volume: Volume): string {
  return volume.mode === 'Block'
    ? `${CSI_BLOCK_DIR}/publish/${volume.specName}/${volume.podUid}`
    : `${podVolumeDir(volume)}/mount`
}

/** The directory with the state file of a staged file system; undefined: an inline volume is never staged (C35). */
export function csiStagingDir({ driver, handle, persistentVolume }: Volume): string | undefined {
  if (persistentVolume === undefined || driver === undefined || handle === undefined) return undefined
  return csiGlobalDir(driver, handle)
}

/** NodeStageVolume's staging_target_path (C52); a block volume has one whether or not the driver stages (C55). */
export function csiStagingPath(volume: Volume): string | undefined {
  if (volume.mode === 'Block') return `${CSI_BLOCK_DIR}/staging/${volume.specName}`
  const directory = csiStagingDir(volume)
  return directory && `${directory}/globalmount`
}

/** The state file that NodeUnpublishVolume needs later (C13, C75, C83). */
export function csiPublishStateFile(volume: Volume): string {
  return volume.mode === 'Block'
    ? `${CSI_BLOCK_DIR}/${escapeQualifiedName(volume.specName)}/data/${VOLUME_DATA}`
    : `${podVolumeDir(volume)}/${VOLUME_DATA}`
}

/** The file over which a pod's device is bind-mounted (C18). */
export function csiMapFile({ specName, podUid }: Volume): string {
  return `${CSI_BLOCK_DIR}/${escapeQualifiedName(specName)}/dev/${podUid}`
}

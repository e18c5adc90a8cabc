/** Where the kubelet keeps the volumes of a pod, relative to the root directory (R021, P35, P22). */

import { escapeQualifiedName } from '../facts/actual/volume-names.ts'
import type { VolumeToMount } from './desired-state.ts'

type Named = Pick<VolumeToMount, 'podUid' | 'plugin' | 'specName'>

/** pods/UID/volumes/PLUGIN/NAME */
export function podVolumeDir({ podUid, plugin, specName }: Named): string {
  return `pods/${podUid}/volumes/${escapeQualifiedName(plugin)}/${specName}`
}

/** pods/UID/volumeDevices/PLUGIN/NAME: the pod's link to the device. */
export function podDeviceLink({ podUid, plugin, specName }: Named): string {
  return `pods/${podUid}/volumeDevices/${escapeQualifiedName(plugin)}/${specName}`
}

/** The directory, or the link of a raw block volume. */
export function podPathOf(volume: VolumeToMount): string {
  return volume.mode === 'Block' ? podDeviceLink(volume) : podVolumeDir(volume)
}

/** The marker that an emptyDir, or a volume of another plugin with a marker, is set up (P21). */
export function readyMarker(podUid: string, name: string, plugin = 'kubernetes.io/empty-dir'): string {
  return `pods/${podUid}/plugins/${escapeQualifiedName(plugin)}/${name}/ready`
}

/** The name of the emptyDir that a volume of another plugin is built on (P22). */
export function wrappedName(name: string): string {
  return `wrapped_${name}`
}

/** Is a wanted volume there: what several plugins judge alike. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import { podDeviceLink, podVolumeDir, readyMarker } from './paths.ts'
import type { MountEvidence } from './plugin.ts'

export const MOUNTED: MountEvidence = { state: 'mounted' }
export const SATISFIED: MountEvidence = { state: 'satisfied' }

export function notMounted(why: string): MountEvidence {
  return { state: 'notMounted', why }
}

/** Something is mounted on the pod's directory. */
export function mountEvidence(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  return inputs.top(podVolumeDir(volume)) === undefined ? notMounted('nothing is mounted on it') : MOUNTED
}

/** The newest mount on the pod's directory is of this type. */
export function fsTypeEvidence(inputs: ActualInputs, volume: VolumeToMount, fsType: string): MountEvidence {
  return inputs.top(podVolumeDir(volume))?.fsType === fsType ? MOUNTED : notMounted(`no ${fsType} is mounted on it`)
}

/**
 * A volume that was filled. Without `..data` it shows nothing, whatever the marker says: after a boot, or a set-up that
 * was killed half-way. Of a tmpfs the mount and `..data` tell enough (R805); what was not read says nothing.
 */
export function filledEvidence(
  inputs: ActualInputs,
  volume: VolumeToMount,
  medium: 'disk' | 'memory',
  marker: string,
): MountEvidence {
  const target = podVolumeDir(volume)
  const evidence =
    medium === 'disk' ? directoryEvidence(inputs, volume, marker) : fsTypeEvidence(inputs, volume, 'tmpfs')
  const read = inputs.tree.get(target)
  if (evidence.state !== 'mounted' || read === undefined || read.error !== undefined) return evidence
  return inputs.tree.has(`${target}/..data`) ? evidence : notMounted('it was never filled')
}

/** Volumes on the kubelet's own disk: the directory and its `ready` marker (P21, R805). */
export function directoryEvidence(inputs: ActualInputs, volume: VolumeToMount, marker: string): MountEvidence {
  const target = podVolumeDir(volume)
  const there = inputs.tree.isDir(target) || inputs.top(target) !== undefined
  if (there && inputs.tree.has(readyMarker(volume.podUid, marker))) return MOUNTED
  return notMounted(there ? 'its ready marker is missing' : 'its directory is missing')
}

/** The pod's link to the device (R805). */
export function linkEvidence(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  return inputs.tree.get(podDeviceLink(volume))?.type === 'link'
    ? MOUNTED
    : notMounted("the pod's link to the device is missing")
}

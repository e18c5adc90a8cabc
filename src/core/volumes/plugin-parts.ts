/** What plugins are made of: unique names, by the kubelet's two rules (R019, P6), and whether a wanted volume is there. */

import type { ActualInputs } from '../facts/actual/actual-inputs.ts'
import { uniquePodVolumeName, uniqueVolumeName } from '../facts/actual/volume-names.ts'
import type { Attachability, VolumeToMount } from './desired-state.ts'
import { podVolumeDir, readyMarker } from './paths.ts'
import type { MountEvidence, SpecContext, SpecFacts, SpecSource } from './plugin.ts'

/** Neither attached nor staged: every pod has its own volume. */
export function perPodFacts(plugin: string, spec: SpecSource, { podUid }: SpecContext): SpecFacts {
  const uniqueName = uniquePodVolumeName(plugin, podUid, specNameOf(spec))
  return { plugin, uniqueName, attachability: 'notAttachable', deviceMountable: false }
}

/** Device-mountable, so all pods of the node share one volume. */
export function sharedNameFacts(plugin: string, volumeName: string, attachability: Attachability): SpecFacts {
  return { plugin, uniqueName: uniqueVolumeName(plugin, volumeName), attachability, deviceMountable: true }
}

/** The volume's name on disk (R005). */
export function specNameOf({ persistentVolume, source }: SpecSource): string {
  return persistentVolume?.metadata.name ?? source?.name ?? ''
}

// Whether a wanted volume is there: evidence that several plugins use.

export const MOUNTED: MountEvidence = { state: 'mounted' }
export const SATISFIED: MountEvidence = { state: 'satisfied' }

export function notMounted(why: string): MountEvidence {
  return { state: 'notMounted', why }
}

/** Mounted if anything is mounted on the pod's directory. */
export function mountEvidence(inputs: ActualInputs, volume: VolumeToMount): MountEvidence {
  return inputs.top(podVolumeDir(volume)) === undefined ? notMounted('nothing is mounted on its directory') : MOUNTED
}

/** Mounted if the newest mount on the pod's directory has this type. */
export function fsTypeEvidence(inputs: ActualInputs, volume: VolumeToMount, fsType: string): MountEvidence {
  return inputs.top(podVolumeDir(volume))?.fsType === fsType
    ? MOUNTED
    : notMounted(`no ${fsType} is mounted on its directory`)
}

/**
 * Mounted if the volume was filled. Without `..data` it was not, even if the marker is there: after a boot, or a set-up that was
 * killed half-way. For a tmpfs the mount and `..data` are enough (R805). A directory that was not read is taken as filled.
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
  return inputs.tree.has(`${target}/..data`) ? evidence : notMounted('its content was never written')
}

/** For volumes on the kubelet's own disk: mounted if the directory and its `ready` marker are there (P21, R805). */
export function directoryEvidence(inputs: ActualInputs, volume: VolumeToMount, marker: string): MountEvidence {
  const target = podVolumeDir(volume)
  const there = inputs.tree.isDir(target) || inputs.top(target) !== undefined
  if (there && inputs.tree.has(readyMarker(volume.podUid, marker))) return MOUNTED
  return notMounted(there ? 'its ready marker is missing' : 'its directory is missing')
}

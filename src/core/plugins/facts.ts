/** Unique names, by the two rules that there are (R019, P6). */
import type { Attachability, VolumeToMount } from '../desired/desired-state.ts'
import type { PodVolumeSource, SharedSources } from '../model/objects.ts'
import { uniquePodVolumeName, uniqueVolumeName } from '../names.ts'
import type { SpecContext, SpecFacts, SpecSource } from './plugin.ts'

/** Neither attached nor staged: one volume a pod. */
export function perPodFacts(plugin: string, specName: string, { podUid }: SpecContext): SpecFacts {
  const uniqueName = uniquePodVolumeName(plugin, podUid, specName)
  return { plugin, uniqueName, attachability: 'notAttachable', deviceMountable: false }
}

/** Device-mountable, so all pods of the node share one volume. */
export function sharedNameFacts(plugin: string, volumeName: string, attachability: Attachability): SpecFacts {
  return { plugin, uniqueName: uniqueVolumeName(plugin, volumeName), attachability, deviceMountable: true }
}

/** The source that only a pod may have; undefined for a PersistentVolume. */
export function inlineOf(spec: SpecSource): PodVolumeSource | undefined {
  return 'inline' in spec ? spec.inline : undefined
}

/** The sources that a pod and a PersistentVolume may both have. */
export function sharedSources(spec: SpecSource): SharedSources {
  return 'inline' in spec ? spec.inline : spec.persistentVolume.spec
}

/** The volume's name on disk (R005). */
export function specNameOf(spec: SpecSource): string {
  return 'inline' in spec ? spec.inline.name : spec.persistentVolume.metadata.name
}

/** What a wanted volume was resolved from. */
export function specOf({ source, persistentVolume, specName }: VolumeToMount): SpecSource {
  return persistentVolume === undefined ? { inline: source ?? { name: specName } } : { persistentVolume }
}

/** Unique names, by the kubelet's two rules (R019, P6). */

import { uniquePodVolumeName, uniqueVolumeName } from '../facts/actual/volume-names.ts'
import type { PodVolumeSource, SharedSources } from '../kube/api/objects.ts'
import type { Attachability } from './desired-state.ts'
import { podVolumeDir } from './paths.ts'
import type { SpecContext, SpecFacts, SpecSource, VolumePlugin } from './plugin.ts'

/** Neither attached nor staged: every pod has its own volume. */
export function perPodFacts(plugin: string, specName: string, { podUid }: SpecContext): SpecFacts {
  const uniqueName = uniquePodVolumeName(plugin, podUid, specName)
  return { plugin, uniqueName, attachability: 'notAttachable', deviceMountable: false }
}

/** Device-mountable, so all pods of the node share one volume. */
export function sharedNameFacts(plugin: string, volumeName: string, attachability: Attachability): SpecFacts {
  return { plugin, uniqueName: uniqueVolumeName(plugin, volumeName), attachability, deviceMountable: true }
}

/** For a plugin whose source only a pod can name. */
export function inlineFacts(plugin: string, source: keyof PodVolumeSource): VolumePlugin['facts'] {
  return (spec, context) =>
    'inline' in spec && spec.inline[source] != null ? perPodFacts(plugin, spec.inline.name, context) : undefined
}

/** The sources that both a pod and a PersistentVolume can name. */
export function sharedSources(spec: SpecSource): SharedSources {
  return 'inline' in spec ? spec.inline : spec.persistentVolume.spec
}

/** The volume's name on disk (R005). */
export function specNameOf(spec: SpecSource): string {
  return 'inline' in spec ? spec.inline.name : spec.persistentVolume.metadata.name
}

// What plugins that give every pod its own directory have in common: nothing is attached, shared or mapped.

export const PER_POD = {
  block: false,
  refreshes: false,
  podPath: podVolumeDir,
  globalPath: () => undefined,
} as const satisfies Partial<VolumePlugin>

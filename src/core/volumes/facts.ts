/** Unique names, by the kubelet's two rules (R019, P6). */

import { uniquePodVolumeName, uniqueVolumeName } from '../facts/actual/volume-names.ts'
import type { PodVolumeSource } from '../kube/api/objects.ts'
import { type Attachability, sharedSourcesOf } from './desired-state.ts'
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

/** The volume's name on disk (R005). */
export function specNameOf({ persistentVolume, source }: SpecSource): string {
  return persistentVolume?.metadata.name ?? source?.name ?? ''
}

/** What plugins that give every pod its own directory have in common: nothing is attached, shared or mapped. */
export function perPod(name: string, source: Exclude<keyof PodVolumeSource, 'name'>) {
  return {
    name,
    source,
    block: false,
    refreshes: false,
    podPath: podVolumeDir,
    globalPath: () => undefined,
    facts: (spec, context) => {
      const sources: Partial<PodVolumeSource> = sharedSourcesOf(spec)
      return sources[source] == null ? undefined : perPodFacts(name, specNameOf(spec), context)
    },
  } as const satisfies Partial<VolumePlugin>
}

/** What a spec says of its volume: unique names by the kubelet's two rules (R019, P6), and sources that pods and PersistentVolumes share (P5). */

import { uniquePodVolumeName, uniqueVolumeName } from '../facts/actual/volume-names.ts'
import type { PodVolumeSource, SharedSources } from '../kube/api/objects.ts'
import type { Attachability, VolumeSpec } from './desired-state.ts'
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

/** The PersistentVolume's source, if there is one; a translated inline volume has one, too. */
export function sharedSourcesOf({
  persistentVolume,
  source,
}: Pick<VolumeSpec, 'persistentVolume' | 'source'>): SharedSources {
  return persistentVolume?.spec ?? source ?? {}
}

/**
 * May the pod only read the volume? The claim's flag decides; a PersistentVolume's own flag is ignored (R114).
 *
 * @param ofInline the flag of an inline source
 */
export function isReadOnlyFor(
  { persistentVolume, readOnly }: Pick<VolumeSpec, 'persistentVolume' | 'readOnly'>,
  ofInline: boolean | undefined,
): boolean {
  return persistentVolume === undefined ? ofInline === true : readOnly
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

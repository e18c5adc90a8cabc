/** The kubelet's plugin of a volume, and the unique name that follows from it (R003, R010, R019; P1-P9). */
import type { PersistentVolume, PodVolumeSource } from '../model/objects.ts'
import type { SpecContext, SpecFacts, SpecFailure, SpecSource } from '../plugins/plugin.ts'
import { PLUGINS } from '../plugins/registry.ts'

/** Facts of an inline volume; it is an error if no plugin matches, or several (R003). */
export function pluginOfInline(inline: PodVolumeSource, context: SpecContext): SpecFacts | SpecFailure {
  return single({ inline }, context)
}

/** Facts of a PersistentVolume, already translated to CSI if it was in-tree. */
export function pluginOfPersistentVolume(
  persistentVolume: PersistentVolume,
  context: SpecContext,
): SpecFacts | SpecFailure {
  return single({ persistentVolume }, context)
}

function single(spec: SpecSource, context: SpecContext): SpecFacts | SpecFailure {
  let found: SpecFacts | SpecFailure | undefined
  for (const plugin of PLUGINS) {
    const facts = plugin.facts(spec, context)
    if (facts === undefined) continue
    if (found !== undefined) return { error: 'it has several sources, so more than one plugin matches' }
    found = facts
  }
  return found ?? { error: 'the kubelet has no plugin for its type' }
}

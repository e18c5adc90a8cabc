/** The populator: which volumes the given pods need. */

import { apiLookup } from '../desired/api-lookup.ts'
import type { DesiredState, UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import { onDiskUid, usedVolumeNames } from '../desired/pods.ts'
import type { Pod } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { KUBELET_RULES, resolveVolume } from './resolve-volume.ts'

/**
 * Resolves every volume that a container of these pods uses (R105). The caller decides which pods want volumes.
 *
 * A volume that cannot be resolved is listed, never left out: a tool that starts with an empty desired state would otherwise take
 * it for "not desired" (R118, R812).
 */
export function desiredStateOfPods(pods: readonly Pod[], api: ApiSnapshot): DesiredState {
  const volumes = new Map<string, VolumeToMount>()
  const unresolved: UnresolvedVolume[] = []
  for (const pod of pods) {
    const podUid = onDiskUid(pod)
    const context = { podUid, lookup: apiLookup(api), node: api.node }
    const used = usedVolumeNames(pod)
    for (const volume of pod.spec.volumes ?? []) {
      const use = used.get(volume.name)
      if (use === undefined) continue
      const resolution = resolveVolume(pod, volume, use, context, KUBELET_RULES)
      if ('unresolved' in resolution) {
        unresolved.push({ podUid, pod, podVolumeName: volume.name, ...resolution.unresolved })
        continue
      }
      // The same volume under a second name in the pod: one mount with both names, and the later spec counts (R004, R302).
      const key = JSON.stringify([podUid, resolution.spec.uniqueName])
      const podVolumeNames = [...new Set([...(volumes.get(key)?.podVolumeNames ?? []), volume.name])]
      volumes.set(key, { ...resolution.spec, podUid, pod, podVolumeNames })
    }
  }
  return { volumes: [...volumes.values()], unresolved }
}

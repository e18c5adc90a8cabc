/**
 * Phase 1 of the pass: volumes of orphaned or finished pods that are still mounted or set up (R405, R440; contract, kinds).
 *
 * One operation per volume and pod, sub-paths first. Any doubt blocks the operation, and is reported.
 */

import type { PodVolume, SubPaths } from '../../actual/pod-volume.ts'
import { podSubPaths, podVolumes } from '../../actual/pod-volumes.ts'
import type { Findings } from '../../plan/draft.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import type { PlanContext } from '../context/context.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { unmountCsiVolume } from './unmount-csi-volume.ts'
import { unmountEmptyDir } from './unmount-empty-dir.ts'
import { unmountLeakedSubPaths } from './unmount-leaked-sub-paths.ts'
import { unmountPlain } from './unmount-plain.ts'
import { unmountProjected } from './unmount-projected.ts'

/** Adds the unmount operations of every Gone and Finished pod. */
export function unmountVolumes(context: PlanContext, findings: Findings): void {
  for (const pod of context.classes.all) {
    if (pod.class !== 'Gone' && pod.class !== 'Finished') continue
    const volumes = podVolumes(context.inputs, pod.uid)
    for (const volume of volumes) unmountVolume(context, findings, pod, volume)
    const leaked = leakedSubPaths(context, pod, volumes)
    for (const subPaths of leaked) {
      const why = `the directory of its volume ${subPaths.volumeName} is missing`
      unmountLeakedSubPaths(context, findings, pod, subPaths, why)
    }
  }
}

function unmountVolume(context: PlanContext, findings: Findings, pod: PodClass, volume: PodVolume): void {
  switch (pluginNamed(volume.plugin).tearDown) {
    case 'csi':
      unmountCsiVolume(context, findings, pod, volume)
      break
    case 'emptyDir':
      unmountEmptyDir(context, findings, pod, volume)
      break
    case 'projected':
      unmountProjected(context, findings, pod, volume)
      break
    default:
      unmountPlain(context, findings, pod, volume)
      break
  }
}

/** Mounted sub-paths whose volume has no directory any more: the kubelet never finds them (O17, O18, P142). */
function leakedSubPaths(context: PlanContext, pod: PodClass, volumes: readonly PodVolume[]): SubPaths[] {
  const owned = new Set(volumes.map((volume) => volume.name))
  return [...podSubPaths(context.inputs, pod.uid).values()].filter(
    (subPaths) =>
      !owned.has(subPaths.volumeName) &&
      (subPaths.leaves.some((leaf) => leaf.layers.length > 0) || subPaths.foreign.length > 0),
  )
}

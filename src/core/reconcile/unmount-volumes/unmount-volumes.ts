/**
 * Phase 1 of the pass: volumes of orphaned or finished pods that are still mounted or set up (R405, R440; contract, kinds).
 *
 * One operation per volume and pod, sub-paths first. Any doubt blocks the operation, and is reported.
 */

import type { PodVolume, SubPaths } from '../../actual/pod-volume.ts'
import { podSubPaths, podVolumes } from '../../actual/pod-volumes.ts'
import { defined } from '../../lang/defined.ts'
import { CSI_PLUGIN } from '../../names/volume-names.ts'
import type { Findings } from '../../plan/draft.ts'
import { pluginNamed } from '../../plugins/registry.ts'
import { type PlanContext, waitToSettle } from '../context/context.ts'
import { podTimes } from '../context/pod-facts.ts'
import { memoryBehind, memoryObstacle, UNCOUNTED } from '../obstacles/memory-data.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from '../tear-down/sub-path-steps.ts'
import { tearDown } from '../tear-down/tear-down.ts'
import { unmountCsiVolume } from './unmount-csi-volume.ts'
import { unmountEmptyDir } from './unmount-empty-dir.ts'
import { unmountPlain } from './unmount-plain.ts'
import { unmountProjected } from './unmount-projected.ts'

/** Adds the unmount operations of every Gone and Finished pod. */
export function unmountVolumes(context: PlanContext, findings: Findings): void {
  for (const pod of context.classes.all) {
    if (pod.class !== 'Gone' && pod.class !== 'Finished') continue
    const volumes = podVolumes(context.inputs, pod.uid)
    for (const volume of volumes) unmountVolume(context, findings, pod, volume)
    const leaked = leakedSubPaths(context, pod, volumes)
    for (const subPaths of leaked) unmountLeakedSubPaths(context, findings, pod, subPaths)
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

function unmountLeakedSubPaths(context: PlanContext, findings: Findings, pod: PodClass, subPaths: SubPaths): void {
  const volumeName = subPaths.volumeName
  const persistentVolume = context.objects.persistentVolume(volumeName)
  const volume = {
    name: volumeName,
    plugin: persistentVolume?.spec.csi === undefined ? 'unknown' : CSI_PLUGIN,
    mode: 'Filesystem' as const,
    ...defined({ persistentVolume: persistentVolume && volumeName }),
  }
  const wait = waitToSettle(context, pod, () => podTimes(context, pod))
  tearDown(context, findings, { kind: 'UnmountVolume', pod, volume, wait }, () => {
    const work = subPathWork(context, subPaths)
    const left = work.steps.filter(({ op }) => op === 'umount').length
    const memory = memoryBehind(context, pod.uid, subPaths)
    return {
      reason: 'LeakedSubPath',
      rule: 'O17',
      message: `the directory of its volume ${volumeName} is missing, but ${left} sub-path mount${left === 1 ? ' is' : 's are'} left`,
      subPaths: work,
      steps: work.steps,
      mounts: [],
      obstacle: () => (memory.length === 0 || context.options.orphans ? undefined : memoryObstacle(volumeName, memory)),
      deletes: memory.length === 0 ? undefined : UNCOUNTED,
      kubeletWould: 'leave the sub-paths mounted for ever, and fail to remove the pod directory every 2 s',
    }
  })
}

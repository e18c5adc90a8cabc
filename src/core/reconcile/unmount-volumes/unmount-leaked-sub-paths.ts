/** Sub-path mounts that are all that is left of a volume: they are unmounted by the mount table (O17, O18, P142). */

import { omitUndefined } from '../../base/omit-undefined.ts'
import type { SubPaths } from '../../facts/actual/pod-volumes.ts'
import { CSI_PLUGIN, isGeneration } from '../../facts/actual/volume-names.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import type { Findings } from '../../plan/draft.ts'
import type { Subject } from '../../plan/subject.ts'
import { readyMarker, wrappedName } from '../../volumes/paths.ts'
import { allowedFsTypes } from '../../volumes/plugin.ts'
import type { PlanContext } from '../context/context.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { subPathWork } from '../tear-down/sub-path-steps.ts'
import { tearDown } from '../tear-down/tear-down.ts'

interface Leaked {
  /** What is missing of the volume, with its name. */
  readonly why: string
  readonly subject: Subject
  /** As its directory says, where there is one. */
  readonly plugin?: string
}

export function unmountLeakedSubPaths(
  context: PlanContext,
  findings: Findings,
  pod: PodClass,
  subPaths: SubPaths,
  { why, subject, plugin }: Leaked,
): void {
  const volumeName = subPaths.volumeName
  const persistentVolume = context.objects.persistentVolume(volumeName)
  const volume = {
    name: volumeName,
    plugin: plugin ?? (persistentVolume?.spec.csi === undefined ? 'unknown' : CSI_PLUGIN),
    mode: 'Filesystem' as const,
    ...omitUndefined({ persistentVolume: persistentVolume && volumeName }),
  }
  tearDown(context, findings, { kind: 'UnmountVolume', pod, volume, subject }, () => {
    const work = subPathWork(context, subPaths)
    const left = work.steps.filter(({ op }) => op === 'umount').length
    const memory = memoryBehind(context, pod.uid, subPaths)
    return {
      reason: 'LeakedSubPath',
      rule: 'O17',
      message: `${why}, but ${left} sub-path mount${left === 1 ? ' is' : 's are'} left`,
      subPaths: work,
      steps: [],
      mounts: [],
      data: { name: volumeName, memory },
      deletes: memory.length === 0 ? undefined : UNCOUNTED,
      kubeletWould: 'leave the sub-paths mounted for ever, and fail to remove the pod directory every 2 s',
    }
  })
}

// Data in memory: a tmpfs ends with its last mount, which may be a sub-path's (S13).

/** Files in a mount cannot be counted without entering the mount. */
export const UNCOUNTED = { files: 0, bytes: 0, counted: false } as const

/**
 * Mounts of these sub-paths that may be the last mounts of an emptyDir in memory: no mount outside the pod's own directories
 * shows its file system, unlike that of a hostPath in /run. A volume that the kubelet wraps (secret, projected) is no
 * emptyDir (P22).
 */
export function memoryBehind({ inputs }: PlanContext, podUid: string, subPaths: SubPaths | undefined): MountInfo[] {
  if (subPaths === undefined) return []
  if (inputs.tree.has(readyMarker(podUid, wrappedName(subPaths.volumeName)))) return []
  const layers = subPaths.leaves
    .flatMap((leaf) => leaf.layers)
    .filter(({ fsType, root }) => allowedFsTypes('emptyDir')?.includes(fsType) && !isOfGeneration(root))
  const ending = new Set(
    [...new Set(layers.map(({ dev }) => dev))].filter((dev) =>
      inputs.mounts.ofDevice(dev).every((mount) => mount.mountPoint.includes(`/pods/${podUid}/`)),
    ),
  )
  return layers.filter(({ dev }) => ending.has(dev))
}

/** Content written by the kubelet's atomic writer belongs to no emptyDir, even if the volume's directory is gone (P28). */
function isOfGeneration(root: string): boolean {
  return isGeneration(root.split('/')[1] ?? '')
}

/** Data in memory: a tmpfs ends with its last mount, which may be a sub-path's (S13). */

import type { SubPaths } from '../../facts/actual/pod-volumes.ts'
import { isGeneration } from '../../facts/actual/volume-names.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { readyMarker, wrappedName } from '../../volumes/paths.ts'
import { allowedFsTypes } from '../../volumes/plugin.ts'
import type { PlanContext } from '../context/context.ts'

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

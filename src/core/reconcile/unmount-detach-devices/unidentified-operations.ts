/**
 * Operations on mounts and maps of pods that have ended whose volume could not be identified (S17): it may be any volume whose
 * device is not known, so that device is neither unstaged nor detached before.
 */

import { CSI_PLUGIN } from '../../facts/actual/volume-names.ts'
import { isWithin } from '../../linux/paths.ts'
import type { Draft } from '../../plan/draft.ts'

/** Without leaked sub-paths of a PersistentVolume that is known: its name is searched for separately. */
export function isUnidentified({ volume, reason, kind, removes, blocked }: Draft): boolean {
  if (volume?.plugin !== CSI_PLUGIN || volume.uniqueName !== undefined) return false
  if (reason === 'LeakedSubPath' && volume.persistentVolume !== undefined) return false
  // A staging directory's name is the hash of its handle, so it cannot be another volume's. An UnmapDevice that nothing
  // blocks removes only empty directories.
  return (kind === 'UnmapDevice' && blocked !== undefined) || (kind !== 'UnmountDevice' && removes.size > 0)
}

/** True if both remove mounts of one device, of the same directory or of one inside the other's (O36). */
export function showSameDevice(a: Draft, b: Draft): boolean {
  const layers = layersOf(b)
  return layersOf(a).some(({ dev, root }) =>
    layers.some((other) => other.dev === dev && (isWithin(root, other.root) || isWithin(other.root, root))),
  )
}

function layersOf({ expects = [] }: Draft) {
  return expects.flatMap(({ layers }) => layers)
}

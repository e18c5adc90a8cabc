/**
 * Which sub-paths belong to which volume. The kubelet names them only by the volume's spec name (P136), and a PersistentVolume
 * may have the same name as a volume of the pod: each leaf belongs to the volume that it shows (S18).
 */

import { isWithin } from '../files/path-within.ts'
import { undeletedRoot } from '../mountinfo/deleted.ts'
import type { Location } from '../mountinfo/location.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { PodVolume, SubPathLeaf, SubPaths } from './pod-volume.ts'

type Candidate = Pick<PodVolume, 'plugin' | 'dir' | 'layers'>

/** The location of a directory, given relative to the root directory, in its file system. */
type Locate = (dir: string) => Location | undefined

/** @returns each volume's part, in the order of the volumes; a mount that is on no leaf is part of all of them */
export function shareSubPaths(
  subPaths: SubPaths,
  volumes: readonly Candidate[],
  locate: Locate,
): (SubPaths | undefined)[] {
  if (volumes.length < 2) return volumes.map(() => subPaths)
  const owners = new Map(subPaths.leaves.map((leaf) => [leaf, ownerOf(leaf, volumes, locate)]))
  return volumes.map((volume) => {
    const leaves = subPaths.leaves.filter((leaf) => owners.get(leaf) === volume)
    return leaves.length === 0 && subPaths.foreign.length === 0 ? undefined : { ...subPaths, leaves }
  })
}

function ownerOf(leaf: SubPathLeaf, volumes: readonly Candidate[], locate: Locate): Candidate | undefined {
  const top = leaf.layers.at(-1)
  const shown = top === undefined ? undefined : volumes.find((volume) => shows(top, volume, locate))
  if (shown !== undefined) return shown
  // No volume shows this leaf: a mount in memory may be an emptyDir's data, and is protected as such (S13).
  const inMemory = top?.fsType === 'tmpfs' || top?.fsType === 'hugetlbfs'
  const emptyDir = volumes.find(({ plugin }) => plugin === 'kubernetes.io/empty-dir')
  return inMemory && emptyDir !== undefined ? emptyDir : volumes[0]
}

/** Is the leaf a bind mount of the volume's mount or a part of it, or, if the volume is not mounted, of its directory? */
function shows(leaf: MountInfo, { dir, layers }: Candidate, locate: Locate): boolean {
  const root = undeletedRoot(leaf.root)
  if (layers.length > 0) return layers.some((layer) => layer.dev === leaf.dev && isWithin(root, layer.root))
  if (`${root}/`.includes(`/${dir}/`)) return true
  // Behind a link the directory has another path.
  const place = locate(dir)
  return place !== undefined && place.dev === leaf.dev && isWithin(root, place.path)
}

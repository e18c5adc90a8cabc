/**
 * One pod's file system volumes, by the disk and the mount table.
 *
 * Found by listing, as the kubelet's reconstruction does (R502), and in the mount table, which also shows volumes that are hidden
 * or have no directory left. Nothing is judged here: `reconcile/` does that.
 */

import { compareText, present } from '../../base/text.ts'
import { locate } from '../../linux/location.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin, undeletedRoot } from '../../linux/paths.ts'
import type { TreeEntry } from '../snapshot.ts'
import { API_CONTENT, CSI_PLUGIN, type StateFile, unescapeQualifiedName, uniquePodVolumeName } from '../volume-names.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { baseName, isWithinAny, parentOf } from './tree.ts'

// One volume of a pod, as found on disk.

export interface SubPathLeaf {
  /** Relative to the root directory: pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX. */
  readonly path: string
  readonly entry: TreeEntry | undefined
  /** Mounts on the leaf, oldest first. */
  readonly layers: readonly MountInfo[]
}

/** The sub-path mounts of one volume name of a pod (P136). */
export interface SubPaths {
  readonly podUid: string
  readonly volumeName: string
  /** Relative: pods/UID/volume-subpaths/VOLUME */
  readonly dir: string
  readonly leaves: readonly SubPathLeaf[]
  /** Mounts below the directory that are on no leaf: the kubelet did not make them. */
  readonly foreign: readonly MountInfo[]
}

export interface PodVolume {
  readonly podUid: string
  /** kubernetes.io/csi, vendor/driver, or an unknown name. */
  readonly plugin: string
  /** Name of the directory. */
  readonly name: string
  /** Relative: pods/UID/volumes/PLUGIN/NAME. */
  readonly dir: string
  /** Relative: the mount point: the directory itself, or for CSI `mount` in it. */
  readonly target: string
  /** Mounts on the target, oldest first. */
  readonly layers: readonly MountInfo[]
  /** Mounts elsewhere in the volume's directory, or below the target. */
  readonly foreign: readonly MountInfo[]
  readonly stateFile: StateFile | undefined
  /** Relative paths of `ready` markers (P21). */
  readonly markers: readonly string[]
  /** Entries below the directory on the kubelet's own file system, without state file and mount point. */
  readonly content: readonly TreeEntry[]
  /** The sub-paths that show this volume, if several volumes of the pod have its name. */
  readonly subPaths?: SubPaths
}

/** The name of an inline CSI volume, which no other pod can have. */
export function inlineNameOf({ stateFile, podUid, name }: PodVolume): string | undefined {
  const data = stateFile?.data
  return data?.volumeLifecycleMode === 'Ephemeral'
    ? uniquePodVolumeName(CSI_PLUGIN, podUid, data.specVolID ?? name)
    : undefined
}

/** What a pod has on disk and mounted. */
export interface PodParts {
  /** Every file system volume that has a directory or a mount, sorted by plugin and name. */
  readonly volumes: readonly PodVolume[]
  /** Mounted sub-paths whose volume has no directory any more: the kubelet never finds them (O17, O18, P142). */
  readonly leaked: readonly SubPaths[]
}

export function podParts(inputs: ActualInputs, podUid: string): PodParts {
  const all = podSubPaths(inputs, podUid)
  const volumes = volumesFound(inputs, podUid)
  if (all.length === 0) return { volumes, leaked: [] }
  const alike = Map.groupBy(volumes, ({ name }) => name)
  return {
    volumes: volumes.map((volume) => {
      const subPaths = all.find(({ volumeName }) => volumeName === volume.name)
      return { ...volume, subPaths: subPaths && shareOf(inputs, volume, subPaths, alike.get(volume.name) ?? []) }
    }),
    leaked: all.filter(
      ({ volumeName, leaves, foreign }) =>
        !alike.has(volumeName) && (foreign.length > 0 || leaves.some(({ layers }) => layers.length > 0)),
    ),
  }
}

function volumesFound(inputs: ActualInputs, podUid: string): PodVolume[] {
  const base = `pods/${podUid}/volumes`
  const mounted = inputs.mountedAt(base, 2)
  const dirs = new Set([...inputs.tree.grandchildren(base), ...mounted.keys()])
  return [...dirs].toSorted(compareText).map((dir) => {
    const plugin = unescapeQualifiedName(baseName(parentOf(dir)))
    return podVolume(inputs, { podUid, plugin, name: baseName(dir), dir }, mounted.get(dir) ?? [])
  })
}

function podVolume(
  inputs: ActualInputs,
  found: Pick<PodVolume, 'podUid' | 'plugin' | 'name' | 'dir'>,
  mounts: readonly MountInfo[],
): PodVolume {
  const { tree } = inputs
  const { podUid, plugin, name, dir } = found
  const csi = plugin === CSI_PLUGIN
  const target = csi ? `${dir}/mount` : dir
  const { layers, foreign } = inputs.stackedOn(target, dir, mounts)
  const stateFile = csi ? tree.stateFile(`${dir}/vol_data.json`) : undefined
  return {
    ...{ podUid, plugin, name, dir, target, layers, foreign, stateFile },
    markers: markersOf(inputs, podUid, plugin, name),
    content: outsideMounts(
      inputs,
      [...layers, ...foreign],
      tree
        .descendants(dir)
        .filter((entry) => entry.path !== stateFile?.path && !(csi && entry.path === target && entry.type === 'dir')),
    ),
  }
}

/** The entries that none of the mounts shows. */
function outsideMounts(inputs: ActualInputs, mounts: readonly MountInfo[], entries: TreeEntry[]): TreeEntry[] {
  if (entries.length === 0) return entries
  const mountPoints = new Set(mounts.map((mount) => inputs.pathOf(mount)))
  return entries.filter((entry) => !isWithinAny(entry.path, mountPoints))
}

function markersOf(inputs: ActualInputs, podUid: string, plugin: string, name: string): string[] {
  const meta = `pods/${podUid}/plugins`
  const isGitRepo = plugin === 'kubernetes.io/git-repo'
  return present(
    plugin === 'kubernetes.io/empty-dir' && `${meta}/kubernetes.io~empty-dir/${name}/ready`,
    // Those of what the kubelet fills have a directory of another name (P22).
    (isGitRepo || API_CONTENT.has(plugin)) && `${meta}/kubernetes.io~empty-dir/wrapped_${name}/ready`,
    isGitRepo && `${meta}/kubernetes.io~git-repo/${name}/ready`,
  ).filter((path) => inputs.tree.has(path))
}

/** Sub-paths of a pod, for each volume name (P136, P142): from the tree and from the mount table. */
function podSubPaths(inputs: ActualInputs, podUid: string): SubPaths[] {
  const base = `pods/${podUid}/volume-subpaths`
  const { tree } = inputs
  const mounted = inputs.mountedAt(base, 1)
  const dirs = new Set([...tree.children(base).map(({ path }) => path), ...mounted.keys()])
  return [...dirs].toSorted(compareText).map((dir) => {
    const mounts = Map.groupBy(mounted.get(dir) ?? [], (mount) => inputs.pathOf(mount))
    const { leaf = [], other = [] } = Object.groupBy(mounts.keys(), (path) =>
      path.split('/').length === 6 ? 'leaf' : 'other',
    )
    return {
      podUid,
      volumeName: baseName(dir),
      dir,
      foreign: other.flatMap((path) => mounts.get(path) ?? []),
      leaves: [...new Set([...tree.grandchildren(dir), ...leaf])]
        .toSorted(compareText)
        .map((path) => ({ path, entry: tree.get(path), layers: mounts.get(path) ?? [] })),
    }
  })
}

/**
 * Which sub-paths belong to a volume. The kubelet names them only by the volume's spec name (P136), and a PersistentVolume
 * may have the same name as a volume of the pod: each leaf belongs to the volume that it shows (S18).
 *
 * @param alike all volumes of its name: each gets its part; a mount that is on no leaf is part of all of them
 */
function shareOf(
  inputs: ActualInputs,
  volume: PodVolume,
  subPaths: SubPaths,
  alike: readonly PodVolume[],
): SubPaths | undefined {
  if (alike.length < 2) return subPaths
  const leaves = subPaths.leaves.filter((leaf) => ownerOf(inputs, leaf, alike) === volume)
  return leaves.length + subPaths.foreign.length > 0 ? { ...subPaths, leaves } : undefined
}

function ownerOf(inputs: ActualInputs, leaf: SubPathLeaf, volumes: readonly PodVolume[]): PodVolume | undefined {
  const top = leaf.layers.at(-1)
  const shown = top === undefined ? undefined : volumes.find((volume) => shows(inputs, top, volume))
  if (shown !== undefined) return shown
  // No volume shows this leaf: a mount in memory may be an emptyDir's data, and is protected as such (S13).
  const inMemory = top?.fsType === 'tmpfs' || top?.fsType === 'hugetlbfs'
  const emptyDir = volumes.find(({ plugin }) => plugin === 'kubernetes.io/empty-dir')
  return inMemory && emptyDir !== undefined ? emptyDir : volumes[0]
}

/** Is the leaf a bind mount of the volume's mount or a part of it, or, if the volume is not mounted, of its directory? */
function shows(inputs: ActualInputs, leaf: MountInfo, { dir, layers }: PodVolume): boolean {
  const root = undeletedRoot(leaf.root)
  if (layers.length > 0) return layers.some((layer) => layer.dev === leaf.dev && isWithin(root, layer.root))
  if (`${root}/`.includes(`/${dir}/`)) return true
  // Behind a link the directory has another path.
  const place = locate(inputs.mounts, inputs.absolute(dir))
  return place !== undefined && place.dev === leaf.dev && isWithin(root, place.path)
}

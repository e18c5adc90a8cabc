/**
 * One pod's file system volumes, by the disk and the mount table.
 *
 * Found by listing, as the kubelet's reconstruction does (R502), and in the mount table, which also shows volumes that are hidden
 * or have no directory left. Nothing is judged here: `reconcile/` does that.
 */

import { append } from '../../base/append.ts'
import { compareText } from '../../base/compare-text.ts'
import { once } from '../../base/memoize.ts'
import { undeletedRoot } from '../../linux/deleted.ts'
import { type Location, locate } from '../../linux/location.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import type { ActualInputs } from './actual-inputs.ts'
import type { TreeEntry } from './snapshot.ts'
import { readStateFile, type StateFile } from './state-file.ts'
import { baseName, isWithinAny } from './tree.ts'
import { API_CONTENT, CSI_PLUGIN, unescapeQualifiedName } from './volume-names.ts'

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
  readonly subPaths: SubPaths | undefined
}

/** Where a volume of a pod is. */
type PodVolumePlace = Pick<PodVolume, 'podUid' | 'plugin' | 'name' | 'dir' | 'target'>

/** Every file system volume of a pod that has a directory or a mount, sorted by plugin and name. */
function podVolumePlaces(inputs: ActualInputs, podUid: string): PodVolumePlace[] {
  const { tree } = inputs
  const volumesDir = `pods/${podUid}/volumes`
  const found = new Map<string, { plugin: string; name: string }>()
  for (const pluginEntry of tree.children(volumesDir)) {
    if (pluginEntry.type !== 'dir') continue
    for (const entry of tree.children(pluginEntry.path)) {
      found.set(entry.path, { plugin: unescapeQualifiedName(baseName(pluginEntry.path)), name: baseName(entry.path) })
    }
  }
  for (const mount of inputs.podMounts(podUid)) {
    const [, , kind, plugin, name] = inputs.relative(inputs.plain(mount.mountPoint)).split('/')
    if (kind !== 'volumes' || plugin === undefined || name === undefined) continue
    found.set(`${volumesDir}/${plugin}/${name}`, { plugin: unescapeQualifiedName(plugin), name })
  }
  return [...found]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([dir, { plugin, name }]) => ({
      ...{ podUid, plugin, name, dir },
      target: plugin === CSI_PLUGIN ? `${dir}/mount` : dir,
    }))
}

/** The same, with what is on disk and mounted of each. */
export function podVolumes(inputs: ActualInputs, podUid: string): PodVolume[] {
  const subPaths = podSubPaths(inputs, podUid)
  const volumes = podVolumePlaces(inputs, podUid).map((place) => podVolume(inputs, place))
  // Nearly no pod has sub-paths.
  if (subPaths.size === 0) return volumes.map((volume) => ({ ...volume, subPaths: undefined }))
  const parts = new Map(
    [...Map.groupBy(volumes, (volume) => volume.name)].flatMap(([name, alike]) => {
      const all = subPaths.get(name)
      const locateDir = (dir: string): Location | undefined => locate(inputs.mounts, inputs.absolute(dir))
      return all === undefined
        ? []
        : shareSubPaths(all, alike, locateDir).map((part, index) => [alike[index], part] as const)
    }),
  )
  return volumes.map((volume) => ({ ...volume, subPaths: parts.get(volume) }))
}

function podVolume(inputs: ActualInputs, found: PodVolumePlace): Omit<PodVolume, 'subPaths'> {
  const { tree } = inputs
  const { target } = found
  const csi = found.plugin === CSI_PLUGIN
  const { layers, foreign } = inputs.stackedOn(target, found.dir)
  const stateFile = csi ? readStateFile(tree.get(`${found.dir}/vol_data.json`)) : undefined
  return {
    ...found,
    layers,
    foreign,
    stateFile,
    markers: markersOf(inputs, found.podUid, found.plugin, found.name),
    content: outsideMounts(
      inputs,
      [...layers, ...foreign],
      tree
        .descendants(found.dir)
        .filter((entry) => entry.path !== stateFile?.path && !(csi && entry.path === target && entry.type === 'dir')),
    ),
  }
}

/** The entries that none of the mounts shows. */
function outsideMounts(inputs: ActualInputs, mounts: readonly MountInfo[], entries: TreeEntry[]): TreeEntry[] {
  if (entries.length === 0) return entries
  const mountPoints = new Set(mounts.map((mount) => inputs.relative(inputs.plain(mount.mountPoint))))
  return entries.filter((entry) => !isWithinAny(entry.path, mountPoints))
}

function markersOf(inputs: ActualInputs, podUid: string, plugin: string, name: string): string[] {
  const meta = `pods/${podUid}/plugins/kubernetes.io~empty-dir`
  // Those of what the kubelet fills have a directory of another name (P22).
  const candidates =
    plugin === 'kubernetes.io/empty-dir'
      ? [`${meta}/${name}/ready`]
      : API_CONTENT.has(plugin) || plugin === 'kubernetes.io/git-repo'
        ? [`${meta}/wrapped_${name}/ready`]
        : []
  if (plugin === 'kubernetes.io/git-repo')
    candidates.push(`pods/${podUid}/plugins/kubernetes.io~git-repo/${name}/ready`)
  return candidates.filter((path) => inputs.tree.has(path))
}

/** Sub-paths of a pod by volume name (P136, P142): from the tree and from the mount table. */
export function podSubPaths(inputs: ActualInputs, podUid: string): Map<string, SubPaths> {
  const base = `pods/${podUid}/volume-subpaths`
  const { tree } = inputs
  const mountsByPath = new Map<string, MountInfo[]>()
  for (const mount of inputs.mountsWithin(base)) {
    const path = inputs.relative(inputs.plain(mount.mountPoint))
    if (path !== base) append(mountsByPath, path, mount)
  }
  const found = new Map<string, { leaves: Set<string>; foreign: MountInfo[] }>()
  const volumeOf = (name: string) => once(found, name, () => ({ leaves: new Set<string>(), foreign: [] }))
  for (const directory of tree.children(base)) {
    const { leaves } = volumeOf(baseName(directory.path))
    for (const container of tree.children(directory.path)) {
      if (container.type !== 'dir') continue
      for (const leaf of tree.children(container.path)) leaves.add(leaf.path)
    }
  }
  for (const [path, layers] of mountsByPath) {
    const parts = path.split('/')
    const volume = volumeOf(parts[3] ?? '')
    if (parts.length === 6) volume.leaves.add(path)
    else volume.foreign.push(...layers)
  }
  const sorted = [...found].toSorted(([a], [b]) => compareText(a, b))
  return new Map(
    sorted.map(([volumeName, { leaves, foreign }]) => [
      volumeName,
      {
        podUid,
        volumeName,
        dir: `${base}/${volumeName}`,
        leaves: [...leaves]
          .toSorted(compareText)
          .map((path) => ({ path, entry: tree.get(path), layers: mountsByPath.get(path) ?? [] })),
        foreign,
      },
    ]),
  )
}

type Candidate = Pick<PodVolume, 'plugin' | 'dir' | 'layers'>

/** The location of a directory, given relative to the root directory, in its file system. */
type Locate = (dir: string) => Location | undefined

/**
 * Which sub-paths belong to which volume. The kubelet names them only by the volume's spec name (P136), and a PersistentVolume
 * may have the same name as a volume of the pod: each leaf belongs to the volume that it shows (S18).
 *
 * @returns each volume's part, in the order of the volumes; a mount that is on no leaf is part of all of them
 */
function shareSubPaths(subPaths: SubPaths, volumes: readonly Candidate[], locate: Locate): (SubPaths | undefined)[] {
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

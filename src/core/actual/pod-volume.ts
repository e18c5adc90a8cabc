/** One volume of a pod, as found on disk. */
import type { TreeEntry } from '../model/snapshot.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { StateFile } from './state-file.ts'

export interface SubPathLeaf {
  /** Relative to the root directory: pods/UID/volume-subpaths/VOLUME/CONTAINER/INDEX. */
  readonly path: string
  readonly entry: TreeEntry | undefined
  /** Mounts on the leaf, oldest first. */
  readonly layers: readonly MountInfo[]
}

/** The sub-path mounts of one volume name of a pod (P136). */
export interface SubPaths {
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

/** What one volume of a pod has on disk. */
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
  /** Mounts below the directory that are on no leaf: not the kubelet's. */
  readonly foreign: readonly MountInfo[]
}

export interface PodVolume {
  readonly podUid: string
  /** kubernetes.io/csi, vendor/driver, or a name nobody knows. */
  readonly plugin: string
  /** Name of the directory. */
  readonly name: string
  /** Relative: pods/UID/volumes/PLUGIN/NAME. */
  readonly dir: string
  /** Relative: what gets mounted over: the directory itself, or `mount` in it for CSI. */
  readonly target: string
  /** Mounts on the target, oldest first. */
  readonly layers: readonly MountInfo[]
  /** Mounts elsewhere in the volume's directory, or below the target. */
  readonly foreign: readonly MountInfo[]
  readonly stateFile: StateFile | undefined
  /** Relative paths of `ready` markers (P21). */
  readonly markers: readonly string[]
  /** Entries below the directory that lie on the kubelet's own file system, state file and mount point aside. */
  readonly content: readonly TreeEntry[]
  /** Those that show this volume, where several of the pod bear its name. */
  readonly subPaths: SubPaths | undefined
}

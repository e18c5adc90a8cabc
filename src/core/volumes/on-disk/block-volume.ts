/** A raw block volume, as found on this node. */

import { compareText } from '../../base/text.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { undeletedPath } from '../../linux/paths.ts'
import type { NodeSnapshot, TreeEntry } from '../snapshot.ts'
import type { StateFile } from '../volume-names.ts'
import type { ActualInputs } from './actual-inputs.ts'

/** One pod's part of a block volume (C10, P98). */
export interface BlockMapping {
  readonly podUid: string
  /** Relative: pods/UID/volumeDevices/PLUGIN/NAME, where it exists. */
  readonly symlink: string | undefined
  /** Relative: the file under the global map directory with the device bind-mounted on it. */
  readonly mapFile: string | undefined
  readonly mapLayers: readonly MountInfo[]
  /** Relative: the device that the driver published; CSI only. */
  readonly publishPath: string | undefined
  readonly publishLayers: readonly MountInfo[]
  /** Loop devices that hold the map file open (C19). */
  readonly loops: readonly string[]
}

/** A raw block volume on this node: its map directory and everything that belongs to it. */
export interface BlockVolume {
  readonly plugin: string
  /** The spec name. */
  readonly name: string
  /** Relative: plugins/kubernetes.io/csi/volumeDevices/NAME for CSI, the map directory itself for others. */
  readonly dir: string
  /** Relative: the directories that it shares with no other volume, as those of a few names do (C10); the directory itself. */
  readonly own: readonly string[]
  /** Relative: where the map files are. */
  readonly mapDir: string
  readonly stateFile?: StateFile
  /** Relative; CSI only. */
  readonly stagingPath?: string
  readonly publishDir?: string
  readonly mappings: readonly BlockMapping[]
  /** Mounts below the other directories that belong to no mapping. */
  readonly foreign: readonly MountInfo[]
  /** Files below the other directories that the kubelet does not make. */
  readonly unexpected: readonly TreeEntry[]
  /** Mounts and files in the staging path, which belongs to the driver; of other plugins none, in the directory. */
  readonly staging: {
    readonly path: string
    readonly mounts: readonly MountInfo[]
    readonly files: readonly TreeEntry[]
  }
}

/** A pod's map file, the mounts on it, and the loop devices that hold it open. @param path relative to the root directory */
export function mapFileOf(inputs: ActualInputs, path: string) {
  return {
    mapFile: existing(inputs, path),
    mapLayers: inputs.at(path),
    loops: loopsBackedBy(inputs.snapshot, inputs.absolute(path)).toSorted(compareText),
  }
}

/** The path, where anything is there. */
export function existing(inputs: ActualInputs, path: string): string | undefined {
  return inputs.tree.has(path) || inputs.at(path).length > 0 ? path : undefined
}

/**
 * Loop devices with this backing file, even if the file was deleted.
 *
 * @param path absolute
 * @returns their names in /dev, in the order of the snapshot
 */
export function loopsBackedBy({ blockDevices = [] }: NodeSnapshot, path: string): string[] {
  return blockDevices.flatMap(({ name, backingFile }) =>
    backingFile !== undefined && undeletedPath(backingFile) === path ? [name] : [],
  )
}

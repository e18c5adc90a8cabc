/**
 * Global mounts of plugins other than CSI, found by the directory tree and by the mount table (R022, P67, P72, P79, P86).
 *
 * A directory with nothing mounted on it counts, too: an interrupted tear-down leaves one (R837).
 */

import { compareText } from '../base/text.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import { isWithin } from '../linux/paths.ts'
import { flexVolume } from '../volumes/flex-volume.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { baseName } from '../volumes/on-disk/tree.ts'
import { PLUGINS, pluginNamed } from '../volumes/registry.ts'
import type { TreeEntry } from '../volumes/snapshot.ts'
import { uniqueVolumeName } from '../volumes/volume-names.ts'

export interface GlobalMount {
  /** For flexVolume the driver's own name. */
  readonly plugin: string
  readonly flex: boolean
  readonly name: string
  /** Relative to the root directory. */
  readonly path: string
  /** Oldest first; empty: nothing is mounted. */
  readonly layers: readonly MountInfo[]
  /** Mounts below the directory, which the kubelet did not make. */
  readonly foreign: readonly MountInfo[]
  /** Entries in the unmounted directory. */
  readonly content: readonly TreeEntry[]
}

/** Sorted by path. */
export function globalMounts(inputs: ActualInputs): GlobalMount[] {
  // Directories that may be leftovers of a tear-down.
  const directories = PLUGINS.flatMap(({ device: { base = '', depths = [] } = {} }) =>
    depths.flatMap((depth) => inputs.tree.directoriesBelow(base, depth)),
  )
  const paths = [...directories, ...inputs.pluginMounts().map((mount) => inputs.pathOf(mount))]
  return [...new Set(paths)].toSorted(compareText).flatMap((path): GlobalMount | [] => {
    const owner = ownerOf(path)
    if (owner === undefined) return []
    const { layers, foreign } = inputs.stackedOn(path, path)
    const content = layers.length > 0 ? [] : inputs.tree.descendants(path)
    return { ...owner, name: baseName(path), path, layers, foreign, content }
  })
}

/** By the form of the path alone: any other mount below these directories is foreign. */
function ownerOf(path: string) {
  const owner = PLUGINS.find(({ device }) => device !== undefined && path.startsWith(`${device.base}/`))
  const [at, plugin = owner?.name ?? ''] = owner?.device?.globals.exec(path.slice(owner.device.base.length + 1)) ?? []
  return at === undefined ? undefined : { plugin, flex: owner === flexVolume }
}

/** Is this the directory of a plugin's global directories, or below it, as deep as a global directory can be? */
export function mayBeGlobal(path: string): boolean {
  // Nearly all links on a node are in volumes of pods, and are asked about one by one.
  if (!path.startsWith('plugins/')) return false
  return PLUGINS.some(
    ({ device }) =>
      device !== undefined && isWithin(path, device.base) && path.slice(device.base.length).split('/').length <= 5,
  )
}

/** The unique name of the volume of a global directory, as far as the directory's name shows it. */
export function globalUniqueName(plugin: string, path: string): string {
  return pluginNamed(plugin).device?.uniqueName?.(path) ?? uniqueVolumeName(plugin, baseName(path))
}

/** The content of a block volume's global map directory (P98, C10). */
import { compareText } from '../lang/compare-text.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { isUid } from '../names/uid.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { loopsBackedBy } from './backed-loops.ts'
import type { BlockMapping, BlockVolume } from './block-volume.ts'
import { baseName } from './tree.ts'

/** A pod's map file, the mounts on it, and the loop devices that hold it open. */
export function mapFileOf(
  inputs: ActualInputs,
  mapDir: string,
  podUid: string,
): Pick<BlockMapping, 'mapFile' | 'mapLayers' | 'loops'> {
  const path = `${mapDir}/${podUid}`
  return {
    mapFile: exists(inputs, path) ? path : undefined,
    mapLayers: inputs.at(path),
    loops: loopsBackedBy(inputs.snapshot, inputs.absolute(path)).toSorted(compareText),
  }
}

/** A pod's part of a volume whose plugin publishes nothing: its link and its map file. */
export function mappingOf(
  inputs: ActualInputs,
  mapDir: string,
  podUid: string,
  symlink: string | undefined,
): BlockMapping {
  return { podUid, symlink, ...mapFileOf(inputs, mapDir, podUid), publishPath: undefined, publishLayers: [] }
}

/** A volume that has only a map directory: no driver, no state file. */
export function mapDirectoryOnly(
  plugin: string,
  dir: string,
  name: string,
): Pick<BlockVolume, 'plugin' | 'name' | 'dir' | 'mapDir' | 'stateFile' | 'stagingPath' | 'publishDir'> {
  return { plugin, name, dir, mapDir: dir, stateFile: undefined, stagingPath: undefined, publishDir: undefined }
}

export function exists(inputs: ActualInputs, path: string): boolean {
  return inputs.tree.has(path) || inputs.at(path).length > 0
}

/** UIDs of pods that have a file or a mount in a map directory; any other name there is no map. */
export function uidsBelow(inputs: ActualInputs, dir: string): string[] {
  const prefix = `${inputs.absolute(dir)}/`
  const mounted = inputs
    .mountsWithin(dir)
    .map((mount) => inputs.plain(mount.mountPoint))
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length))
  const files = inputs.tree.children(dir).filter((entry) => entry.type !== 'dir')
  return [...files.map((entry) => baseName(entry.path)), ...mounted].filter(
    (name) => isUid(name.toLowerCase()) || inputs.tree.isDir(`pods/${name}`),
  )
}

export function foreignMounts(inputs: ActualInputs, dirs: readonly string[], known: ReadonlySet<string>): MountInfo[] {
  return dirs
    .flatMap((dir) => inputs.mountsWithin(dir))
    .filter((mount) => !known.has(inputs.relative(inputs.plain(mount.mountPoint))))
    .toSorted((a, b) => a.index - b.index)
}

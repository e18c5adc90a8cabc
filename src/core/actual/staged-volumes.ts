/** Staged file systems: the global mounts of CSI volumes. */
import { compareText } from '../lang/compare-text.ts'
import { onceFor } from '../lang/once-for.ts'
import type { TreeEntry } from '../model/snapshot.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { DRIVER_DIRECTORIES } from '../names/structure.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { readStateFile, type StateFile } from './state-file.ts'
import { baseName, parentOf } from './tree.ts'

/** One staging directory of a CSI file system volume: plugins/kubernetes.io/csi/DRIVER/HASH (C10), or pv/NAME (C11). */
export interface StagedVolume {
  /** Relative. */
  readonly dir: string
  /** Relative: `globalmount` in it. */
  readonly target: string
  /** Name of the parent directory; `pv` in the layout before 1.24 (C11). */
  readonly driverDir: string
  /** Name of the directory: hex SHA-256 of the handle, or the PV's name in the old layout. */
  readonly key: string
  readonly layers: readonly MountInfo[]
  /** Mounts below the directory that are not on the target. */
  readonly foreign: readonly MountInfo[]
  readonly stateFile: StateFile | undefined
  readonly hasTarget: boolean
  /** Anything else in the directory, unmounted. */
  readonly content: readonly TreeEntry[]
}

/** In the layout before 1.24: pv/NAME. */
export function isOld({ driverDir }: StagedVolume): boolean {
  return driverDir === 'pv'
}

/** A driver without staging leaves an empty directory: an empty directory alone is no trace (R025). */
export function isSetUp({ layers, foreign, stateFile }: StagedVolume): boolean {
  return layers.length > 0 || foreign.length > 0 || stateFile !== undefined
}

/** Every staging directory, by the tree and by the mount table, sorted by path. */
export const stagedVolumes = onceFor((inputs: ActualInputs): readonly StagedVolume[] => {
  const base = DRIVER_DIRECTORIES
  const dirs = new Set<string>()
  for (const driver of inputs.tree.childDirs(base)) {
    if (driver === 'volumeDevices') continue
    for (const key of inputs.tree.childDirs(`${base}/${driver}`)) dirs.add(`${base}/${driver}/${key}`)
  }
  for (const mount of inputs.pluginMounts()) {
    const parts = inputs.relative(inputs.plain(mount.mountPoint)).split('/')
    if (parts.slice(0, 3).join('/') !== base || parts[3] === 'volumeDevices' || parts.length < 6) continue
    dirs.add(parts.slice(0, 5).join('/'))
  }
  return [...dirs].toSorted(compareText).map((dir) => {
    const target = `${dir}/globalmount`
    const onDir = inputs.absolute(dir)
    const below = inputs.mountsWithin(dir).filter((mount) => inputs.plain(mount.mountPoint) !== onDir)
    const onTarget = (mount: MountInfo): boolean => inputs.plain(mount.mountPoint) === inputs.absolute(target)
    const stateFile = readStateFile(inputs.tree.get(`${dir}/vol_data.json`))
    const layers = below.filter(onTarget)
    return {
      dir,
      target,
      driverDir: baseName(parentOf(dir)),
      key: baseName(dir),
      layers,
      foreign: below.filter((mount) => !onTarget(mount)),
      stateFile,
      hasTarget: inputs.tree.has(target) || layers.length > 0,
      content: inputs.tree
        .descendants(dir)
        .filter((entry) => entry.path !== target && entry.path !== stateFile?.path)
        .filter((entry) => layers.length === 0 || !entry.path.startsWith(`${target}/`)),
    }
  })
})

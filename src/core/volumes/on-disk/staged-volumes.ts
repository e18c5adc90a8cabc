/** Staged file systems, the global mounts of CSI volumes: which there are, by device and by handle. */

import { append, memoize } from '../../base/collections.ts'
import { compareText } from '../../base/text.ts'
import { areOtherExports } from '../../linux/location.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { isWithin } from '../../linux/paths.ts'
import type { TreeEntry } from '../snapshot.ts'
import { type StateFile, sha256Hex } from '../volume-names.ts'
import type { ActualInputs } from './actual-inputs.ts'
import { baseName, DRIVER_DIRECTORIES, parentOf } from './tree.ts'

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
export const stagedVolumes = memoize((inputs: ActualInputs): readonly StagedVolume[] => {
  const dirs = [
    ...inputs.tree.directoriesBelow(DRIVER_DIRECTORIES, 2),
    ...Array.from(inputs.mountedAt(DRIVER_DIRECTORIES, 3).keys(), parentOf),
  ].filter((dir) => !isWithin(dir, `${DRIVER_DIRECTORIES}/volumeDevices`))
  return [...new Set(dirs)].toSorted(compareText).map((dir) => {
    const target = `${dir}/globalmount`
    const onDir = inputs.absolute(dir)
    const { layers, foreign } = inputs.stackedOn(target, dir)
    const stateFile = inputs.tree.stateFile(`${dir}/vol_data.json`)
    return {
      dir,
      target,
      driverDir: baseName(parentOf(dir)),
      key: baseName(dir),
      layers,
      foreign: foreign.filter((mount) => inputs.plain(mount.mountPoint) !== onDir),
      stateFile,
      hasTarget: inputs.tree.has(target) || layers.length > 0,
      content: inputs.tree
        .descendants(dir)
        .filter(({ path }) => path !== target && path !== stateFile?.path)
        .filter(({ path }) => layers.length === 0 || !path.startsWith(`${target}/`)),
    }
  })
})

// Staged file systems by the device that they are mounted from, and by handle, for comparison with a published mount (S17).

/** Staged volumes whose file system, or a part of it, this mount shows. */
export function stagedShownBy(staged: readonly StagedVolume[], published: MountInfo): StagedVolume[] {
  return (byDevice(staged).get(published.dev) ?? []).filter(({ layers }) =>
    layers.some(
      ({ dev, root, source }) =>
        dev === published.dev && isWithin(published.root, root) && !areOtherExports(published.source, source),
    ),
  )
}

const byDevice = memoize((staged: readonly StagedVolume[]): ReadonlyMap<string, readonly StagedVolume[]> => {
  const devices = new Map<string, StagedVolume[]>()
  for (const each of staged)
    for (const dev of new Set(each.layers.map((layer) => layer.dev))) append(devices, dev, each)
  return devices
})

/** By the hash in the directory's name; in the older layout, whose names contain no hash, by vol_data.json (C11). */
export function stagedUnder(staged: readonly StagedVolume[], handle: string): readonly StagedVolume[] {
  return byHash(staged).get(sha256Hex(handle)) ?? []
}

/** Asked for every volume of every pod. */
const byHash = memoize((staged: readonly StagedVolume[]) =>
  Map.groupBy(staged, (each) => {
    const handle = each.stateFile?.data?.handle
    return isOld(each) ? handle && sha256Hex(handle) : each.key
  }),
)

export function driverOf(staged: StagedVolume): string | undefined {
  return isOld(staged) ? staged.stateFile?.data?.driver : staged.driverDir
}

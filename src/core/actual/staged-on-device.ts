/** Staged file systems by the device that they are mounted from, and by handle, for comparison with a published mount (S17). */
import { isWithin } from '../files/path-within.ts'
import { append } from '../lang/append.ts'
import { compareText } from '../lang/compare-text.ts'
import { onceFor } from '../lang/once-for.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { sha256Hex } from '../names/volume-names.ts'
import { isOld, type StagedVolume } from './staged-volumes.ts'

/** Staged volumes whose file system, or a part of it, this mount shows. */
export function stagedShownBy(staged: readonly StagedVolume[], published: MountInfo): StagedVolume[] {
  return (byDevice(staged).get(published.dev) ?? []).filter(({ layers }) =>
    layers.some((layer) => layer.dev === published.dev && isWithin(published.root, layer.root)),
  )
}

const byDevice = onceFor((staged: readonly StagedVolume[]): ReadonlyMap<string, readonly StagedVolume[]> => {
  const devices = new Map<string, StagedVolume[]>()
  for (const each of staged) {
    for (const dev of new Set(each.layers.map((layer) => layer.dev))) append(devices, dev, each)
  }
  return devices
})

/** By the hash in the directory's name; in the older layout, whose names contain no hash, by vol_data.json (C11). */
export function stagedUnder(staged: readonly StagedVolume[], handle: string): readonly StagedVolume[] {
  return byHandle(staged)(handle)
}

/** Asked for every volume of every pod. */
const byHandle = onceFor((staged: readonly StagedVolume[]) => {
  const older = Map.groupBy(staged, isOld)
  const byFile = Map.groupBy(older.get(true) ?? [], ({ stateFile }) => stateFile?.data?.volumeHandle)
  const byHash = Map.groupBy(older.get(false) ?? [], ({ key }) => key)
  return (handle: string): readonly StagedVolume[] => {
    const found = [...(byHash.get(sha256Hex(handle)) ?? []), ...(byFile.get(handle) ?? [])]
    return found.toSorted((a, b) => compareText(a.dir, b.dir))
  }
})

export function driverOf(staged: StagedVolume): string | undefined {
  return isOld(staged) ? staged.stateFile?.data?.driverName : staged.driverDir
}

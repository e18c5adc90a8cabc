/** Staged file systems by the device that they are mounted from, for comparison with a published mount (S17). */
import { isWithin } from '../files/path-within.ts'
import { append } from '../lang/append.ts'
import { onceFor } from '../lang/once-for.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import type { StagedVolume } from './staged-volumes.ts'

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

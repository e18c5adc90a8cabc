/** Staged file systems by the device that they are mounted from: what a published mount is compared with (S17). */
import type { StagedVolume } from '../actual/devices.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { isWithin } from '../path-within.ts'
import type { PlanContext } from './context.ts'

const byDevice = new WeakMap<PlanContext, ReadonlyMap<string, readonly StagedVolume[]>>()

/** Staging directories whose mount this one shows, or a part of it. */
export function stagedShownBy(context: PlanContext, published: MountInfo): StagedVolume[] {
  let devices = byDevice.get(context)
  if (devices === undefined) {
    devices = indexOf(context.staged)
    byDevice.set(context, devices)
  }
  return (devices.get(published.dev) ?? []).filter(({ layers }) =>
    layers.some((layer) => layer.dev === published.dev && isWithin(published.root, layer.root)),
  )
}

function indexOf(all: readonly StagedVolume[]): ReadonlyMap<string, readonly StagedVolume[]> {
  const devices = new Map<string, StagedVolume[]>()
  for (const staged of all) {
    for (const dev of new Set(staged.layers.map((layer) => layer.dev))) {
      const known = devices.get(dev)
      if (known === undefined) devices.set(dev, [staged])
      else known.push(staged)
    }
  }
  return devices
}

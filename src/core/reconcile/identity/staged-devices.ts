/** Staged file systems by the device that they are mounted from: what a published mount is compared with (S17). */
import type { StagedVolume } from '../../actual/devices.ts'
import { append } from '../../lang/append.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { onceFor } from '../../lang/once-for.ts'
import { isWithin } from '../../files/path-within.ts'
import type { PlanContext } from '../context/context.ts'

/** Staging directories whose mount this one shows, or a part of it. */
export function stagedShownBy(context: PlanContext, published: MountInfo): StagedVolume[] {
  return (byDevice(context).get(published.dev) ?? []).filter(({ layers }) =>
    layers.some((layer) => layer.dev === published.dev && isWithin(published.root, layer.root)),
  )
}

const byDevice = onceFor(({ staged }: PlanContext): ReadonlyMap<string, readonly StagedVolume[]> => {
  const devices = new Map<string, StagedVolume[]>()
  for (const each of staged) {
    for (const dev of new Set(each.layers.map((layer) => layer.dev))) append(devices, dev, each)
  }
  return devices
})

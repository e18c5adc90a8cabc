/**
 * What one mount table shows of a directory's use under another name (S12): a mount of it or of something in it, a mount on
 * something in it that another way leads to, a directory in it that is a layer of an overlay. Pure: a plan asks it of its
 * own table, an apply and an explanation of every namespace's.
 */
import { posix } from 'node:path'
import { type Location, locate, locationIn, pathThrough } from '../apply/location.ts'
import { undeletedPath, undeletedRoot } from '../mountinfo/deleted.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { onceFor } from '../once-for.ts'
import { PathIndex } from '../path-index.ts'
import { isWithin } from '../path-within.ts'
import { type Layer, overlayLayers } from './overlay-layers.ts'
import { PlaceIndex } from './place-index.ts'

export interface MountUse {
  readonly mount: MountInfo
  readonly how: 'shows' | 'lies in' | 'layer'
  readonly layer?: Layer
}

/**
 * Mounts of the directory or of something in it, and mounts on something in it.
 *
 * @param path of the directory in this table, where that is its own: what is mounted below it is no other name
 */
export function mountsOf(place: Location, table: MountTable, path?: string): MountUse[] {
  const roots = rootsOf(table)(place.dev)
  const shown = roots.within(place.path)
  const found = mountsShowing(place, table)
  for (const way of [...shown, ...roots.above(place.path)]) {
    const at = isWithin(rootOf(way), place.path) ? undeletedPath(way.mountPoint) : pathThrough(way, place)
    if (at === undefined || at === path) continue
    const over = [...table.at(at), ...(table.isAbove(at) ? table.under(at) : [])]
    for (const mount of new Set(over))
      if (mount.parentId === way.id && mount !== way) found.push({ mount, how: 'lies in' })
  }
  return [...new Map(found.map((use) => [use.mount.id, use])).values()]
}

/** Mounts of the directory or of something in it alone: of what is removed only while nothing is mounted on it (R036). */
export function mountsShowing(place: Location, table: MountTable): MountUse[] {
  return rootsOf(table)(place.dev)
    .within(place.path)
    .map((mount) => ({ mount, how: 'shows' }))
}

/** Layers of overlays, by the directory that they lie in. */
export class LayerIndex {
  /** Those that only a working directory could tell that nobody knows. */
  readonly relative: readonly Layer[]
  readonly #located: PlaceIndex<Layer>

  /** @param layers each with where it lies, where that can be told */
  constructor(layers: Iterable<readonly [Layer, Location | undefined]>) {
    const all = [...layers]
    this.relative = all.flatMap(([layer, location]) => (location === undefined ? [layer] : []))
    this.#located = new PlaceIndex(
      all.flatMap(([layer, location]) => (location === undefined ? [] : [[location, layer] as const])),
    )
  }

  /** One a mount. */
  within(place: Location): MountUse[] {
    const byMount = new Map(this.#located.within(place).map((layer) => [layer.mount, layer]))
    return [...byMount.values()].map((layer) => ({ mount: layer.mount, how: 'layer', layer }))
  }
}

/** Where this table leads to by the options' text; links on the way are for those who can look. */
export const layersByText = onceFor(
  (table: MountTable) =>
    new LayerIndex(
      overlayLayers(table).map((layer) => [layer, layer.path.startsWith('/') ? locate(table, layer.path) : undefined]),
    ),
)

/** Mounts of one file system by the root that they show. */
const rootsOf = onceFor((table: MountTable) => {
  const byDev = new Map<string, PathIndex<MountInfo>>()
  return (dev: string): PathIndex<MountInfo> => {
    const known = byDev.get(dev) ?? new PathIndex(table.ofDevice(dev).map((mount) => [rootOf(mount), mount] as const))
    byDev.set(dev, known)
    return known
  }
})

function rootOf({ root }: MountInfo): string {
  return posix.normalize(undeletedRoot(root))
}

/** In words, as `findmnt` would lead to it. */
export function describeUse({ mount, how, layer }: MountUse): string {
  const on = undeletedPath(mount.mountPoint)
  if (how === 'layer') return `the overlay on ${on} (${layer?.option} ${layer?.path})`
  return how === 'shows'
    ? `the mount on ${on}, which shows ${mount.root}`
    : `the ${mount.fsType} mount on ${on}, which lies in it`
}

/** A file or directory as a namespace has it, in its place. */
export function placeIn(table: MountTable, mountId: number | undefined, path: string): Location | undefined {
  const plain = undeletedPath(path)
  const mount = mountId === undefined ? undefined : table.byId(mountId)
  return mount !== undefined && isWithin(plain, mount.mountPoint) ? locationIn(mount, plain) : locate(table, plain)
}

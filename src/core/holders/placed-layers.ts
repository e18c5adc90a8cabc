/**
 * Where the layers of overlays are (S12). The path in an overlay's option is one in the namespace and root of the process that
 * mounted it, which may have ended. So it counts in every namespace that has the overlay, with links followed and without.
 */
import { containingMount, type Location } from '../mountinfo/location.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { LOOK_MOST } from '../processes/look-bounds.ts'
import { fileAt, followLinks, isLocal, placesAt, type View } from './follow-links.ts'
import { LayerIndex } from './mount-uses.ts'
import { type Layer, overlayLayers } from './overlay-layers.ts'

type Placed = readonly (readonly [Layer, Location | undefined])[]

/** Layers of overlays that could all be found, by overlay: as they were before anything was unmounted. */
export type LayerNotes = ReadonlyMap<string, Placed>

export interface PlacedLayers {
  readonly index: LayerIndex
  /** A layer of each overlay that cannot be found: it was given through a bind that is gone, or by a descriptor. */
  readonly lost: readonly Layer[]
  readonly notes: LayerNotes
}

/** The node's own, made of system extensions, or by the initial RAM disk in a namespace that is gone. */
const OF_SYSTEM = ['/', '/usr', '/opt', '/etc']

/** Follows links of local file systems, and opens nothing. @param views our own first */
export function placeLayers(views: readonly View[], noted: LayerNotes = new Map()): PlacedLayers {
  const places: (readonly [Layer, Location | undefined])[] = []
  const lost: Layer[] = []
  const notes = new Map<string, Placed>()
  const search = new Search(views)
  const ofSystem = new Set(OF_SYSTEM.flatMap((path) => views[0]?.table.at(path).map(({ dev }) => dev) ?? []))
  const overlays = Map.groupBy(views.flatMap(overlaysOf), ({ mount }) => mount.dev)
  for (const [dev, seen] of overlays) {
    const key = `${dev} ${seen[0]?.mount.superOptions.join(',')}`
    const placed = seen.flatMap(({ view, layers }, index) => search.placesOf(layers, view, index === 0))
    const before = noted.get(key)
    for (const each of [...placed, ...(before ?? [])]) places.push(each)
    const missing = before !== undefined || ofSystem.has(dev) ? undefined : search.lostOf(seen)
    if (missing === undefined) notes.set(key, placed)
    else lost.push(missing)
  }
  return { index: new LayerIndex(places), lost, notes }
}

interface Overlay {
  readonly view: View
  readonly mount: MountInfo
  readonly layers: readonly Layer[]
}

/** Each overlay of a namespace once. */
function overlaysOf(view: View): Overlay[] {
  return [...Map.groupBy(overlayLayers(view.table), ({ mount }) => mount.dev).values()].flatMap((same) => {
    const mount = same[0]?.mount
    return mount === undefined ? [] : [{ view, mount, layers: same.filter((layer) => layer.mount === mount) }]
  })
}

class Search {
  readonly #views: readonly View[]
  #left = LOOK_MOST.layersAsked

  constructor(views: readonly View[]) {
    this.#views = views
  }

  /**
   * Relative paths (container runtimes shorten long options in this way, next to an absolute upper directory) are looked for
   * below each parent directory of the absolute ones. The parent below which all of them exist is used; if there is none, the
   * paths stay relative.
   */
  placesOf(layers: readonly Layer[], view: View, isFirst: boolean): Placed {
    const base = isFirst ? this.#baseOf(layers, view) : undefined
    return layers.flatMap((layer): Placed => {
      const path = layer.path.startsWith('/') ? layer.path : base && `${base}/${layer.path}`
      if (path === undefined) return isFirst ? [[layer, undefined]] : []
      const real = isFirst && this.#left-- > 0 ? followLinks(view, path) : path
      return placesAt(view, path, real).map((place) => [layer, place] as const)
    })
  }

  /** The first layer whose path leads to no directory, neither here nor in a namespace that has the overlay. */
  lostOf(seen: readonly Overlay[]): Layer | undefined {
    const absolute = (seen[0]?.layers ?? []).filter(({ path }) => path.startsWith('/'))
    const views = new Set([...this.#views.slice(0, 1), ...seen.map(({ view }) => view)])
    const isLost = ({ path }: Layer): boolean =>
      ![...views].some((view) => this.#left-- > 0 && isOrMayBeThere(view, path))
    // Of several readings of one text all but one lead nowhere.
    const isAmbiguous = ({ path }: Layer): boolean => /[:\\]/.test(path)
    return absolute.find((layer) =>
      isAmbiguous(layer) ? absolute.filter(({ option }) => option === layer.option).every(isLost) : isLost(layer),
    )
  }

  #baseOf(layers: readonly Layer[], view: View): string | undefined {
    const relative = layers.filter(({ path }) => !path.startsWith('/'))
    if (relative.length === 0) return undefined
    const exists = (path: string): boolean => this.#left-- > 0 && fileAt(view, path) !== undefined
    for (const { path } of layers) {
      if (!path.startsWith('/')) continue
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const base = path.slice(0, end)
        if (relative.every((layer) => exists(`${base}/${layer.path}`))) return base
      }
    }
    return undefined
  }
}

/** What is on a file system that may hang is there, and nowhere else. A link of /proc is another one for each process. */
function isOrMayBeThere(view: View, path: string): boolean {
  const real = followLinks(view, path, false)
  if (containingMount(view.table, real)?.fsType === 'proc') return false
  return !isLocal(view.table, real) || fileAt(view, real)?.isDirectory() === true
}

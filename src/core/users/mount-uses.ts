/**
 * How a directory is used under another name, as one mount table shows it (S12): a mount of the directory or of something in
 * it, a mount on something in it that is reached by another path, an overlay with a layer in it. Pure: a plan uses its own
 * table, an apply and an explanation those of every namespace.
 */

import { closeSync, readSync } from 'node:fs'
import { memoize, once } from '../base/collections.ts'
import { PathIndex } from '../base/path-index.ts'
import type { PersistentVolume, Pod } from '../kube/api/objects.ts'
import { type Layer, overlayLayers } from '../linux/follow-links.ts'
import { type Location, locate, pathThrough, showing, shownBy } from '../linux/location.ts'
import { type MountInfo, type MountTable, placeOf } from '../linux/mount-table.ts'
import { isWithin, plainPath, undeletedPath } from '../linux/paths.ts'
import { openPlain } from '../trust/plain-files.ts'
import { podLabel } from '../volumes/pods.ts'

/** The place of a directory whose content would be deleted. */
interface ContentPlace extends Location {
  /**
   * A parent directory that is the pod's own as well: a mount of it, or an overlay layer, counts as a use of this pod's data.
   * From the root of the file system; absent: the directory itself.
   */
  readonly top?: string
}

/** @param path of the directory, or of the place of a mount on it @param podUid whose directory is above it */
export function withTop(place: Location, path: string, podUid: string | undefined): ContentPlace {
  if (podUid === undefined) return place
  const podDirectory = `/pods/${podUid}`
  const start = path.lastIndexOf(`${podDirectory}/`)
  const below = start === -1 ? '' : path.slice(start + podDirectory.length)
  return below !== '' && place.path.endsWith(below) ? { ...place, top: place.path.slice(0, -below.length) } : place
}

export interface MountUse {
  readonly mount: MountInfo
  readonly how: 'shows' | 'lies in'
}

/**
 * Mounts of the directory or of something in it, and mounts on something in it.
 *
 * @param path of the directory, if this is our own table: mounts below that path are no use under another name
 */
export function mountsOf(place: ContentPlace, table: MountTable, path?: string): MountUse[] {
  const own = path === undefined ? undefined : placeOf(table, path)
  const found = mountsShowing(place, table)
  for (const way of showing(table, place, '/')) {
    const at = isWithin(shownBy(way).path, place.path) ? undeletedPath(way.mountPoint) : pathThrough(way, place)
    if (at === undefined || at === path || at === own) continue
    for (const mount of childrenOf(table).get(way.id) ?? [])
      if (mount !== way && isWithin(undeletedPath(mount.mountPoint), at)) found.push({ mount, how: 'lies in' })
  }
  return found.length < 2 ? found : [...new Map(found.map((use) => [use.mount.id, use])).values()]
}

/**
 * Only mounts of the directory or of something in it: for directories that are removed only while nothing is mounted on them
 * (R036).
 */
export function mountsShowing(place: ContentPlace, table: MountTable): MountUse[] {
  return showing(table, place, place.top).map((mount) => ({ mount, how: 'shows' }))
}

/** Layers of overlays in the directory: one of each mount. */
export function layersIn(layers: PlaceIndex<Layer>, place: ContentPlace): Layer[] {
  return [...new Map(layers.within(place, place.top).map((layer) => [layer.mount, layer])).values()]
}

/** Layers placed by the text of the options alone; following links takes access to the node. */
export const layersByText = memoize(
  (table: MountTable) =>
    new PlaceIndex(
      overlayLayers(table).map((layer) => [layer.path.startsWith('/') ? locate(table, layer.path) : undefined, layer]),
    ),
)

/** Mounts by their parent; cached, since after a propagation storm each has thousands below it. */
const childrenOf = memoize((table: MountTable) => Map.groupBy(table.all, ({ parentId }) => parentId))

/** For messages, with the mount point, so that `findmnt` finds it. */
export function describeUse({ mount, how }: MountUse): string {
  const on = undeletedPath(mount.mountPoint)
  return how === 'shows'
    ? `the mount on ${on}, which shows ${mount.root}`
    : `the ${mount.fsType} mount on ${on}, which is inside the directory`
}

export function describeOverlay({ mount, option, path }: Layer): string {
  return `the overlay on ${undeletedPath(mount.mountPoint)} (${option} ${path})`
}

/** Values by their place: the file system, and the path inside it. */
export class PlaceIndex<T> {
  /** Those without one: of the layers these have a relative path, and who mounted them may have stood anywhere. */
  readonly unplaced: readonly T[]
  readonly #byDev: ReadonlyMap<string | undefined, readonly (readonly [Location | undefined, T])[]>
  readonly #indexes = new Map<string, PathIndex<T>>()

  constructor(entries: Iterable<readonly [Location | undefined, T]>) {
    this.#byDev = Map.groupBy(entries, ([place]) => place?.dev)
    this.unplaced = (this.#byDev.get(undefined) ?? []).map(([, value]) => value)
  }

  /** Whether it has a place, too. */
  has(value: T): boolean {
    return [...this.#byDev.values()].some((own) => own.some(([place, each]) => place !== undefined && each === value))
  }

  /** Each value once. @param top values at parent directories count too, up to this one */
  within({ dev, path }: Location, top = path): T[] {
    const own = this.#byDev.get(dev)
    if (own === undefined) return []
    const index = once(
      this.#indexes,
      dev,
      () => new PathIndex(own.map(([place, value]) => [place?.path ?? '', value] as const)),
    )
    const found = index.within(path).concat(index.above(path, top))
    return found.length < 2 ? found : [...new Set(found)]
  }
}

// Files that are mounted as images without a loop device (EROFS, since Linux 6.12).

/**
 * For messages, each once: the same one may be mounted in every namespace. Only the name that was given to mount(2) is known, which says
 * nothing (S36): so each image file may be that of any of these.
 */
export function mountedImages(tables: readonly MountTable[]): string[] {
  const ofFiles = tables.flatMap(({ all }) =>
    all.filter(
      ({ fsType, dev, superOptions }) => fsType === 'erofs' && dev.startsWith('0:') && !superOptions.some(isOfCache),
    ),
  )
  return [...new Map(ofFiles.map((mount) => [mount.dev, mount])).values()].map(
    ({ source, mountPoint }) => `the EROFS mount on ${undeletedPath(mountPoint)} of ${source}`,
  )
}

/** It is served by fscache, and is no file. */
const isOfCache = (option: string): boolean => option.startsWith('fsid=')

const SUPERBLOCK_AT = 1024
const MAGIC = 0xe0f5e1e2

/** @throws what openPlain throws */
export function isErofsImage(path: Buffer): boolean {
  const { fd } = openPlain(path)
  try {
    const bytes = Buffer.alloc(4)
    return readSync(fd, bytes, 0, 4, SUPERBLOCK_AT) === 4 && bytes.readUInt32LE() === MAGIC
  } finally {
    closeSync(fd)
  }
}

/** A path by which somebody else may use what is there. */
export interface NamedPath {
  /** Absolute. */
  readonly path: string
  /** What it is, for messages. */
  readonly text: string
}

/**
 * Directories and files of the node that pods have as volumes, also pods that do not run yet.
 *
 * @param volumes PersistentVolumes that name such a directory count, whoever claims them
 */
export function hostPathsOf(pods: readonly Pod[], volumes: readonly PersistentVolume[] = []): NamedPath[] {
  const named = [
    ...pods.flatMap((pod) =>
      (pod.spec.volumes ?? []).map(({ hostPath }) => ['hostPath', hostPath?.path, `pod ${podLabel(pod)}`] as const),
    ),
    ...volumes.map(({ metadata, spec: { hostPath, local } }) => {
      const kind = hostPath == null ? 'local volume' : 'hostPath'
      return [kind, hostPath?.path ?? local?.path, `PersistentVolume ${metadata.name}`] as const
    }),
  ]
  return named.flatMap(([kind, path, owner]) =>
    path?.startsWith('/') === true ? { path: plainPath(path), text: `the ${kind} ${path} of ${owner}` } : [],
  )
}

/**
 * One look for everybody who may use the content of a directory under another name (S12): processes, mounts and overlays of
 * every namespace, loop devices, swap files, NFS exports, hostPaths, unix sockets, mounted images. It serves all directories that are
 * asked about right after it.
 */

import { lazy } from '../base/collections.ts'
import { alike } from '../base/text.ts'
import type { Layer } from '../linux/follow-links.ts'
import { follow, isLocal, layersByDevice, placesAt, systemMounts, type View, viewsOf } from '../linux/follow-links.ts'
import { containingMount, type Location, locate } from '../linux/location.ts'
import { type OtherNamespace, ofTheNode } from '../linux/mount-namespaces.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { undeletedPath } from '../linux/paths.ts'
import { isInUserNamespace } from '../linux/standing.ts'
import { parentsOf } from '../volumes/payload-entries.ts'
import type { Holders } from './find-holders.ts'
import { boundSockets, type LoopFile, loopFiles, nfsExports, swapFiles } from './kernel-files.ts'
import { mountedImages, type NamedPath, PlaceIndex } from './mount-uses.ts'
import type { Uses } from './uses.ts'

/** A file that the kernel itself has open. */
interface KernelFile {
  /** As the kernel names it. */
  readonly path: string
  /** Identifies it; absent: not known. */
  readonly file?: LoopFile['file']
  /** What an answer says of it. */
  readonly holds: Partial<Holders>
}

export interface ContentSearch {
  /** Of our own mount namespace. */
  readonly table: MountTable
  /** The namespaces of every thread. */
  readonly others: readonly OtherNamespace[]
  /** What they use of the file systems that the directories are in. */
  readonly processes: Uses
  /**
   * The content would be deleted: whoever only has a name in it counts as well, as these paths of our own mount namespace do,
   * and bound sockets and images everywhere. Absent: it would only be unmounted.
   */
  readonly named?: readonly NamedPath[]
  /** Ends what is searched for. */
  readonly signal?: AbortSignal
}

export type ContentLook = Awaited<ReturnType<typeof lookForUsers>>

/** Reads /proc and sysfs, runs losetup(8), and follows links of local file systems; nothing is opened. */
export async function lookForUsers({ table, others, processes, named, signal }: ContentSearch) {
  const views = viewsOf(table, others)
  const [ours] = views
  const layers = placeLayers(views)
  const loops = await loopFiles()
  const swaps = swapFiles()
  const files: KernelFile[] = [
    ...loops.files.map((loop) => ({ path: loop.backingFile, file: loop.file, holds: { loops: [loop] } })),
    ...swaps.files.map((path) => ({ path, holds: { kernel: [`the swap file ${path}`] } })),
  ]
  const exports = nfsExports()
  return {
    table,
    /** Of the node. */
    others: ofTheNode(others),
    signal,
    processes,
    layers: layers.index,
    /** Overlays with a layer that cannot be found. */
    lostLayers: isInUserNamespace() || named === undefined ? [] : layers.lost,
    /** Backing files of loop devices, and swap files. */
    files: new PlaceIndex(
      // In every namespace: the name does not say which one it belongs to.
      files.flatMap((file) => views.map(({ table }) => [locate(table, undeletedPath(file.path)), file] as const)),
    ),
    /** Those of them whose name leads nowhere, or elsewhere. */
    unknownFiles: files.filter((file) => !isSure(file, ours)),
    /** And where each leads with links followed: exportfs(8) leaves them to the kernel. */
    exports: exports.files.map((each) => ({ ...each, real: follow(ours, each.path).real })),
    /** HostPaths, for messages, at the places that their paths lead to. */
    named: new PlaceIndex(
      (named ?? []).flatMap(({ path, text }) => placesAt(ours, path).map((at) => [at, text] as const)),
    ),
    /** Mounts of image files, for messages. */
    images: named === undefined ? [] : mountedImages(views.map((view) => view.table)),
    /** Asked for the first directory in which there is a socket; absent: nobody who only has a name is of interest. */
    sockets: named && lazy(() => boundSockets()),
    // From within a user namespace only a test's own node is looked at: apply refuses any other (S7).
    unseen: isInUserNamespace() ? [] : [processes, exports, loops, swaps].flatMap(({ unseen }) => unseen),
  }
}

/** In our own namespace, this name leads to exactly this file. */
function isSure({ path, file }: KernelFile, ours: View): boolean {
  const inode = follow(ours, path).file?.ino
  return inode !== undefined && path !== '/' && (file === undefined || file.inode === inode)
}

// Where the layers of overlays are (S12). The path in an overlay's option is one in the namespace and root of the process that mounted it,
// which may have ended. So it counts in every namespace that has the overlay, with links followed and without.

type Placed = (readonly [Location | undefined, Layer])[]

/** Follows links of local file systems, and opens nothing. @param views our own first */
function placeLayers(views: readonly [View, ...View[]]) {
  const [ours] = views
  const ofSystem = new Set(systemMounts(ours.table).map(({ dev }) => dev))
  const overlays = alike(views.flatMap(overlaysOf), ({ dev }) => dev)
  const places = overlays.flatMap((seen) =>
    seen.flatMap(({ view, layers }, index) => placesOf(layers, view, index === 0)),
  )
  return {
    index: new PlaceIndex(places),
    /** A layer of each overlay that cannot be found: it was given through a bind that is gone, or by a descriptor. */
    lost: overlays.flatMap((seen) => (ofSystem.has(seen[0].dev) ? [] : (lostOf(seen, ours) ?? []))),
  }
}

/** Each overlay of a namespace once, by its first mount. */
function overlaysOf(view: View) {
  return [...layersByDevice(view.table)].map(([dev, all]) => ({
    view,
    dev,
    layers: all.filter(({ mount }) => mount === all[0]?.mount),
  }))
}

/**
 * Relative paths (container runtimes shorten long options in this way, next to an absolute upper directory) are looked for
 * below each parent directory of the absolute ones. Other directories may have the same names below them: so a relative path stays
 * one as well, and counts wherever it is found.
 */
function placesOf(layers: readonly Layer[], view: View, isFirst: boolean): Placed {
  const bases = isFirst ? basesOf(layers, view) : []
  return layers.flatMap((layer): Placed => {
    const isRelative = !layer.path.startsWith('/')
    const paths = isRelative ? bases.map((base) => `${base}/${layer.path}`) : [layer.path]
    const places = paths.flatMap((path) => (isFirst ? placesAt(view, path) : (locate(view.table, path) ?? [])))
    return [...places, ...(isRelative && isFirst ? [undefined] : [])].map((place) => [place, layer] as const)
  })
}

function basesOf(layers: readonly Layer[], view: View): readonly string[] {
  const relative = layers.filter(({ path }) => !path.startsWith('/'))
  if (relative.length === 0) return []
  const parents = layers.flatMap(({ path }) => (path.startsWith('/') ? parentsOf(path) : []))
  const isThere = (path: string): boolean => follow(view, path).file !== undefined
  return [...new Set(parents)].filter((base) => relative.every(({ path }) => isThere(`${base}/${path}`)))
}

/** The first layer whose path leads to no directory, neither in our own view nor in one that has the overlay. */
function lostOf(seen: readonly ReturnType<typeof overlaysOf>[number][], ours: View): Layer | undefined {
  const absolute = (seen[0]?.layers ?? []).filter(({ path }) => path.startsWith('/'))
  const views = new Set([ours, ...seen.map(({ view }) => view)])
  const isLost = ({ path }: Layer): boolean => ![...views].some((view) => isOrMayBeThere(view, path))
  // Of several readings of one text all but one lead nowhere.
  const isAmbiguous = ({ path }: Layer): boolean => /[:\\]/.test(path)
  return absolute.find((layer) =>
    isAmbiguous(layer) ? absolute.filter(({ option }) => option === layer.option).every(isLost) : isLost(layer),
  )
}

/** What is on a file system that may hang is there, and nowhere else. A link of /proc is another one for each process. */
function isOrMayBeThere(view: View, path: string): boolean {
  const { real, file } = follow(view, path)
  if (containingMount(view.table, real)?.fsType === 'proc') return false
  return !isLocal(view, real) || file?.isDirectory() === true
}

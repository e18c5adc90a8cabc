/**
 * One look for everybody who may use the content of a directory under another name (S12): processes, mounts and overlays of
 * every namespace, loop devices, swap files, NFS exports, hostPaths, unix sockets, mounted images. It serves all directories that are asked about right after it.
 */

import { undeletedPath } from '../mountinfo/deleted.ts'
import type { Location } from '../mountinfo/location.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { type OtherNamespace, readOtherNamespaces, type Unseen } from '../processes/mount-namespaces.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { askProcesses, type ProcessReader } from './ask-processes.ts'
import { type BoundSockets, boundPaths, locateSockets } from './bound-sockets.ts'
import { fileAt, followLinks, placesAt, type View, viewsOf } from './follow-links.ts'
import type { NamedPath } from './host-paths.ts'
import { imageFiles } from './image-files.ts'
import { type Export, type LoopFile, loopFiles, nfsExports, swapFiles } from './kernel-files.ts'
import type { LayerIndex } from './mount-uses.ts'
import type { Layer } from './overlay-layers.ts'
import { PlaceIndex } from './place-index.ts'
import { type LayerNotes, placeLayers } from './placed-layers.ts'
import type { Uses } from './uses.ts'

export interface ContentLook {
  /** Of our own mount namespace. */
  readonly table: MountTable
  readonly others: readonly OtherNamespace[]
  readonly processes: Uses
  readonly layers: LayerIndex
  /** Overlays with a layer that cannot be found. */
  readonly lostLayers: readonly Layer[]
  readonly loops: PlaceIndex<LoopFile>
  /** Loop devices whose backing file's name leads nowhere, or elsewhere. */
  readonly unknownLoops: readonly LoopFile[]
  readonly swaps: PlaceIndex<string>
  readonly unknownSwaps: readonly string[]
  readonly exports: readonly ExportedPlace[]
  /** HostPaths and images, for messages, at the places that their paths lead to. */
  readonly named: PlaceIndex<string>
  /** Mounts of images whose file no name leads to. */
  readonly unknownImages: readonly string[]
  readonly sockets: BoundSockets
  readonly unseen: readonly Unseen[]
  /** Ends what is searched for. */
  readonly signal?: AbortSignal | undefined
}

/** An export, and where it leads with links followed: exportfs(8) leaves them to the kernel. */
export interface ExportedPlace extends Export {
  readonly real: string
}

export interface ContentSearch {
  readonly table: MountTable
  /** "major:minor" of the file systems that the directories are in. */
  readonly fileSystems: readonly string[]
  /** "major:minor" of devices whose openers are asked for as well. */
  readonly devices?: readonly string[]
  /**
   * The content would be deleted: whoever only has a name in it counts as well, as these paths of our own mount namespace do,
   * and bound sockets and images everywhere. Absent: it would only be unmounted.
   */
  readonly named?: readonly NamedPath[]
  /** As noteLayers said before the first unmount, which may have led a layer's path elsewhere. */
  readonly noted?: LayerNotes | undefined
  readonly reader: ProcessReader
  /** What processes use of these file systems and devices, where that has just been read. */
  readonly processes?: Uses | undefined
  /** The namespaces of every thread, where they have just been read. */
  readonly others?: readonly OtherNamespace[] | undefined
}

/** Reads /proc and sysfs, runs losetup(8), and follows links of local file systems; nothing is opened. */
export async function lookForUsers(search: ContentSearch): Promise<ContentLook> {
  const { table, fileSystems, devices = [], named, reader, others = readOtherNamespaces(true) } = search
  const views = viewsOf(table, others)
  const [ours] = views
  const layers = placeLayers(views, search.noted)
  const { loops, unseen: unseenLoops } = await loopFiles()
  const { swaps, unseen: unseenSwaps } = swapFiles()
  const { exports, unseen } = nfsExports()
  const bound = named === undefined ? { paths: [], unseen: [] } : boundPaths()
  const images = named === undefined ? [] : imageFiles(views)
  const processes = search.processes ?? (await askProcesses({ table, others, fileSystems, devices }, reader))
  return {
    table,
    others,
    signal: reader.signal,
    processes,
    layers: layers.index,
    lostLayers: isInUserNamespace() || named === undefined ? [] : layers.lost,
    loops: located(loops, ({ backingFile }) => backingFile, views),
    unknownLoops: loops.filter((loop) => !isSure(loop, ours)),
    swaps: located(swaps, (path) => path, views),
    unknownSwaps: swaps.filter((path) => fileAt(ours, undeletedPath(path)) === undefined),
    exports: exports.map((each) => ({ ...each, real: followLinks(ours, each.path) })),
    named: new PlaceIndex([...namedAt([ours], named ?? []), ...namedAt(views, images)]),
    unknownImages: images.filter(({ isThere }) => !isThere).map(({ text }) => text),
    sockets: locateSockets(bound.paths, views),
    // From within a user namespace only a test's own node is looked at: apply refuses any other (S7).
    unseen: isInUserNamespace()
      ? []
      : [...processes.unseen, ...unseen, ...unseenLoops, ...unseenSwaps, ...bound.unseen],
  }
}

/** Where the layers of all overlays are now. */
export function noteLayers(table: MountTable): LayerNotes {
  return placeLayers(viewsOf(table, readOtherNamespaces(true))).notes
}

function namedAt(views: readonly View[], named: readonly NamedPath[]): (readonly [Location, string])[] {
  return named.flatMap(({ path, text }) =>
    views.flatMap((view) => placesAt(view, path).map((place) => [place, text] as const)),
  )
}

/** Files by each place that their name leads to, in every namespace: the name does not say which one it belongs to. */
function located<T>(files: readonly T[], pathOf: (file: T) => string, views: readonly View[]): PlaceIndex<T> {
  return new PlaceIndex(
    files.flatMap((file) => {
      const path = undeletedPath(pathOf(file))
      return views.flatMap((view) => placesAt(view, path, path).map((place) => [place, file] as const))
    }),
  )
}

/** In our own namespace, this name leads to exactly this file. */
function isSure({ backingFile, file }: LoopFile, ours: View): boolean {
  const inode = fileAt(ours, backingFile)?.ino
  return inode !== undefined && backingFile !== '/' && (file === undefined || file.inode === inode)
}

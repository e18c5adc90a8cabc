/**
 * One look at all that may use the content of a directory under another name (S12), for as many directories as are asked
 * about right after it: processes, mounts and overlays of every namespace, loop devices, swap files, NFS exports.
 */

import { undeletedPath } from '../mountinfo/deleted.ts'
import { type Location, locate } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import type { OtherNamespace } from '../processes/mount-namespaces.ts'
import { readOtherNamespaces } from '../processes/mount-namespaces.ts'
import { isInUserNamespace } from '../processes/standing.ts'
import { followLinks, inodeAt, type View } from './follow-links.ts'
import { type Export, type LoopFile, loopFiles, nfsExports, swapFiles } from './kernel-files.ts'
import type { MapReader } from './mapped-files.ts'
import { LayerIndex, placeIn } from './mount-uses.ts'
import { type Layer, overlayLayers } from './overlay-layers.ts'
import { PlaceIndex } from './place-index.ts'
import { ProcessLook } from './process-look.ts'
import { hiddenProcesses } from './sight.ts'

export interface ContentLook {
  /** Of our own mount namespace. */
  readonly table: MountTable
  readonly others: readonly OtherNamespace[]
  readonly processes: ProcessLook
  readonly layers: LayerIndex
  /** Whose mount namespace has a mount; absent: ours. */
  readonly namespaceOf: ReadonlyMap<MountInfo, OtherNamespace>
  readonly loops: PlaceIndex<LoopFile>
  /** Whose names lead nowhere, or elsewhere. */
  readonly unknownLoops: readonly LoopFile[]
  readonly swaps: PlaceIndex<string>
  readonly unknownSwaps: readonly string[]
  readonly exports: readonly Export[]
  /** In words, what could not be seen. */
  readonly unseen: readonly string[]
}

export interface ContentSearch {
  readonly table: MountTable
  /** "major:minor" of the file systems that the directories are in. */
  readonly devices: readonly string[]
  readonly maps: MapReader
}

/** Reads /proc and sysfs, runs losetup(8), and follows links of local file systems; nothing is opened. */
export async function lookForUsers({ table, devices, maps }: ContentSearch): Promise<ContentLook> {
  const others = readOtherNamespaces(true)
  const ours: View = { table, root: '' }
  const views = [ours, ...others.map((other): View => ({ table: other.table, root: `/proc/${other.pid}/root` }))]
  const loops = await loopFiles()
  const swaps = swapFiles()
  const processes = await ProcessLook.take({ table, others, devices, maps })
  return {
    table,
    others,
    processes,
    layers: layersIn(views),
    namespaceOf: new Map(
      others.flatMap((other) => overlayLayers(other.table).map(({ mount }) => [mount, other] as const)),
    ),
    loops: located(loops, ({ backingFile }) => backingFile, views),
    unknownLoops: loops.filter((loop) => !isSure(loop, ours)),
    swaps: located(swaps, (path) => path, views),
    unknownSwaps: swaps.filter((path) => inodeAt(ours, undeletedPath(path)) === undefined),
    exports: nfsExports(),
    // A node that is looked at from within a user namespace is a test's own: apply refuses any other (S7).
    unseen: isInUserNamespace() ? [] : [...hiddenProcesses(table), ...processes.unseen],
  }
}

/** Files by each place that their name leads to: which namespace it is of nothing tells. */
function located<T>(files: readonly T[], pathOf: (file: T) => string, views: readonly View[]): PlaceIndex<T> {
  return new PlaceIndex(
    files.flatMap((file) =>
      views.flatMap(({ table }): (readonly [Location, T])[] => {
        const place = placeIn(table, undefined, pathOf(file))
        return place === undefined ? [] : [[place, file]]
      }),
    ),
  )
}

/** Our own namespace has this very file under this name. */
function isSure({ backingFile, file }: LoopFile, ours: View): boolean {
  const inode = inodeAt(ours, backingFile)
  return inode !== undefined && backingFile !== '/' && (file === undefined || file.inode === inode)
}

/**
 * An option's path is one of the namespace and the root of whoever mounted, which may be gone; so it counts wherever some
 * namespace has it, with its links and without.
 *
 * What is relative (container runtimes shorten long options so, beside an upper directory that is whole) is looked for
 * below each directory above the whole ones: where all of it is there, it was meant. Else it stays relative.
 */
function layersIn(views: readonly View[]): LayerIndex {
  const resolved = new Set<string>()
  return new LayerIndex(
    views.flatMap((view) =>
      [...Map.groupBy(overlayLayers(view.table), ({ mount }) => mount)].flatMap(([mount, layers]) => {
        const isFirst = !resolved.has(mount.dev)
        resolved.add(mount.dev)
        const base = isFirst ? baseOf(layers, view) : undefined
        return layers.flatMap((layer): (readonly [Layer, Location | undefined])[] => {
          const path = layer.path.startsWith('/') ? layer.path : base && `${base}/${layer.path}`
          if (path === undefined) return isFirst ? [[layer, undefined]] : []
          const real = isFirst ? followLinks(view, path) : path
          return [...new Set([path, real])].flatMap((each) => {
            const place = locate(view.table, each)
            return place === undefined ? [] : [[layer, place] as const]
          })
        })
      }),
    ),
  )
}

function baseOf(layers: readonly Layer[], view: View): string | undefined {
  const relative = layers.filter(({ path }) => !path.startsWith('/'))
  if (relative.length === 0) return undefined
  for (const { path } of layers) {
    if (!path.startsWith('/')) continue
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const base = path.slice(0, end)
      if (relative.every((layer) => inodeAt(view, `${base}/${layer.path}`) !== undefined)) return base
    }
  }
  return undefined
}

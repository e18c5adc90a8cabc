/**
 * Everybody who uses the content of a directory (S12, S13). The same answer makes an apply refuse a deletion and is shown by
 * an explanation.
 */
import { posix } from 'node:path'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import { StepInterrupted } from '../errors/operation-error.ts'
import { isWithin } from '../files/path-within.ts'
import { append } from '../lang/append.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { placeOf } from '../mountinfo/linked-mounts.ts'
import { containingMount, type Location, locate } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { goesWith } from '../mountinfo/propagation.ts'
import type { Unseen } from '../processes/mount-namespaces.ts'
import type { ContentLook } from './content-look.ts'
import { describeProcess } from './describe-holders.ts'
import { type Holders, type LoopHolder, type NamespaceHolder, namespaceHolder } from './find-holders.ts'
import { describeUse, type MountUse, mountsOf, withTop } from './mount-uses.ts'
import type { Layer } from './overlay-layers.ts'
import { type Identified, searchContent, type Wanted } from './search-content.ts'

export interface Content {
  /** Absolute, as the kubelet uses it. */
  readonly path: string
  /** Ids of mounts in our own table that are unmounted first; they and their copies do not count as use. */
  readonly going?: ReadonlySet<number>
  /** The pod in whose directory it is. */
  readonly podUid?: string
  /** The root directory. Its own file system has been read before; others are only looked into if they cannot hang. */
  readonly rootDir: string
}

export async function contentHolders(look: ContentLook, content: Content): Promise<Holders> {
  const { table } = look
  const place = locate(table, content.path)
  if (place === undefined) return { ...NOBODY, unseen: [unknownPlace(content.path, 'is in no mount that volctl sees')] }
  const uses = usesOf(look, place, content)
  const found = await searchFor(look, content, place)
  return {
    processes: [...look.processes.holdersIn(place), ...found.processes].toSorted((a, b) => a.pid - b.pid),
    namespaces: uses.namespaces,
    loops: [...look.loops.within(place), ...found.loops],
    kernel: [
      ...uses.kernel,
      ...look.swaps.within(place).map((path) => `the swap file ${path}`),
      ...exportsOf(look, content.path, place),
      ...look.sockets.located.within(place).map(describeSocket),
      ...found.kernel,
    ],
    unseen: [...look.unseen, ...look.lostLayers.map((layer) => lostLayer(layer, look)), ...found.unseen],
  }
}

const describeSocket = (path: string): string => `the unix socket that is bound to ${path}`

const NOBODY: Holders = { processes: [], namespaces: [], loops: [], kernel: [], unseen: [] }

function unknownPlace(path: string, why: string): Unseen {
  return { text: `${path} ${why}`, hint: `Look at what is there (findmnt -T ${path}).` }
}

interface Uses {
  readonly namespaces: readonly NamespaceHolder[]
  readonly kernel: readonly string[]
}

function usesOf({ table, others, layers, named, namespaceOf }: ContentLook, at: Location, content: Content): Uses {
  const { path, going, podUid } = content
  const place = withTop(at, path, podUid)
  const stays = staying(table, going)
  const own = mountsOf(place, table, path).filter(({ mount }) => stays(mount, table))
  const inLayers = layers.within(place)
  return {
    namespaces: others.flatMap((other) => {
      const mounts = mountsOf(place, other.table).map(({ mount }) => mount)
      return namespaceHolder(
        other,
        mounts.filter((mount) => stays(mount, other.table)),
      )
    }),
    kernel: [
      ...own.map(describeUse),
      ...oneOfEach(inLayers).map((use) => describeLayer(use, namespaceOf)),
      ...named.within(place, place.top),
    ],
  }
}

/** Which mounts stay when these are unmounted: their copies do not. @param going ids, of this table */
export function staying(
  table: MountTable,
  going: ReadonlySet<number> = new Set(),
): (mount: MountInfo, of: MountTable) => boolean {
  const leaving = [...going].flatMap((id) => table.byId(id) ?? [])
  return (mount, of) =>
    !(of === table && going.has(mount.id)) && !leaving.some((each) => goesWith(table, each, mount, of))
}

/** Each overlay once: the same one may be in every namespace. */
function oneOfEach(uses: readonly MountUse[]): MountUse[] {
  return [...new Map(uses.toReversed().map((use) => [use.mount.dev, use])).values()].toReversed()
}

function describeLayer(use: MountUse, namespaceOf: ContentLook['namespaceOf']): string {
  const other = namespaceOf.get(use.mount)
  return other === undefined
    ? describeUse(use)
    : `${describeUse(use)} in the mount namespace of ${describeProcess(other)}`
}

function lostLayer(layer: Layer, { namespaceOf }: ContentLook): Unseen {
  const use = { mount: layer.mount, how: 'layer', layer } as const
  const on = undeletedPath(layer.mount.mountPoint)
  const { pid } = namespaceOf.get(layer.mount) ?? {}
  return {
    text: `${describeLayer(use, namespaceOf)} has a layer that its path does not lead to any more`,
    hint: `If nobody needs it, unmount it (${pid === undefined ? '' : `nsenter -t ${pid} -m `}umount ${on}).`,
  }
}

/** NFS exports of the directory, of something in it, or of a directory above that shows it. */
function exportsOf({ table, exports }: ContentLook, path: string, place: Location): string[] {
  const mount = containingMount(table, path)
  const names = [path, placeOf(table, path)]
  return exports.flatMap(({ path: exported, real, client, crosses }) => {
    const isShown = [exported, real].some((each) => {
      const at = locate(table, each)
      const isIn = at !== undefined && at.dev === place.dev && isWithin(at.path, place.path)
      const isAbove = names.some((name) => isWithin(name, each))
      return isIn || (isAbove && (crosses || containingMount(table, each)?.id === mount?.id))
    })
    return isShown ? [`the NFS export of ${exported}${client === '' ? '' : ` to ${client}`}`] : []
  })
}

/**
 * Users that are known by an inode or the end of a path only: the directory is walked to find their files. On nearly every
 * node there are no such users, and no walk.
 */
async function searchFor(look: ContentLook, content: Content, place: Location): Promise<Holders> {
  const { path, rootDir } = content
  const inodes = new Map<string, Identified[]>()
  const ends = new Map<string, string>()
  // The process is only read from /proc if its file is found, and not for every directory.
  const results = new Map<string, () => Partial<Holders>>()
  const unseen: Unseen[] = []
  const askInode = (key: string, result: () => Partial<Holders>, inode: string, dev: string | undefined): void => {
    results.set(key, result)
    append(inodes, inode, { dev, key })
  }
  const askEnd = (key: string, result: () => Partial<Holders>, end: string): void => {
    results.set(key, result)
    ends.set(end, key)
  }
  for (const use of look.processes.strays) {
    if (isElsewhere(use.dev, path, place, look.table)) continue
    const { pid, what, path: held, inode = '', dev } = use
    askInode(`${pid} ${what} ${held}`, () => ({ processes: look.processes.named([use]) }), inode, dev)
  }
  const kernel: string[] = []
  for (const layer of look.layers.relative) {
    const text = `${describeUse({ mount: layer.mount, how: 'layer', layer })}, a path that is not absolute`
    const end = layer.path.replace(/^(?:\.\.(?:\/|$)|\.$)+/, '')
    if (end === '') kernel.push(text)
    else askEnd(`layer ${layer.mount.id} ${layer.path}`, () => ({ kernel: [text] }), end)
  }
  for (const swap of look.unknownSwaps) {
    askEnd(`swap ${swap}`, () => ({ kernel: [`the swap file ${swap}`] }), posix.basename(undeletedPath(swap)))
  }
  const loops: LoopHolder[] = []
  for (const loop of look.unknownLoops) {
    if (isElsewhere(loop.file?.dev, path, place, look.table)) continue
    const end = loop.backingFile === '/' ? '' : posix.basename(undeletedPath(loop.backingFile))
    if (loop.file !== undefined)
      askInode(loop.device, () => ({ loops: [loop] }), String(loop.file.inode), loop.file.dev)
    else if (end === '') loops.push(loop)
    else askEnd(loop.device, () => ({ loops: [loop] }), end)
  }
  const sockets = new Map<string, string>()
  for (const [name, bound] of look.sockets.loose) {
    results.set(`socket ${bound}`, () => ({ kernel: [describeSocket(bound)] }))
    sockets.set(name, `socket ${bound}`)
  }
  for (const image of look.unknownImages) results.set(image, () => ({ kernel: [image] }))
  const keys = await search(look, path, rootDir, { inodes, ends, sockets, images: look.unknownImages }, unseen)
  const found = keys.flatMap((key) => results.get(key)?.() ?? [])
  return {
    ...NOBODY,
    processes: found.flatMap(({ processes = [] }) => processes),
    loops: [...loops, ...found.flatMap((each) => each.loops ?? [])],
    kernel: [...kernel, ...found.flatMap((each) => each.kernel ?? [])],
    unseen,
  }
}

async function search(
  { table, signal }: ContentLook,
  path: string,
  rootDir: string,
  wanted: Wanted,
  unseen: Unseen[],
): Promise<readonly string[]> {
  const { inodes, ends, sockets, images } = wanted
  if (inodes.size + ends.size + sockets.size + images.length === 0) return []
  const mount = containingMount(table, path)
  if (mount === undefined || !(cannotHang(mount.fsType) || mount.id === containingMount(table, rootDir)?.id)) {
    unseen.push(unknownPlace(path, 'could not be searched: its file system may hang'))
    return []
  }
  try {
    // The walk starts from the resolved place, and follows no link on the way (S8, S12).
    return await searchContent(placeOf(table, path), mount.id, wanted, signal)
  } catch (error) {
    if (error instanceof StepInterrupted) throw error
    if (errnoOf(error) === 'ENOENT') return []
    unseen.push(unknownPlace(path, `could not be searched: ${errorMessage(error)}`))
    return []
  }
}

/**
 * True if the file is on another file system, by its device number. (btrfs has a number for each subvolume, so it proves
 * nothing.)
 */
function isElsewhere(dev: string | undefined, path: string, place: Location, table: MountTable): boolean {
  return dev !== undefined && dev !== place.dev && containingMount(table, path)?.fsType !== 'btrfs'
}

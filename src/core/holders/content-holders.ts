/**
 * Everybody who uses the content of a directory (S12, S13). The same answer makes an apply refuse a deletion and is shown by
 * an explanation.
 */

import { posix } from 'node:path'
import { errnoOf, errorMessage } from '../errors/errors.ts'
import { StepInterrupted } from '../errors/operation-error.ts'
import { isWithin } from '../files/path-within.ts'
import { append } from '../lang/append.ts'
import { commandLine } from '../lang/command.ts'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { cannotHang } from '../mountinfo/file-systems.ts'
import { placeOf } from '../mountinfo/linked-mounts.ts'
import { containingMount, type Location, locate } from '../mountinfo/location.ts'
import type { MountInfo, MountTable } from '../mountinfo/mount-table.ts'
import { whoMounted } from '../mountinfo/mount-words.ts'
import { goesWith } from '../mountinfo/propagation.ts'
import { type OtherNamespace, type Unseen, unseenOf } from '../processes/mount-namespaces.ts'
import type { ContentLook } from './content-look.ts'
import { describeProcess } from './describe-holders.ts'
import { type Holders, namespaceHolder } from './find-holders.ts'
import { describeUse, type MountUse, mountsOf, withTop } from './mount-uses.ts'
import type { Layer } from './overlay-layers.ts'
import { type Identified, searchContent, type Wanted } from './search-content.ts'
import type { ByProcess } from './uses.ts'

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
    loops: [...look.loops.within(place), ...found.loops].map(({ device, backingFile }) => ({ device, backingFile })),
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
  return { text: `${path} ${why}`, hint: `Look at what is there (${commandLine('findmnt', '-T', path)}).` }
}

type ByMounts = Pick<Holders, 'namespaces' | 'kernel'>

function usesOf(look: ContentLook, at: Location, { path, going, podUid }: Content): ByMounts {
  const { table, others, layers, named } = look
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
      ...oneOfEach(inLayers).map((use) => describeLayer(use, look)),
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

/** Undefined: ours. */
function namespaceOf(mount: MountInfo, { others }: ContentLook): OtherNamespace | undefined {
  return others.find(({ table }) => table.byId(mount.id) === mount)
}

function describeLayer(use: MountUse, look: ContentLook): string {
  const other = namespaceOf(use.mount, look)
  return other === undefined
    ? describeUse(use)
    : `${describeUse(use)} in the mount namespace of ${describeProcess(other)}`
}

function lostLayer(layer: Layer, look: ContentLook): Unseen {
  const use = { mount: layer.mount, how: 'layer', layer } as const
  const on = undeletedPath(layer.mount.mountPoint)
  const other = namespaceOf(layer.mount, look)
  const text = `${describeLayer(use, look)} has a layer that its path does not lead to any more`
  if (other !== undefined) return unseenOf([other.pid], text)
  return { text, hint: whoMounted(on) }
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

interface Found extends Partial<Pick<Holders, 'loops' | 'kernel' | 'unseen'>> {
  readonly use?: ByProcess
}

/**
 * Users that are known by an inode or the end of a path only: the directory is walked to find their files. On nearly every
 * node there are no such users, and no walk.
 */
async function searchFor(look: ContentLook, content: Content, place: Location): Promise<Holders> {
  const inodes = new Map<string, Identified<Found>[]>()
  const ends = new Map<string, Found>()
  const anywhere: Found[] = []
  const noteEnd = (end: string, report: Found): void =>
    void (end === '' ? anywhere.push(report) : ends.set(end, report))
  const isHere = (dev: string | undefined): boolean => !isElsewhere(dev, content.path, place, look.table)
  for (const use of look.processes.strays)
    if (isHere(use.dev)) append(inodes, use.inode ?? '', { dev: use.dev, report: { use } })
  for (const layer of look.layers.relative) {
    const text = `${describeUse({ mount: layer.mount, how: 'layer', layer })}, a path that is not absolute`
    noteEnd(layer.path.replace(/^(?:\.\.(?:\/|$)|\.$)+/, ''), { kernel: [text] })
  }
  for (const swap of look.unknownSwaps) noteEnd(lastOf(swap), { kernel: [`the swap file ${swap}`] })
  for (const loop of look.unknownLoops) {
    const { file } = loop
    if (!isHere(file?.dev)) continue
    if (file === undefined) noteEnd(lastOf(loop.backingFile), { loops: [loop] })
    else append(inodes, String(file.inode), { dev: file.dev, report: { loops: [loop] } })
  }
  const sockets = new Map([...look.sockets.loose].map(([name, path]) => [name, { kernel: [describeSocket(path)] }]))
  const images = look.unknownImages.map((image) => ({ kernel: [image] }))
  const found = [...anywhere, ...(await search(look, content, { inodes, ends, sockets, images }))]
  return {
    // Processes are read from /proc only if their file is found, and not for every directory.
    processes: look.processes.named(found.flatMap(({ use }) => use ?? [])),
    namespaces: [],
    loops: found.flatMap(({ loops = [] }) => loops),
    kernel: found.flatMap(({ kernel = [] }) => kernel),
    unseen: found.flatMap(({ unseen = [] }) => unseen),
  }
}

/** Empty: its name says nothing. */
function lastOf(path: string): string {
  return posix.basename(undeletedPath(path))
}

async function search(
  { table, signal }: ContentLook,
  { path, rootDir }: Content,
  wanted: Wanted<Found>,
): Promise<readonly Found[]> {
  const { inodes, ends, sockets, images } = wanted
  if (inodes.size + ends.size + sockets.size + images.length === 0) return []
  const unsearched = (why: string): Found[] => [{ unseen: [unknownPlace(path, `could not be searched: ${why}`)] }]
  const mount = containingMount(table, path)
  if (mount === undefined || !(cannotHang(mount.fsType) || mount.id === containingMount(table, rootDir)?.id))
    return unsearched('its file system may hang')
  try {
    // The walk starts from the resolved place, and follows no link on the way (S8, S12).
    return await searchContent(placeOf(table, path), mount.id, wanted, signal)
  } catch (error) {
    if (error instanceof StepInterrupted) throw error
    return errnoOf(error) === 'ENOENT' ? [] : unsearched(errorMessage(error))
  }
}

/**
 * True if the file is on another file system, by its device number. (btrfs has a number for each subvolume, so it proves
 * nothing.)
 */
function isElsewhere(dev: string | undefined, path: string, place: Location, table: MountTable): boolean {
  return dev !== undefined && dev !== place.dev && containingMount(table, path)?.fsType !== 'btrfs'
}

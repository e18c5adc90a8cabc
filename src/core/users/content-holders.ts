/**
 * Everybody who uses the content of a directory (S12, S13). The same answer makes an apply refuse a deletion and is shown by
 * an explanation.
 */
import { accessSync, constants, fstatSync, lstatSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { append } from '../base/collections.ts'
import { alike } from '../base/text.ts'
import { deviceNumberFrom } from '../linux/block/device-use.ts'
import { type Entry, walkDown } from '../linux/delete-content.ts'
import { openBelow } from '../linux/descriptors.ts'
import type { Layer } from '../linux/follow-links.ts'
import { cannotHang, containingMount, type Location, locate } from '../linux/location.ts'
import { type OtherNamespace, type Unseen, unseenOf } from '../linux/mount-namespaces.ts'
import { type MountInfo, placeOf, whoMounted } from '../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../linux/paths.ts'
import { advice, commandLine } from '../messages/command.ts'
import { errnoOf, errorMessage, StepInterrupted, said } from '../messages/findings.ts'
import type { ContentLook } from './content-look.ts'
import { describeProcess, type Holders, type MountIds, namespaceHolders, staying, together } from './find-holders.ts'
import { boundAt } from './kernel-files.ts'
import { describeOverlay, describeUse, isErofsImage, layersIn, mountsOf, withTop } from './mount-uses.ts'
import type { ByProcess } from './uses.ts'

export interface Content {
  /** Absolute, as the kubelet uses it. */
  readonly path: string
  /** Ids of mounts in our own table that are unmounted first; they and their copies do not count as use. */
  readonly going?: MountIds
  /** The pod in whose directory it is. */
  readonly podUid?: string
  /** The root directory. Its own file system has been read before; others are only looked into if they cannot hang. */
  readonly rootDir: string
}

export async function contentHolders(look: ContentLook, content: Content): Promise<Holders> {
  const { table } = look
  const place = locate(table, content.path)
  if (place === undefined)
    return together([{ unseen: [unknownPlace(content.path, 'is in no mount that volctl sees')] }])
  return together([
    { processes: look.processes.holdersIn(place) },
    usesOf(look, place, content, staying(table, content.going)),
    ...look.files.within(place).map(({ holds }) => holds),
    {
      kernel: exportsOf(look, content.path, place),
      unseen: [...look.unseen, ...look.lostLayers.map((layer) => lostLayer(layer, look))],
    },
    ...(await searchFor(look, content, place)),
  ])
}

function unknownPlace(path: string, why: string): Unseen {
  return { text: `${path} ${why}`, hint: advice`Look at what is there (${commandLine('findmnt', '-T', path)}).` }
}

/** By mounts, overlays and paths that somebody names. @param stays which mounts are still there then */
export function usesOf(
  look: Pick<ContentLook, 'table' | 'others' | 'layers' | 'named'>,
  at: Location,
  { path, podUid }: Pick<Content, 'path' | 'podUid'>,
  stays: ReturnType<typeof staying>,
) {
  const { table, others, layers, named } = look
  const place = withTop(at, path, podUid)
  const own = mountsOf(place, table, path).filter(({ mount }) => stays(mount, table))
  const inLayers = layersIn(layers, place)
  return {
    namespaces: namespaceHolders(others, (of) =>
      mountsOf(place, of).flatMap(({ mount }) => (stays(mount, of) ? mount : [])),
    ),
    kernel: [
      ...own.map(describeUse),
      ...oneOfEach(inLayers).map((layer) => describeLayer(layer, look)),
      ...named.within(place, place.top),
    ],
  }
}

/** Each overlay once: the same one may be in every namespace. */
function oneOfEach(layers: readonly Layer[]): Layer[] {
  return [...new Map(layers.toReversed().map((layer) => [layer.mount.dev, layer])).values()].toReversed()
}

/** Undefined: ours. */
function namespaceOf(mount: MountInfo, { others }: Pick<ContentLook, 'others'>): OtherNamespace | undefined {
  return others.find(({ table }) => table.byId(mount.id) === mount)
}

function describeLayer(layer: Layer, look: Pick<ContentLook, 'others'>): string {
  const other = namespaceOf(layer.mount, look)
  const overlay = describeOverlay(layer)
  return other === undefined ? overlay : `${overlay} in the mount namespace of ${describeProcess(other)}`
}

function lostLayer(layer: Layer, look: ContentLook): Unseen {
  const other = namespaceOf(layer.mount, look)
  const text = `${describeLayer(layer, look)} has a layer that its path does not lead to any more`
  if (other !== undefined) return unseenOf([other.pid], text)
  return { text, hint: whoMounted(undeletedPath(layer.mount.mountPoint)) }
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

type Found = Partial<Holders> & { readonly use?: ByProcess }

/** Users that are known by their file only, by an inode, the end of a path or what is in it: the directory is walked to find them. */
async function searchFor(look: ContentLook, content: Content, place: Location): Promise<Partial<Holders>[]> {
  const found = new Set<Found>()
  const inodes = new Map<string, { readonly dev: string | undefined; readonly report: Found }[]>()
  /** By the last name of a path, without a slash before it. */
  const ends = new Map<string, { readonly end: string; readonly report: Found }[]>()
  const noteEnd = (end: string, report: Found): void =>
    void (end === '' ? found.add(report) : append(ends, posix.basename(end), { end, report }))
  // btrfs has a device number for each subvolume, so that another one proves nothing.
  const isAnywhere = containingMount(look.table, content.path)?.fsType === 'btrfs'
  const isHere = (dev = place.dev): boolean => dev === place.dev || isAnywhere
  for (const use of look.processes.strays)
    if (isHere(use.dev)) append(inodes, use.inode ?? '', { dev: use.dev, report: { use } })
  const overlays = alike(look.layers.unplaced, ({ mount }) => mount).map((layers) =>
    layers.map((layer) => {
      const report: Found = {}
      noteEnd(layer.path.replace(/^(?:\.\.(?:\/|$)|\.$)+/, ''), report)
      return { layer, report }
    }),
  )
  for (const { path, file, holds } of look.unknownFiles) {
    if (!isHere(file?.dev)) continue
    // A name that is empty says nothing: the file may be here.
    if (file === undefined) noteEnd(posix.basename(undeletedPath(path)), holds)
    else append(inodes, String(file.inode), { dev: file.dev, report: holds })
  }
  const images: Found = { kernel: look.images }
  const sockets: number[] = []
  const visit = (file: Stats, { directory, name, at, where }: Entry): void => {
    for (const { dev, report } of inodes.get(String(file.ino)) ?? [])
      if (dev === undefined || dev === deviceNumberFrom(file.dev)) found.add(report)
    for (const { end, report } of ends.get(name.toString()) ?? []) if (where().endsWith(`/${end}`)) found.add(report)
    if (file.isSocket()) sockets.push(file.ino)
    else if (file.isFile() && look.images.length > 0 && isErofsImage(at)) found.add(images)
    // Of btrfs: with a device number of its own in the same mount. Nothing in it can be deleted.
    else if (file.isDirectory() && file.dev !== fstatSync(directory.fd).dev && isReadOnly(at))
      found.add({ kernel: [`the read-only snapshot ${where()} (btrfs subvolume delete)`] })
  }
  if (inodes.size + ends.size + look.images.length > 0 || look.sockets !== undefined) {
    const why = await search(look, content, visit)
    if (why !== undefined) found.add({ unseen: [unknownPlace(content.path, `could not be searched: ${why}`)] })
  }
  found.add(await boundIn(sockets, place.dev, look))
  for (const parts of overlays) {
    const inside = parts.filter(({ report }) => found.has(report))
    const [first] = inside
    // All start from one directory: where that may be another, as its absolute layers tell, a few of the names here are by chance.
    if (first === undefined || (look.layers.has(first.layer) && inside.length < parts.length)) continue
    found.add({ kernel: [`${describeOverlay(first.layer)}, a path that is not absolute`] })
  }
  // Processes are read from /proc only if their file is found, and not for every directory.
  const processes = look.processes.named([...found].flatMap(({ use }) => use ?? []))
  return [{ processes }, ...found]
}

/** The first socket that is bound; where none is, what is not known of them. */
async function boundIn(inodes: readonly number[], dev: string, { sockets }: ContentLook): Promise<Found> {
  if (inodes.length === 0 || sockets === undefined) return {}
  const bound = await sockets()
  for (const inode of inodes) {
    const user = await boundAt(bound, { dev, inode })
    if (user !== undefined) return { kernel: [user] }
  }
  return { unseen: bound.unseen }
}

/** @returns why it could not be searched */
async function search(
  { table, signal }: ContentLook,
  { path, rootDir }: Content,
  visit: (file: Stats, entry: Entry) => void,
): Promise<string | undefined> {
  const mount = containingMount(table, path)
  if (mount === undefined || !(cannotHang(mount.fsType) || mount.id === containingMount(table, rootDir)?.id))
    return 'its file system may hang'
  try {
    // The walk starts from the resolved place, and follows no link on the way (S8, S12).
    await visitContent(placeOf(table, path), mount.id, visit, signal)
    return undefined
  } catch (error) {
    if (error instanceof StepInterrupted) throw error
    return errnoOf(error) === 'ENOENT' ? undefined : errorMessage(error)
  }
}

/**
 * Walks by descriptors, as a deletion does (S12). The directory itself counts, as if it were in itself.
 *
 * @param path absolute, without links on the way
 * @param mountId the mount that the directory must be in
 * @param signal ends it
 * @throws StepInterrupted; StepFailed where the walk would leave the mount; errors of open(2) and getdents(2)
 */
export async function visitContent(
  path: string,
  mountId: number,
  visit: (file: Stats, entry: Entry) => void,
  signal?: AbortSignal,
): Promise<void> {
  await walkDown(path, mountId, {
    begin: (directory) => {
      const name = Buffer.from(posix.basename(path))
      visit(fstatSync(directory.fd), { directory, name, at: Buffer.from(path), where: () => path })
      return true
    },
    visit: (entry, enter) => {
      try {
        const file = lstatSync(entry.at)
        visit(file, entry)
        if (file.isDirectory()) enter(openBelow(entry.directory, entry.name))
      } catch (error) {
        const code = errnoOf(error)
        // The entry has been removed or replaced meanwhile, and is deleted as what it is then.
        if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ELOOP') throw error
      }
    },
    signal,
    interrupted: () => new StepInterrupted(said('Interrupted.users', { path })),
  })
}

function isReadOnly(directory: Buffer): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return false
  } catch (error) {
    return errnoOf(error) === 'EROFS'
  }
}

/** The only calls by which a walk over the kubelet's directories touches the disk. */

import { type Dirent, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { lazy } from '../../base/collections.ts'
import { type MountInfo, type MountTable, placeOf } from '../../linux/mount-table.ts'
import { undeletedRoot } from '../../linux/paths.ts'
import { errorWord } from '../../messages/findings.ts'
import { listIfAny } from '../../trust/kernel.ts'
import { ListedEntry, mayNotBeUtf8, NOT_UTF8, STRUCTURE } from '../../volumes/on-disk/tree.ts'
import { STATE_FILES } from '../../volumes/registry.ts'
import type { FileType } from '../../volumes/snapshot.ts'
import type { StructureLinks } from './structure-links.ts'
import { lookedAt, lstatEntry, readStateFile, typeOf } from './tree-entry.ts'

/** Volumes on the kubelet's own tmpfs, which cannot hang (contract, "Snapshot"). */
const OWN_TMPFS = /^pods\/[^/]+\/volumes\/kubernetes\.io~(?:secret|projected|downward-api)\/[^/]+$/s

/** An administrator may have mounted a disk on one of the kubelet's directories. */
const LOCAL_DISK = /^(ext[234]|xfs|btrfs|zfs|f2fs|tmpfs|overlay)$/

/** Whether a mount may be entered: the kubelet's own tmpfs, or a local disk on one of the kubelet's directories. */
function isEnterable(path: string, { fsType }: MountInfo): boolean {
  return OWN_TMPFS.test(path) ? fsType === 'tmpfs' : STRUCTURE.includes(path) && LOCAL_DISK.test(fsType)
}

/** Names of block devices, for devices that are gone from sysfs. */
const BLOCK_NAME = /^(loop\d|sd[a-z]|vd[a-z]|xvd[a-z]|nvme\d+n\d|dm-\d|md\d|nbd\d|rbd\d|mmcblk\d|zd\d|sr\d|drbd\d)/

/** The entries read so far, and the only calls by which a walk over the kubelet's directories touches the disk. */
export class TreeWalk {
  readonly rootDir: string
  readonly #table: MountTable
  /** As the kernel calls them (sda1, loop3, dm-0). Asked for only when a device file is mounted. */
  readonly #blockDevices = lazy(() => new Set(listIfAny('/sys/class/block')))
  readonly #entries: ListedEntry[] = []
  readonly #gone = new Set<ListedEntry>()
  readonly #places: ReadonlyMap<string, string>
  readonly #unknown: StructureLinks['unknown']

  constructor(rootDir: string, table: MountTable, { links, unknown }: StructureLinks) {
    this.rootDir = rootDir
    this.#table = table.withLinks(links)
    this.#places = new Map(links.map(({ path, place }) => [path, place]))
    this.#unknown = unknown
  }

  entries(): readonly ListedEntry[] {
    return this.#gone.size === 0 ? this.#entries : this.#entries.filter((entry) => !this.#gone.has(entry))
  }

  /** How many were read: what `since` gives begins behind them. */
  get count(): number {
    return this.#entries.length
  }

  since(count: number): readonly ListedEntry[] {
    return this.#entries.slice(count)
  }

  emit(entry: ListedEntry): void {
    this.#entries.push(entry)
  }

  /** The directory that it is in as its links were followed: by now one may lead anywhere (S36). @returns absolute */
  absolute(path: string): string {
    const own = `${this.rootDir}/${path}`
    return this.#places.size === 0 ? own : `${placeOf(this.#table, posix.dirname(own))}/${posix.basename(own)}`
  }

  /** The visible mount on this path. */
  mountOn(path: string): MountInfo | undefined {
    return this.#table.raw.top(this.absolute(path))
  }

  /** Is anything mounted below this directory. @param directory "" for the root itself */
  hasMountsBelow(directory: string): boolean {
    return this.#table.isAbove(directory === '' ? this.rootDir : `${this.rootDir}/${directory}`)
  }

  /**
   * The type of a file, or of what a mount on it shows, without a stat. readdir shows the file below the mount, so a device file
   * that is bound onto a plain file looks like a plain file; the mount's root in devtmpfs shows which device it is.
   */
  typeOf(mount: MountInfo | undefined, dirent: Dirent): FileType {
    const type = typeOf(dirent)
    if (type !== 'file' || mount?.fsType !== 'devtmpfs') return type
    const device = undeletedRoot(mount.root).replace(/^\//, '')
    if (device === '') return type
    return this.#blockDevices().has(device.replaceAll('/', '!')) || BLOCK_NAME.test(device) ? 'block' : 'char'
  }

  /** All entries of a directory, by name and type; an error is noted in the directory's entry. */
  children(directory: ListedEntry): readonly ListedEntry[] {
    try {
      const place = directory.realPath ?? this.absolute(directory.path)
      return this.entriesOf(directory.path, readdirSync(place, { withFileTypes: true }))
    } catch (error) {
      const text = errorWord(error)
      if (text === 'ENOENT') this.#missing(directory)
      else directory.error = text
      return []
    }
  }

  /** @param parent relative to the root directory, "" for the root itself */
  entriesOf(parent: string, dirents: readonly Dirent[]): readonly ListedEntry[] {
    const hasMounts = this.hasMountsBelow(parent)
    const directory = parent === '' ? '.' : parent
    const entries = dirents.map((dirent) => {
      const { name } = dirent
      const path = parent === '' ? name : `${parent}/${name}`
      const mount = hasMounts ? this.mountOn(path) : undefined
      const onTop = mount && (isEnterable(path, mount) ? 'open' : 'closed')
      return new ListedEntry(directory, name, this.typeOf(mount, dirent), onTop)
    })
    for (const entry of entries) {
      if (entry.type === 'link') {
        entry.realPath = this.#places.get(`${this.rootDir}/${entry.path}`)
        entry.error = this.#unknown.get(entry.path)
      }
      this.#entries.push(entry)
    }
    return entries
  }

  /** Adds a plain file, without attributes, if it is there, and nothing is mounted on it. Never for what is behind a mount. */
  emitFile(file: ListedEntry): boolean {
    const isThere = this.mountOn(file.path) === undefined && lookedAt(this.absolute(file.path))?.isFile() === true
    if (isThere) this.emit(file)
    return isThere
  }

  /** True for a directory, or a followed link to one, on which nothing is mounted that may not be entered. */
  isOpen(entry: ListedEntry): boolean {
    return (entry.type === 'dir' || entry.realPath !== undefined) && this.mayEnter(entry)
  }

  mayEnter(entry: ListedEntry): boolean {
    return entry.onTop !== 'closed'
  }

  /** Reads attributes by lstat, but of entries that have them, and of mount points that may not be entered. */
  attributes(entries: readonly ListedEntry[]): void {
    for (const entry of entries) {
      if (entry.mode !== undefined || !this.mayEnter(entry)) continue
      if (!lstatEntry(entry, this.absolute(entry.path))) this.#missing(entry)
    }
  }

  /** Gone since its directory was listed; unless its name is not UTF-8, since the kubelet makes no such names. */
  #missing(entry: ListedEntry): void {
    if (mayNotBeUtf8(entry.name)) entry.error = NOT_UTF8
    else this.#gone.add(entry)
  }

  /** Reads the attributes and the content of a state file; of any other entry nothing. */
  stateFile(entry: ListedEntry): void {
    if (entry.type !== 'file' || entry.onTop !== undefined || !STATE_FILES.has(entry.name)) return
    readStateFile(entry, this.absolute(entry.path))
    if (entry.error === 'ENOENT') this.#gone.add(entry)
  }
}

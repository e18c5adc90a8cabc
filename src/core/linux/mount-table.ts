/**
 * The mount table as volctl uses it. `parseMountinfo` makes one.
 *
 * The kernel shows mount points with links resolved: if ROOT/pods is a link to /data/pods, a mount on ROOT/pods/UID/… is in the
 * table as /data/pods/UID/…. In MountTable.withLinks it has the path again that the kubelet, its drivers and all steps use (S8). The
 * directory behind a link is shown as if it were bind-mounted on the link's path.
 */

import { type Advice, advice, commandLine } from '../messages/command.ts'
import { isWithin } from './paths.ts'

/** One line of /proc/PID/mountinfo, decoded (proc_pid_mountinfo(5)). */
export interface MountInfo {
  readonly id: number
  readonly parentId: number
  /** "major:minor". */
  readonly dev: string
  /** Root of the mount within its file system, escapes decoded, a trailing "//deleted" kept. */
  readonly root: string
  /** Escapes decoded; a trailing " (deleted)" kept. */
  readonly mountPoint: string
  readonly options: readonly string[]
  /** shared:N, master:N, propagate_from:N, unbindable. */
  readonly optionalFields: readonly string[]
  readonly fsType: string
  readonly source: string
  readonly superOptions: readonly string[]
  /** Position in the table: later is newer on the same path. */
  readonly index: number
  /** The same mount with the kernel's path, where a link of the kubelet's leads there. */
  readonly raw?: MountInfo
}

/** A directory of the kubelet that is a link, and its target; both absolute, the target with links resolved. */
export interface PlaceLink {
  readonly path: string
  readonly place: string
}

export interface MountTable {
  /** The raw text, as the kernel gave it. */
  readonly text: string
  /** In the kernel's order. */
  readonly all: readonly MountInfo[]
  /** The table as the kernel shows it; only this table shows which mount is on which. */
  readonly raw: MountTable
  /** Links in the kubelet's directories, behind which mounts have the kubelet's own paths (withLinks). */
  readonly links: readonly PlaceLink[]
  /** The table with the mounts behind links at the links' own paths. @param links none leads into the target of another */
  withLinks(links: readonly PlaceLink[]): MountTable
  /** Mounts at or below `prefix` (compared by path component), in table order. */
  under(prefix: string): readonly MountInfo[]
  /** Mounts that are not below a directory, those on it included, in table order. */
  notBelow(directory: string): readonly MountInfo[]
  /** Mounts below a directory, by the name in it, without the kernel's " (deleted)" (P115): in table order, and so are the names. */
  below(directory: string): ReadonlyMap<string, readonly MountInfo[]>
  /** Every mount on exactly this path, in table order, hidden ones included (O35). */
  at(path: string): readonly MountInfo[]
  /** Mounts on exactly this path that are not hidden, oldest first, whatever their order in the table. */
  reached(path: string): readonly MountInfo[]
  /** The mount that hides this one, so that no path reaches it (covers.ts); undefined: it is not hidden. */
  coverOf(mount: MountInfo): MountInfo | undefined
  /** The visible mount on exactly this path. */
  top(path: string): MountInfo | undefined
  /** Is anything mounted below this directory. */
  isAbove(directory: string): boolean
  /** All mounts of one file system ("major:minor"), in table order. */
  ofDevice(dev: string): readonly MountInfo[]
  /** The mount with this id, if the table has it. */
  byId(id: number): MountInfo | undefined
}

/** The directory, or the device, that a mount shows. */
export type Shown = Pick<MountInfo, 'dev' | 'root'>

export function isSameMount(a: Shown | undefined, b: Shown): boolean {
  return a?.dev === b.dev && a.root === b.root
}

/** The kernel's path for one of the kubelet's. */
export function placeOf({ links }: Pick<MountTable, 'links'>, path: string): string {
  return moved(path, links, 'path', 'place')
}

/** The kubelet's path for one of the kernel's. */
export function ownPathOf({ links }: Pick<MountTable, 'links'>, place: string): string {
  return moved(place, links, 'place', 'path')
}

function moved(path: string, links: readonly PlaceLink[], from: keyof PlaceLink, to: keyof PlaceLink): string {
  let nearest: PlaceLink | undefined
  for (const link of links) {
    if ((nearest?.[from].length ?? 0) < link[from].length && isWithin(path, link[from])) nearest = link
  }
  return nearest === undefined ? path : `${nearest[to]}${path.slice(nearest[from].length)}`
}

// What is said of a mount, and what a person does about it.

/** A dead mount's error in words that people know, with the errno's name. */
const WORDS: Readonly<Record<string, string>> = {
  ENOTCONN: 'transport endpoint is not connected',
  ESTALE: 'stale file handle',
  EIO: 'input/output error',
  EHOSTDOWN: 'host is down',
  ENODEV: 'no such device',
  ECONNABORTED: 'connection aborted',
  Timeout: 'no answer in time',
}

/** For a mount that is not the volume's, or not known to be (S37). */
export function whoMounted(path: string): Advice {
  return advice`Find out who mounted ${path} (${commandLine('findmnt', path)}), and have it taken off there; then plan again.`
}

/** Only a server or a daemon answers so. */
const SERVERS: ReadonlySet<string> = new Set(['ENOTCONN', 'ESTALE', 'EHOSTDOWN', 'ECONNABORTED'])

/** Does it lie on a disk, which no server brings back and no force breaks off? @param error with which it does not answer, if known */
export function isOnDisk({ source }: MountInfo, error = ''): boolean {
  return source.startsWith('/dev/') && !SERVERS.has(error)
}

/** What a person does about a dead mount (S37). @param pod that uses it: only a new one gets another mount of a disk */
export function bringBack(mount: MountInfo | undefined, error?: string, pod?: string): string {
  if (mount === undefined || !isOnDisk(mount, error))
    return `Restart the driver or server of the file system${pod === undefined ? '' : `; then restart the containers of pod ${pod}`}`
  if (pod === undefined) return 'See what became of its disk (dmesg), and bring the disk back'
  const mapping = mount.source.startsWith('/dev/mapper/') ? ', and close the mapping that is left' : ''
  return `The block device ${mount.source} below it is gone, or fails (dmesg): delete pod ${pod}${mapping}`
}

export function deadWords(error: string): string {
  const words = WORDS[error]
  if (words === undefined) return error
  return error === 'Timeout' ? words : `${words} (${error})`
}

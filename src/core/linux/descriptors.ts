/** Directories held by descriptors, paths through them (Node.js has no openat(2)), and files that are replaced there as a whole. */

import { randomUUID } from 'node:crypto'
import {
  type Dir,
  type Dirent,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  opendirSync,
  readlinkSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import { posix } from 'node:path'
import { allowing, closing, closingOnError, errnoOf, StepFailed, said } from '../messages/findings.ts'
import { nameIn, openDirectoryOf, requirePlain } from '../trust/files.ts'
import { kernelText, mountIdIn } from '../trust/kernel.ts'
import { createNew, markDirectory, openOwnDirectory, writeAll } from '../trust/plain-files.ts'

export interface OpenDirectory {
  readonly fd: number
  readonly mountId: number
  /** Device and inode. */
  readonly identity: string
}

/** What was opened is in another mount than what is worked on. */
export class InOtherMount extends StepFailed {}

/** Opens a directory by its whole path. @throws StepFailed Swapped for a link on the way, ForeignMount for another mount */
export function openDirectory(path: string, mountId: number): OpenDirectory {
  return checked(markDirectory(path), mountId, path, (fd) => requireReal(path, fd))
}

/**
 * Does something to a name in a directory, by the directory's descriptor: a link that has taken the place of one above it is
 * not followed.
 *
 * @param directory absolute, without links on the way
 * @throws StepFailed Swapped; errors of open(2), and what is thrown by what is done
 */
export function inDirectory<T>(directory: string, name: string, act: (path: string) => T): T {
  return closing(markDirectory(directory), (fd) => {
    requireReal(directory, fd)
    return act(nameIn(fd, name))
  })
}

function requireReal(path: string, fd: number): void {
  const real = readlinkSync(`/proc/self/fd/${fd}`)
  if (real !== path) throw new StepFailed(said('Swapped.link', { path, real }))
}

export function openBelow(directory: OpenDirectory, name: Buffer | string): OpenDirectory {
  return checked(markDirectory(entryPath(directory, name)), directory.mountId, name.toString())
}

/** Makes an open descriptor an OpenDirectory, if it is in the same mount as its parent. */
export function asDirectory(fd: number, above: OpenDirectory): OpenDirectory | undefined {
  return mountIdOf(fd) === above.mountId ? { fd, mountId: above.mountId, identity: identityOf(fd) } : undefined
}

/** The directory above, which must be the one that the walk came from. */
export function openParent(directory: OpenDirectory, identity: string): OpenDirectory {
  const fd = markDirectory(`/proc/self/fd/${directory.fd}/..`)
  return checked(fd, directory.mountId, '..', (_, found) => {
    if (found !== identity) throw new StepFailed(said('Swapped.moved'))
  })
}

/** The path of an entry through its directory's descriptor; names are bytes, and need not be UTF-8. */
export function entryPath({ fd }: Pick<OpenDirectory, 'fd'>, name: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(nameIn(fd, '')), typeof name === 'string' ? Buffer.from(name) : name])
}

/** All names in a directory that only root and the kubelet write to. */
export function readNames(directory: OpenDirectory): Buffer[] {
  return entriesIn(directory.fd, Number.POSITIVE_INFINITY).map(nameOf)
}

/** The first entries of a directory. @throws as Entries */
export function entriesIn(fd: number, most: number): Dirent[] {
  using entries = new Entries(fd)
  return entries.upTo(most)
}

/** The entries of a directory, some at a time: a container may make millions. */
export class Entries implements Disposable {
  #directory: Dir | undefined

  /** @throws what opendir(3) says */
  constructor(fd: number) {
    // A character for each byte: names need not be UTF-8.
    this.#directory = opendirSync(`/proc/self/fd/${fd}`, { encoding: 'latin1', bufferSize: AT_ONCE })
  }

  /** The next entries; fewer: there are no more, and it is closed. @throws what readdir(3) says */
  upTo(most: number): Dirent[] {
    const found: Dirent[] = []
    while (this.#directory !== undefined && found.length < most) {
      const entry = this.#directory.readSync()
      if (entry === null) this[Symbol.dispose]()
      else found.push(entry)
    }
    return found
  }

  [Symbol.dispose](): void {
    this.#directory?.closeSync()
    this.#directory = undefined
  }
}

/** So many are asked of the kernel in one breath. */
const AT_ONCE = 128

/** The bytes of an entry's name. */
export function nameOf({ name }: Dirent): Buffer {
  return Buffer.from(name, 'latin1')
}

function checked(
  opened: number,
  mountId: number,
  what: string,
  check: (fd: number, identity: string) => void = () => {},
): OpenDirectory {
  return closingOnError(opened, (fd) => {
    const found = mountIdOf(fd)
    if (found !== mountId) {
      throw new InOtherMount(said('ForeignMount.otherMount', { what, found, mountId }))
    }
    const identity = identityOf(fd)
    check(fd, identity)
    return { fd, mountId, identity }
  })
}

function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  return `${dev}:${ino}`
}

function mountIdOf(fd: number): number {
  const id = mountIdIn(kernelText(`/proc/self/fdinfo/${fd}`))
  if (id === undefined) throw new InOtherMount(said('ForeignMount.unknown', { fd }))
  return id
}

/** volctl's files name claims, servers and volume handles, so only their owner may read them. */
const OWNER_ONLY = 0o600

/**
 * Writes a file whole or not at all: a new file next to it, with its mode whatever the umask, is written to the disk and then
 * renamed over the wanted name, in a directory that is held by a descriptor.
 *
 * An existing plain file is replaced, and never written to, so that another hard link to it keeps its content. Anything else
 * at that name, whoever owns it, is an error (S33). No link that another user could change is followed on the way there.
 *
 * @throws NotTrusted, NotAFile, or the file system's error; the new file is then removed again, if possible
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const { fd, name } = openDirectoryOf(path)
  closing(fd, (directory) => {
    const file = nameIn(directory, name)
    requirePlain(file)
    replaceBy(`${file}.${randomUUID()}`, file, content, OWNER_ONLY)
    syncDirectory(nameIn(directory, '.'))
  })
}

/** By a draft, which takes its name. @throws the system's error */
function replaceBy(draft: string, file: string, content: string | Uint8Array, mode: number): void {
  createWhole(draft, content, mode)
  try {
    renameSync(draft, file)
  } catch (error) {
    removeLeftover(draft)
    throw error
  }
}

/** A new file that is on the disk with all of its content, or not there. @throws the system's error */
export function createWhole(path: string | Buffer, content: string | Uint8Array, mode: number, owner?: number): void {
  closing(createNew(path, OWNER_ONLY), (fd) => {
    try {
      writeAll(fd, content)
      fchmodSync(fd, mode)
      if (owner !== undefined) fchownSync(fd, owner, -1)
      fsyncSync(fd)
    } catch (error) {
      removeLeftover(path)
      throw error
    }
  })
}

/** What an attempt has left. If the disk fails, this may fail as well; the first failure is the one to report. */
function removeLeftover(path: string | Buffer): void {
  try {
    unlinkSync(path)
  } catch {
    // A draft has a name of its own, and does no harm; of a state file the caller checks whether it is there.
  }
}

/** A new name is on the disk only once its directory is synced. @throws the system's error */
export function syncDirectory(path: string | Buffer): void {
  // Some file systems do not support it, and need not.
  allowing(['EINVAL'], undefined, () => closing(openOwnDirectory(path), fsyncSync))
}

// A state file is on the disk before the driver is called (C14): after a power cut it is whole, or absent.

const STATE_MODE = 0o644

/**
 * A new file is created under its final name: no driver is called before the file is on the disk. An incomplete one (on a full disk)
 * would keep the kubelet from handling the volume, and is replaced the next time. An existing file is replaced as a whole.
 *
 * @throws the system's error
 */
export function writeStateFile(path: string, text: string): void {
  try {
    createWhole(path, text, STATE_MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    const draft = `${path}.new`
    removeLeftover(draft)
    replaceBy(draft, path, text, STATE_MODE)
  }
  syncDirectory(posix.dirname(path))
}

/** Directories held by descriptors, and paths through them (Node.js has no openat(2)). */
import { type Dir, type Dirent, fstatSync, opendirSync, readlinkSync } from 'node:fs'
import { closing, closingOnError } from '../base/closing.ts'
import { StepFailed } from '../base/operation-error.ts'
import { nameIn } from '../trust/files.ts'
import { kernelText, mountIdIn } from '../trust/kernel.ts'
import { markDirectory } from '../trust/plain-files.ts'

export interface OpenDirectory {
  readonly fd: number
  readonly mountId: number
  /** Device and inode. */
  readonly identity: string
}

/** What was opened is in another mount than what is worked on. */
export class InOtherMount extends StepFailed {
  constructor(message: string, options: { readonly hint?: string } = {}) {
    super('ForeignMount', message, options)
  }
}

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
  if (real !== path) throw new StepFailed('Swapped', `${path} leads to ${real}: there is a link on the way`)
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
    if (found !== identity) throw new StepFailed('Swapped', 'a directory was moved while the walk was in it')
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
      throw new InOtherMount(`${what} is in mount ${found}, not in the volume's mount ${mountId}`, {
        hint: 'Find out who mounted it (findmnt); volctl never touches the content of other mounts.',
      })
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
  if (id === undefined) throw new InOtherMount(`the kernel does not show the mount of descriptor ${fd}`)
  return id
}

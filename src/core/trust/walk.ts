/**
 * Walks to a file, one name at a time, each held by a descriptor, and judges who could have changed any part of the way.
 * Checking a path and using it later would be unsafe: anyone who may write to one of its directories could swap the rest in
 * between.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { kernelText, mountIdIn, O_PATH } from './kernel.ts'
import { isShared, trustedOwners, whoElseWrites } from './owners.ts'

const MARK = O_PATH | constants.O_NOFOLLOW
const MAX_LINKS = 40

/** A descriptor of what is at the end of a path; a link there is followed. */
export interface Place {
  /** Opened with O_PATH; the caller closes it. */
  readonly fd: number
  readonly stats: Stats
  /** Who else could have changed it or the way to it, for messages; undefined: nobody. */
  readonly doubt: string | undefined
}

export interface WalkOptions {
  /**
   * Continue where others may write, but without following links there; by default the walk fails at the first such place.
   */
  readonly throughDoubt?: boolean
}

/** The way goes through a place that others may change; nothing beyond it was touched. */
export class Doubtful extends Error {
  readonly code = 'DOUBTFUL'
}

/**
 * @param path absolute. It may begin with another process's root directory (/proc/N/root); links are then resolved from there
 * @throws Doubtful, or what the file system says (ENOENT, ENOTDIR, EACCES, ELOOP)
 */
export function walkTo(path: string, options: WalkOptions = {}): Place {
  const { root, rest } = fromRoot(path)
  const walk = new Walk(`${root}/`, options)
  try {
    return walk.to(namesOf(rest))
  } catch (error) {
    walk.close()
    throw error
  }
}

/** A path in two parts: another process's root directory (/proc/N/root) or nothing, and the path as seen from there. */
export interface FromRoot {
  readonly root: string
  readonly rest: string
}

/** Splits a path that begins with another process's root or working directory (/proc/N/cwd): links and .. are resolved in its namespace. */
export function fromRoot(path: string): FromRoot {
  const [, process, place, rest = '/'] = /^(\/proc\/(?:self|\d+))\/(root|cwd)(\/.*)?$/s.exec(path) ?? []
  if (process === undefined) return { root: '', rest: path }
  return { root: `${process}/root`, rest: place === 'root' ? rest : `${readlinkSync(`${process}/cwd`)}${rest}` }
}

interface Step extends Place {
  readonly path: string
}

class Walk {
  readonly #start: string
  readonly #options: WalkOptions
  /** Directories from the start to here. */
  #above: Step[] = []
  #links = 0

  constructor(start: string, options: WalkOptions) {
    this.#start = start
    this.#options = options
    this.#restart()
  }

  to(names: string[]): Place {
    const queue = [...names]
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const here = this.#here()
      if (name === '..') {
        if (this.#above.length > 1) closeSync((this.#above.pop() as Step).fd)
        continue
      }
      if (!here.stats.isDirectory()) throw failure('ENOTDIR', here.path)
      const next = this.#enter(here, name)
      if (!next.stats.isSymbolicLink()) {
        this.#above.push(next)
        continue
      }
      closeSync(next.fd)
      if (next.doubt !== undefined) throw new Doubtful(next.doubt)
      if (++this.#links > MAX_LINKS) throw failure('ELOOP', next.path)
      const target = readlinkSync(`/proc/self/fd/${here.fd}/${name}`)
      if (target.startsWith('/')) this.#restart()
      queue.unshift(...namesOf(target))
    }
    const { fd, stats, doubt } = this.#above.pop() as Step
    this.close()
    return { fd, stats, doubt }
  }

  close(): void {
    for (const { fd } of this.#above.splice(0)) closeSync(fd)
  }

  #here(): Step {
    return this.#above.at(-1) as Step
  }

  #restart(): void {
    this.close()
    const fd = openSync(this.#start, O_PATH | constants.O_DIRECTORY)
    const stats = fstatSync(fd)
    this.#above.push({ fd, stats, path: '/', doubt: this.#judge('/', stats, undefined) })
  }

  #enter(here: Step, name: string): Step {
    const path = here.path === '/' ? `/${name}` : `${here.path}/${name}`
    const fd = openSync(`/proc/self/fd/${here.fd}/${name}`, MARK)
    try {
      const users = this.#usersMount(here, fd, path)
      const stats = fstatSync(fd)
      return { fd, stats, path, doubt: users ?? this.#judge(path, stats, here) }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  /** The owner of a directory in /tmp may have mounted a FUSE file system on it, which reports any owner and mode. */
  #usersMount(here: Step, fd: number, path: string): string | undefined {
    if (!isShared(here.stats) || !isUsersMount(here.fd, fd, path)) return undefined
    const doubt = `${path} is a FUSE file system of another user`
    if (this.#options.throughDoubt !== true) throw new Doubtful(doubt)
    return doubt
  }

  /** A place that others may write to is in doubt, and so is everything below it. */
  #judge(path: string, stats: Stats, above: Step | undefined): string | undefined {
    const doubt = above?.doubt ?? this.#own(path, stats, above)
    const isEnd = !stats.isDirectory() && !stats.isSymbolicLink()
    if (doubt !== undefined && !isEnd && this.#options.throughDoubt !== true) throw new Doubtful(doubt)
    return doubt
  }

  #own(path: string, stats: Stats, above: Step | undefined): string | undefined {
    const owners = trustedOwners()
    if (stats.isSymbolicLink()) return owners.has(stats.uid) ? undefined : `${path} is a link of uid ${stats.uid}`
    // In a shared directory only a name's owner can remove it.
    const sharedHere = stats.isDirectory() && isShared(stats) && owners.has(stats.uid)
    const who = sharedHere ? undefined : whoElseWrites(stats, owners)
    if (who !== undefined) return `${path} ${who}`
    // In a shared directory, any user may have made a hard link to root's file.
    const second = above !== undefined && isShared(above.stats) && stats.isFile() && stats.nlink > 1
    return second ? `${path} has a second name (hard link), in a directory where any user may create one` : undefined
  }
}

/** Of a path's steps, without the empty ones and those that lead nowhere. */
export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** The user chooses type and source. In both the kernel escapes blanks, tabs and newlines, but no other white space. */
const USERS_FUSE = / - fuse[^ ]* .*\buser_id=[1-9]/s

/**
 * Is a FUSE file system of another user at a descriptor? By mount ids and the mount table, not by stat: the file system may
 * hang, and reports whatever its owner wants. The table is long on a node, and read only where a mount begins.
 */
function isUsersMount(above: number, fd: number, path: string): boolean {
  const [from, to] = [above, fd].map((each) => mountIdIn(kernelText(`/proc/self/fdinfo/${each}`)))
  if (to !== undefined && to === from) return false
  const lines = kernelText('/proc/self/mountinfo').split('\n')
  const own = lines.filter((line) => line.startsWith(`${to} `))
  // In another process's mount namespace, its mounts have no line here.
  const mounts = own.length > 0 ? own : lines.filter((line) => line.split(' ')[4] === escaped(path))
  return mounts.some((line) => USERS_FUSE.test(line))
}

/** As a path stands in the mount table. */
function escaped(path: string): string {
  return path.replaceAll(/[\\ \t\n]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

function failure(code: string, path: string): Error {
  const meaning = code === 'ELOOP' ? 'too many links' : 'not a directory'
  return Object.assign(new Error(`${code}: ${meaning}, ${path}`), { code, path })
}

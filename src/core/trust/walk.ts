/**
 * Walks to a file, one name at a time, each held by a descriptor, and judges who could have changed any part of the way.
 * Checking a path and using it later would be unsafe: anyone who may write to one of its directories could swap the rest in
 * between. Where the way leads into a file system that may hang, nothing of it is touched before it has answered a child (S36).
 */

import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { closingOnError } from '../messages/findings.ts'
import { answers } from './asked-mounts.ts'
import { cannotHang, decodeOctal, isFullRange, kernelText, kernelTextIfAny, mountIdIn, O_PATH } from './kernel.ts'
import { environment, PROGRAM_DIRECTORIES, perRun } from './run.ts'

const MARK = O_PATH | constants.O_NOFOLLOW
const MAX_LINKS = 40

/** What a walk has come to. */
interface Step {
  /** Opened with O_PATH. Of the end of a path, where a link is followed, the caller closes it. */
  readonly fd: number
  readonly stats: Stats
  /** Who else could have changed it or the way to it, for messages; undefined: nobody. */
  readonly doubt: string | undefined
  readonly path: string
  readonly mount: number
}

export interface WalkOptions {
  /**
   * Continue where others may write, but without following links there; by default the walk fails at the first such directory, and at
   * its end.
   */
  readonly throughDoubt?: boolean
  /** Default: true. */
  readonly asks?: boolean
  /** Called with each path before it is opened; throws to go no further. */
  readonly before?: (path: string) => void
  /** Instead: who says where to go, and judges nothing. */
  readonly guide?: Guide
}

/** Where a walk goes that is not to ask anything that may hang. */
interface Guide {
  /** Whether what is at this path, by its text, may be opened. */
  readonly opens: (path: string) => boolean
  /** Whether what was opened in this mount may be asked what it is. */
  readonly asks: (mount: number) => boolean
  readonly follows: (mount: number) => boolean
}

/**
 * Somebody else could have written a file, or changed the way to it, so it is not used, and nothing beyond was touched. The message begins
 * with the path that is in doubt.
 */
export class NotTrusted extends Error {}

/**
 * @param path absolute. It may begin with another process's root directory (/proc/N/root); links are then resolved from there
 * @throws NotTrusted, or what the file system says (ENOENT, ENOTDIR, EACCES, ELOOP)
 */
export function walkTo(path: string, options: WalkOptions = {}): Step {
  const { root, rest } = fromRoot(path)
  return walk(root, rest, options)
}

/**
 * @param root of another process, or nothing
 * @returns the path with its links resolved, and what is there; from where the guide ends, or nothing is, the path is as it was
 */
export function walkAsFar(root: string, path: string, guide: Guide): { readonly real: string; readonly file?: Stats } {
  let real = path
  try {
    const end = walk(root, path, { guide }, (reached) => {
      real = reached
    })
    closeSync(end.fd)
    return { real: end.path, file: end.stats }
  } catch {
    return { real }
  }
}

/**
 * Splits a path that begins with another process's root or working directory (/proc/N/cwd): links and .. are resolved in its namespace.
 *
 * @returns the root directory (/proc/N/root) or nothing, and the path as seen from there
 */
export function fromRoot(path: string) {
  const [, process, place, rest = '/'] = /^(\/proc\/(?:self|\d+))\/(root|cwd)(\/.*)?$/s.exec(path) ?? []
  if (process === undefined) return { root: '', rest: path }
  return { root: `${process}/root`, rest: place === 'root' ? rest : `${readlinkSync(`${process}/cwd`)}${rest}` }
}

/**
 * @param stopped called where it goes no further, with where it is and the names that are left
 * @returns what is at its end, whose descriptor the caller closes
 */
function walk(root: string, path: string, options: WalkOptions, stopped?: (reached: string) => void): Step {
  /** Directories from the root to here. */
  const above: Step[] = []
  /** Still to go. */
  const names = namesOf(path)
  let links = 0
  const restart = (): void => {
    closeAll(above)
    above.push(openStep(root, `${root}/`, '/', undefined, options))
  }
  try {
    restart()
    for (let name = names[0]; name !== undefined; names.shift(), name = names[0]) {
      const here = above.at(-1) as Step
      if (name === '..') {
        if (above.length > 1) closeSync((above.pop() as Step).fd)
        continue
      }
      if (!here.stats.isDirectory()) throw failure('ENOTDIR', here.path)
      const next = openStep(root, name, posix.join(here.path, name), here, options)
      if (!next.stats.isSymbolicLink() || options.guide?.follows(next.mount) === false) {
        above.push(next)
        continue
      }
      closeSync(next.fd)
      if (next.doubt !== undefined) throw new NotTrusted(next.doubt)
      if (++links > MAX_LINKS) throw failure('ELOOP', next.path)
      const target = readlinkSync(`/proc/self/fd/${here.fd}/${name}`)
      if (target.startsWith('/')) restart()
      names.splice(1, 0, ...namesOf(target))
    }
    const { doubt } = above.at(-1) as Step
    if (doubt !== undefined && options.throughDoubt !== true) throw new NotTrusted(doubt)
    return above.pop() as Step
  } catch (error) {
    stopped?.(posix.join(above.at(-1)?.path ?? '/', ...names))
    throw error
  } finally {
    closeAll(above)
  }
}

function closeAll(steps: Step[]): void {
  for (const { fd } of steps.splice(0)) closeSync(fd)
}

function openStep(root: string, name: string, path: string, above: Step | undefined, options: WalkOptions): Step {
  const { guide, before } = options
  before?.(path)
  if (guide?.opens(path) === false) throw failure('ETIMEDOUT', path)
  const crossed = guide === undefined ? above : undefined
  // Only to open it hangs already, where a server is mounted.
  const known = crossed && slowMountOn(mountsOf(root), path)
  let doubt = known && crossed && cross(known, path, crossed, options, name)
  const opened =
    above === undefined
      ? openSync(name, O_PATH | constants.O_DIRECTORY)
      : openSync(`/proc/self/fd/${above.fd}/${name}`, MARK)
  return closingOnError(opened, (fd) => {
    const mount = mountIdIn(kernelText(`/proc/self/fdinfo/${fd}`)) ?? 0
    if (guide?.asks(mount) === false) throw failure('ETIMEDOUT', path)
    if (crossed !== undefined && mount !== crossed.mount && mount !== known?.id) {
      const begin = `${mount} `
      const isIt = (line: string): boolean => line.startsWith(begin)
      const before = mountsOf(root).lines.find((line) => isIt(line) && pointOf(line) === path)
      // It was mounted since the table was read, and has a number that nothing else gets as long as it is open.
      const line = before ?? mountsOf(root, true).lines.find(isIt)
      const shown = line === undefined ? { id: mount, isSlow: true, isUsers: true } : mountOf(line)
      doubt = cross(shown, path, { ...crossed, fd }, options)
    }
    const stats = fstatSync(fd)
    if (guide === undefined) doubt ??= judge(path, stats, above, options)
    return { fd, mount, stats, path, doubt }
  })
}

/**
 * The owner of a directory in /tmp may have mounted a FUSE file system on it, which reports any owner and mode.
 *
 * @param name of what is asked, in the directory; default: the directory itself
 */
function cross(
  { id, isSlow, isUsers }: Mount,
  path: string,
  { stats, fd }: Step,
  { throughDoubt, asks }: WalkOptions,
  name = '',
): string | undefined {
  const doubt = isUsers && isShared(stats) ? `${path} is a FUSE file system of another user` : undefined
  if (doubt !== undefined && throughDoubt !== true) throw new NotTrusted(doubt)
  if (isSlow && asks !== false && !answers(id, fd, name, stat())) throw failure('ETIMEDOUT', path)
  return doubt
}

/** A place that others may write to is in doubt, and so is everything below it. */
function judge(path: string, stats: Stats, above: Step | undefined, { throughDoubt }: WalkOptions): string | undefined {
  const doubt = above?.doubt ?? doubtOf(path, stats, above)
  const isEnd = !stats.isDirectory() && !stats.isSymbolicLink()
  if (doubt !== undefined && !isEnd && throughDoubt !== true) throw new NotTrusted(doubt)
  return doubt
}

function doubtOf(path: string, stats: Stats, above: Step | undefined): string | undefined {
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

/** Of a path's steps, without the empty ones and those that lead nowhere. */
function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** The user chooses type and source. In both the kernel escapes blanks, tabs and newlines, but no other white space. */
const USERS_FUSE = / - fuse[^ ]* .*\buser_id=[1-9]/s

interface Mount {
  readonly id: number
  /** Its file system may hang. */
  readonly isSlow: boolean
  /** It says of itself whatever a user wants. */
  readonly isUsers: boolean
}

/** A table may have a hundred thousand lines, of which few are asked for. */
interface Mounts {
  readonly lines: readonly string[]
  /** Mount points of file systems that may hang. */
  readonly slow: ReadonlySet<string>
}

/** So long a run goes by a mount table that it has read; where a table takes long to read, so many times as long. */
const SAME_MS = 1000
const SAME_READS = 10
const tables = perRun(() => new Map<string, { readonly until: number; readonly mounts: Mounts }>())

function mountOf(line: string): Mount {
  return { id: Number.parseInt(line, 10), isSlow: isSlow(line), isUsers: USERS_FUSE.test(line) }
}

/** An overlay may stand on anything. */
function isSlow(line: string): boolean {
  const begin = line.indexOf(' - ') + 3
  const type = line.slice(begin, line.indexOf(' ', begin))
  return type === 'overlay' || !cannotHang(type)
}

function pointOf(line: string): string {
  return decodeOctal(line.split(' ', 5)[4] ?? '')
}

/** What is mounted on a path last, if anything there may hang. */
function slowMountOn({ lines, slow }: Mounts, path: string): Mount | undefined {
  const line = slow.has(path) ? lines.findLast((each) => pointOf(each) === path) : undefined
  return line === undefined ? undefined : mountOf(line)
}

/** As the process sees them whose root it is. */
function mountsOf(root: string, again = false): Mounts {
  const known = tables().get(root)
  const begun = performance.now()
  if (known !== undefined && begun < known.until && !again) return known.mounts
  const path = root === '' ? '/proc/self/mountinfo' : root.replace(/root$/, 'mountinfo')
  const lines = kernelText(path).split('\n')
  const mounts = { lines, slow: new Set(lines.filter(isSlow).map(pointOf)) }
  const took = performance.now() - begun
  tables().set(root, { until: begun + Math.max(SAME_MS, SAME_READS * took), mounts })
  return mounts
}

/** By which a mount is asked. */
const stat = perRun(() =>
  PROGRAM_DIRECTORIES.map((directory) => `${directory}/stat`).find((path) => {
    try {
      closeSync(walkTo(path, { asks: false }).fd)
      return true
    } catch {
      return false
    }
  }),
)

function failure(code: 'ELOOP' | 'ENOTDIR' | 'ETIMEDOUT', path: string): Error {
  const meaning = { ELOOP: 'too many links', ENOTDIR: 'not a directory', ETIMEDOUT: 'no answer' }[code]
  return Object.assign(new Error(`${code}: ${meaning}, ${path}`), { code, path })
}

// Whose files are trusted: root's, and those of the user who called through sudo (S33).

const OTHERS_WRITE = 0o022
const STICKY = 0o1000

/**
 * Root, the user that this process runs as, and under sudo(8) the user who called. In a user namespace root's files belong to
 * the overflow user, which stands for all users who are not mapped; there nothing can be changed anyway (S7).
 */
const trustedOwners = perRun(
  (): ReadonlySet<number> => new Set([0, process.geteuid?.() ?? 0, ...sudoCaller(), ...overflowUser()]),
)

function sudoCaller(): number[] {
  const { SUDO_UID: uid = '' } = environment()
  return process.geteuid?.() === 0 && /^\d{1,10}$/.test(uid) ? [Number(uid)] : []
}

function overflowUser(): number[] {
  const map = kernelTextIfAny('/proc/self/uid_map') ?? ''
  if (map === '' || isFullRange(map)) return []
  return [Number(kernelTextIfAny('/proc/sys/kernel/overflowuid') ?? 65534)]
}

/** Why somebody else could have written a file with these attributes, for messages; undefined: nobody could. */
export function whoElseWrites(stats: Pick<Stats, 'uid' | 'mode'>, owners = trustedOwners()): string | undefined {
  if (!owners.has(stats.uid)) return `belongs to uid ${stats.uid}`
  return (stats.mode & OTHERS_WRITE) === 0 ? undefined : 'can be written by others'
}

/** Is it a directory like /tmp: anybody may create a name in it, and only the name's owner can remove it. */
function isShared({ mode }: Pick<Stats, 'mode'>): boolean {
  return (mode & STICKY) !== 0 && (mode & OTHERS_WRITE) !== 0
}

/** With its links resolved, if it leads anywhere. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

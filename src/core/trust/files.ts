/**
 * The gate for files that decide what volctl does: which program it runs, which server it trusts, which directory it changes,
 * which safety rule it lifts (S33). These are kubeconfigs and files that they name, the kubelet's configuration, units, plan
 * files, static pod manifests, the journal and the record of lazy unmounts, the lock, programs.
 *
 * Each is opened once, by descriptor, and only if nobody but root (or the user who called through sudo) could have written
 * the file, a directory above it or a link on the way. A FIFO or a device is never opened. Reading is bounded (S34).
 */

import { constants, fchmodSync, fstatSync, lstatSync, mkdirSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { allowing, closing, closingOnError, errnoOf, type Hint, isMissing } from '../messages/findings.ts'
import { openPlain, readToLimit } from './plain-files.ts'
import { perRun } from './run.ts'
import { fromRoot, NotTrusted, type WalkOptions, walkTo, whoElseWrites } from './walk.ts'

export { NotTrusted } from './walk.ts'

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/** Limit for configurations, units and certificates. */
const SMALL_FILE = 4 * 1024 * 1024

/** The hint wherever a file is not trusted. */
export const TRUST_HINT =
  'Check the content; then let only root write: chown root and chmod go-w on the path and every directory above it.'

/** It is not a plain file, or not a directory where one is needed. */
export class NotAFile extends Error {}

/** @param path absolute @throws NotTrusted, NotAFile, TooLarge, or what the file system says */
export function readTrusted(path: string, maxBytes = SMALL_FILE): Buffer {
  const { fd, stats } = walkTo(path)
  const opened = closing(fd, () => {
    if (!stats.isFile()) throw new NotAFile(`${path} is ${kindOf(stats)}`)
    return openSync(`/proc/self/fd/${fd}`, O_RDONLY | O_NONBLOCK)
  })
  return closing(opened, () => readToLimit(opened, maxBytes))
}

/** @throws as readTrusted */
export function readTrustedText(path: string, maxBytes = SMALL_FILE): string {
  return readTrusted(path, maxBytes).toString('utf8')
}

/** For a file that need not exist. @returns its text, or why it is not used: it exists, but is not trusted or not readable */
export function trustedTextIfAny(path: string): { readonly text?: string; readonly unusable?: string } {
  try {
    return { text: readTrustedText(path) }
  } catch (error) {
    return isMissing(error) ? {} : { unusable: whyUnusable(path, error) }
  }
}

/**
 * Checks that standard input may be used. A pipe comes from whoever started volctl. A file must be trusted like any other; if
 * it no longer has a name (a shell's `<<`), only its owner counts.
 *
 * @param pathOf the path, from here, of a file in the place where volctl was started
 * @throws NotTrusted, or what the file system says
 */
export function requireTrustedInput(pathOf: (path: string) => string): void {
  const stats = fstatSync(0)
  if (!stats.isFile()) return
  requireOwn(stats)
  if (stats.nlink === 0) return
  const path = readlinkSync('/proc/self/fd/0')
  const { dev, ino } = checkTrusted(pathOf(path))
  if (dev !== stats.dev || ino !== stats.ino) throw new NotTrusted(`${path} is another file now`)
}

/**
 * Checks that a program, a directory or anything else may be used by its path: nobody else could have put it there.
 *
 * @returns its attributes, a link at the end followed
 * @throws NotTrusted, or what the file system says
 */
export function checkTrusted(path: string): Stats {
  const { fd, stats } = walkTo(path)
  return closing(fd, () => stats)
}

/**
 * Opens a directory that volctl writes to, and relies on later.
 *
 * @returns a descriptor of it, which the caller closes; names in it go through /proc/self/fd/N
 * @throws NotTrusted, NotAFile where it is not a directory, or what the file system says
 */
export function openTrustedDirectory(path: string, options?: WalkOptions): number {
  const { fd, stats } = walkTo(path, options)
  return closingOnError(fd, () => {
    if (!stats.isDirectory()) throw new NotAFile(`${path} is ${kindOf(stats)}, not a directory`)
    return fd
  })
}

/**
 * The same; a missing directory, and its missing parents, are created, but only in a directory that nobody else may write to.
 *
 * @param mode of new directories
 * @throws as openTrustedDirectory
 */
export function makeTrustedDirectory(path: string, mode: number): number {
  const found = allowing(['ENOENT'], undefined, () => openTrustedDirectory(path))
  if (found !== undefined) return found
  // Somebody else may just have created the directory; its owner is checked next.
  allowing(['EEXIST'], undefined, () =>
    closing(makeTrustedDirectory(posix.dirname(path), mode), (above) =>
      mkdirSync(nameIn(above, posix.basename(path)), { mode }),
    ),
  )
  return openTrustedDirectory(path)
}

/** The path of a name in a directory that is held by a descriptor; only for system calls of this process. */
export function nameIn(directory: number, name: string): string {
  return `/proc/self/fd/${directory}/${name}`
}

/**
 * Reads one of volctl's own files, in a directory of openTrustedDirectory.
 *
 * @param isLinked it may have a second name (hard link); with any other file, the user who made the link could read it, or make volctl
 * write to another file
 * @throws NotTrusted or NotAFile, with messages that begin with "it", TooLarge, or what the file system says
 */
export function readKept(directory: number, name: string, maxBytes: number, isLinked = false): string {
  const path = nameIn(directory, name)
  requirePlain(path)
  const { fd, stats } = openPlain(path)
  return closing(fd, () => {
    requireOwn(stats)
    if (!isLinked && stats.nlink !== 1) throw new NotTrusted('it has a second name (hard link)')
    return readToLimit(fd, maxBytes).toString()
  })
}

/**
 * Opens one for appending, and creates it if it is missing. It must be a plain file of this user, with one name, and becomes readable by
 * its owner only. Otherwise somebody else could read it, or make volctl write to another file.
 */
export function appendKept(directory: number, name: string): number {
  const path = nameIn(directory, name)
  requirePlain(path)
  const flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  const opened =
    allowing(['ENOENT'], undefined, () => openSync(path, flags)) ?? openSync(path, flags | O_CREAT | O_EXCL, 0o600)
  return closingOnError(opened, (fd) => {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (stats.uid !== process.geteuid?.()) throw new Error(`it belongs to another user (uid ${stats.uid})`)
    if (stats.nlink !== 1) throw new Error('it has a second name (hard link)')
    if ((stats.mode & 0o077) !== 0) fchmodSync(fd, 0o600)
    return fd
  })
}

/**
 * A plain file, or nothing. The type is checked before opening, since opening a FIFO or a device has effects. Nobody else can swap the
 * file in between.
 *
 * @throws NotAFile, whose message begins with "it"
 */
export function requirePlain(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isFile()) throw new NotAFile(`it is ${kindOf(found)}`)
}

/**
 * Opens the directory in which a file for the user is to be written: any user's directory, but not through a link that
 * somebody else could change.
 *
 * @returns a descriptor, which the caller closes, and the file's name in it
 * @throws NotTrusted for such a link, or what the file system says
 */
export function openDirectoryOf(path: string): { readonly fd: number; readonly name: string } {
  const { root, rest } = fromRoot(path)
  const absolute = `${root}${posix.resolve(rest)}`
  const fd = openTrustedDirectory(posix.dirname(absolute), { throughDoubt: true })
  return { fd, name: posix.basename(absolute) }
}

/** Why a file is not used; the text begins with the path. */
export function whyUnusable(path: string, error: unknown): string {
  if (error instanceof NotTrusted || error instanceof NotAFile) return error.message
  const errno = errnoOf(error)
  return `${path} cannot be read${errno === undefined ? `: ${(error as Error).message}` : ` (${errno})`}`
}

function requireOwn(stats: Stats): void {
  const who = whoElseWrites(stats)
  if (who !== undefined) throw new NotTrusted(`it ${who}`)
}

export function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a FIFO'
  if (stats.isSocket()) return 'a socket'
  if (stats.isSymbolicLink()) return 'a symbolic link'
  if (stats.isBlockDevice() || stats.isCharacterDevice()) return 'a device'
  return 'a file'
}

// Things that were found and are ignored, to be reported once: a process called kubelet that is not root's, a file that
// somebody else could have written. An ignored thing alone proves nothing, changes nothing and refuses nothing (S32,
// S33).

export interface Doubt {
  /** The ignored thing: `process 812 (kubelet)`, `/root/.kube/config`. */
  readonly what: string
  readonly why: string
  /** What to do: usually the flag by which root gives the right value. */
  readonly hint: Hint
  /** The kubelet would use this file, so the kubelet's configuration is unknown, and nothing may be changed (S8, S10). */
  readonly unknown?: true
}

const doubts = perRun(() => new Map<string, Doubt>())

/** The same thing, found again, is one doubt. */
export function addDoubt(doubt: Doubt): void {
  doubts().set(doubt.what, doubt)
}

/** All doubts of this run so far, in order. */
export function allDoubts(): readonly Doubt[] {
  return [...doubts().values()]
}

/**
 * The text of a file with the kubelet's configuration, if it exists. A file that others than root could have written is
 * ignored and reported (S33). The kubelet itself would use it, so apply changes nothing until the file is corrected.
 */
export function obeyedTextIfAny(path: string): string | undefined {
  const { text, unusable } = trustedTextIfAny(path)
  if (unusable !== undefined) addDoubt({ what: path, why: `ignored: ${unusable}`, hint: TRUST_HINT, unknown: true })
  return text
}

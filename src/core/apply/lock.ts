/**
 * The advisory lock that keeps two applies of one root directory from running at once. The lock file names its owner. If
 * that process has ended (or its pid was reused), the lock is taken over.
 */

import { randomUUID } from 'node:crypto'
import { closeSync, linkSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { diskTrouble, troubleText } from '../messages/disk-trouble.ts'
import { allowing, closing, closingOnError, errnoOf, errorMessage, said, VolctlError } from '../messages/findings.ts'
import { makeTrustedDirectory, NotTrusted, nameIn, readKept, TRUST_HINT } from '../trust/files.ts'
import { invoker } from '../trust/invoker.ts'
import { kernelText, kernelTextIfAny, statFields } from '../trust/kernel.ts'
import { createNew, writeAll } from '../trust/plain-files.ts'
import { sha256Hex } from '../volumes/volume-names.ts'

/** Limit of a lock file's size; a real one has about a hundred bytes. */
const MAX_BYTES = 64 * 1024

export interface LockOwner {
  readonly pid: number
  /** Ticks since boot: a pid may be reused, but not pid and start time together. */
  readonly startTime: string
  readonly bootID: string
  readonly user: string
  /** RFC 3339. */
  readonly since: string
}

interface Lock extends Disposable {
  /** The dead owner whose lock was taken over. */
  readonly takenOverFrom: LockOwner | undefined
}

/**
 * One lock file for each root directory, by any path to it. The file is in PID 1's /run, whatever mount namespace volctl is
 * in: a kubelet's /run may be another one, and an earlier apply may have run in either (S6). It was checked before that PID 1
 * is the host's (S7).
 *
 * @throws VolctlError Locked
 */
export function defaultLockFile(rootDir: string): string {
  try {
    const { dev, ino } = statSync(rootDir)
    return `/proc/1/root/run/volctl/${sha256Hex(`${dev}:${ino}`).slice(0, 16)}.lock`
  } catch (cause) {
    throw new VolctlError(said('Locked.notLocked', { rootDir, error: errorMessage(cause) }), { cause })
  }
}

/**
 * Only root may write to the lock's directory, which is held by its descriptor: anything with the lock's name was put there
 * by root. A FIFO, a link or a device in its place is not opened (S33).
 *
 * @throws VolctlError Locked, naming the holder; Locked if no lock file can be made
 */
export function takeLock(path: string): Lock {
  try {
    return closingOnError(makeTrustedDirectory(posix.dirname(path), 0o755), (directory) => {
      const lock = acquire({ directory, path }, posix.basename(path), ownerOfThisProcess())
      const release = (): void => closing(directory, () => lock[Symbol.dispose]())
      return { takenOverFrom: lock.takenOverFrom, [Symbol.dispose]: release }
    })
  } catch (error) {
    if (error instanceof VolctlError) throw error
    const hint = error instanceof NotTrusted ? TRUST_HINT : (diskTrouble(error)?.hint ?? MAY_CREATE)
    throw new VolctlError(said('Locked.notCreated', { path, trouble: troubleText(error) }), { cause: error, hint })
  }
}

interface Place {
  /** A descriptor. */
  readonly directory: number
  /** For messages. */
  readonly path: string
}

const MAY_CREATE = 'The lock keeps two applies from running at once: make sure that root can create this file.'

/**
 * Before a process replaces a dead owner's file, it takes a second lock, named after that owner, and reads the file again: if
 * two processes saw the same dead owner, only one takes over. The file is there all the time: nobody comes between.
 */
function acquire(place: Place, name: string, me: LockOwner, depth = 0): Lock {
  const file = nameIn(place.directory, name)
  const mine = `${JSON.stringify(me)}\n`
  const held = (takenOverFrom?: LockOwner): Lock => ({
    takenOverFrom,
    [Symbol.dispose]() {
      if (read(place, name) === mine) unlinkSync(file)
    },
  })
  for (let attempt = 0; attempt < 20 && depth < 5; attempt++) {
    if (write(file, mine, linkSync)) return held()
    const there = read(place, name)
    if (there === undefined) continue
    const owner = ownerIn(there)
    if (owner !== undefined && isAlive(owner))
      throw new VolctlError(said('Locked.node', owner), { hint: `Wait for it to end. Its lock file is ${place.path}.` })
    const claimed = owner === undefined ? 'unreadable' : `${owner.pid}-${owner.startTime}`
    using _claim = acquire(place, `${name}.${claimed}`, me, depth + 1)
    if (read(place, name) !== there) continue
    write(file, mine, renameSync)
    return held(owner)
  }
  throw new VolctlError(said('Locked.changing', { path: place.path }), { hint: 'Try again.' })
}

/** The file appears whole or not at all: it is written under another name. @param put a link does not replace a file */
function write(file: string, text: string, put: typeof linkSync | typeof renameSync): boolean {
  const draft = `${file}.${randomUUID()}`
  const fd = createNew(draft, 0o600)
  let isLeft = true
  try {
    writeAll(fd, text)
    put(draft, file)
    isLeft = put === linkSync
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  } finally {
    closeSync(fd)
    if (isLeft) unlinkSync(draft)
  }
}

/** @returns undefined: there is none @throws if the lock is not a plain file, or belongs to another user */
function read({ directory }: Place, name: string): string | undefined {
  return allowing(['ENOENT'], undefined, () => readKept(directory, name, MAX_BYTES, true))
}

/** Undefined: it does not say. The start time becomes part of a file name, so it must be digits alone. */
function ownerIn(text: string): LockOwner | undefined {
  try {
    const owner = (JSON.parse(text) ?? {}) as LockOwner
    const isWhole = Number.isSafeInteger(owner.pid) && /^\d*$/.test(owner.startTime)
    return isWhole && typeof owner.startTime === 'string' ? owner : undefined
  } catch {
    return undefined
  }
}

function isAlive(owner: LockOwner): boolean {
  return owner.bootID === bootID() && startTimeOf(owner.pid) === owner.startTime
}

function ownerOfThisProcess(): LockOwner {
  const { pid, user, sudoUser } = invoker()
  return {
    pid,
    startTime: startTimeOf(pid) ?? '',
    bootID: bootID(),
    user: sudoUser ?? user,
    since: new Date().toISOString(),
  }
}

function bootID(): string {
  return kernelText('/proc/sys/kernel/random/boot_id').trim()
}

/** Field 22 of /proc/PID/stat. A zombie holds nothing. */
function startTimeOf(pid: number): string | undefined {
  const fields = statFields(kernelTextIfAny(`/proc/${pid}/stat`) ?? '')
  return fields[0] === 'Z' ? undefined : fields[19]
}

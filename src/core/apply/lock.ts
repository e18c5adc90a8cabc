/**
 * The advisory lock that keeps two applies on one root directory apart. It is a file that says who holds it; the file
 * of a process that is gone (or whose pid is another process's now) is taken over.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, linkSync, openSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { posix } from 'node:path'
import { diskTrouble, troubleText } from '../disk-trouble.ts'
import { errnoOf, errorMessage, VolctlError } from '../errors.ts'
import { sha256Hex } from '../names.ts'
import { ensureDirectory } from './ensure-directory.ts'
import { invoker } from './invoker.ts'

export interface LockOwner {
  readonly pid: number
  /** Ticks since boot: a pid may be given again, the pair may not. */
  readonly startTime: string
  readonly bootID: string
  readonly user: string
  /** RFC 3339. */
  readonly since: string
}

export interface Lock extends Disposable {
  /** The dead owner whose lock was taken over. */
  readonly takenOverFrom: LockOwner | undefined
}

/**
 * One file for a root directory, by whatever path it is reached, and one for every mount namespace: a kubelet's /run
 * need not be PID 1's, and the apply before may have stood in the other (S6). That PID 1 is the host's is seen to
 * before (S7).
 *
 * @throws VolctlError LockFailed
 */
export function defaultLockFile(rootDir: string): string {
  try {
    const { dev, ino } = statSync(rootDir)
    return `/proc/1/root/run/volctl/${sha256Hex(`${dev}:${ino}`).slice(0, 16)}.lock`
  } catch (cause) {
    throw new VolctlError('LockFailed', `${rootDir} cannot be locked: ${errorMessage(cause)}`, { cause })
  }
}

/** @throws VolctlError Locked, naming the holder; LockFailed where no lock file can be made */
export function takeLock(path: string): Lock {
  try {
    ensureDirectory(posix.dirname(path), 0o755)
    return acquire(path, ownerOfThisProcess())
  } catch (error) {
    if (error instanceof VolctlError) throw error
    throw new VolctlError('LockFailed', `the lock file ${path} could not be made: ${troubleText(error)}`, {
      cause: error,
      hint: diskTrouble(error)?.hint ?? 'Without a lock two applies could meet: see to it that it can be made.',
    })
  }
}

/**
 * The right to remove one dead owner's file is itself a lock, named after that owner: under it the file is read
 * again, so that of two that saw the same dead owner only one takes over.
 */
function acquire(path: string, me: LockOwner, depth = 0): Lock {
  let takenOverFrom: LockOwner | undefined
  for (let attempt = 0; attempt < 20 && depth < 5; attempt++) {
    if (create(path, me)) return held(path, me, takenOverFrom)
    const owner = readOwner(path)
    if (owner === undefined) continue
    if (owner !== 'unreadable' && isAlive(owner)) throw lockedBy(path, owner)
    const name = owner === 'unreadable' ? 'unreadable' : `${owner.pid}-${owner.startTime}`
    using _claim = acquire(`${path}.${name}`, me, depth + 1)
    if (JSON.stringify(readOwner(path)) === JSON.stringify(owner)) {
      unlinkSync(path)
      if (owner !== 'unreadable') takenOverFrom = owner
    }
  }
  throw new VolctlError('LockFailed', `the lock file ${path} keeps changing`, { hint: 'Try again.' })
}

/** The file appears whole or not at all: it is written under another name and linked. */
function create(path: string, me: LockOwner): boolean {
  const draft = `${path}.${randomUUID()}`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const fd = openSync(draft, flags, 0o600)
  try {
    writeFileSync(fd, `${JSON.stringify(me)}\n`)
    linkSync(draft, path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  } finally {
    closeSync(fd)
    unlinkSync(draft)
  }
}

function held(path: string, me: LockOwner, takenOverFrom: LockOwner | undefined): Lock {
  return {
    takenOverFrom,
    [Symbol.dispose]() {
      if (JSON.stringify(readOwner(path)) === JSON.stringify(me)) unlinkSync(path)
    },
  }
}

function readOwner(path: string): LockOwner | 'unreadable' | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
    try {
      const owner: unknown = JSON.parse(readFileSync(fd, 'utf8'))
      return isOwner(owner) ? owner : 'unreadable'
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    if (error instanceof SyntaxError) return 'unreadable'
    throw error
  }
}

function isOwner(value: unknown): value is LockOwner {
  const { pid, startTime } = (value ?? {}) as Partial<LockOwner>
  return typeof pid === 'number' && typeof startTime === 'string'
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
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and parentheses. A zombie holds nothing. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

function lockedBy(path: string, { pid, user, since }: LockOwner): VolctlError {
  return new VolctlError('Locked', `another apply is at work: pid ${pid} of ${user}, since ${since}`, {
    hint: `Wait for it to end. Its lock is ${path}.`,
  })
}

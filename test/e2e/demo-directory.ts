/** The demo's directory: locked as long as a process of the demo lives, so that a later demo can see what a killed one left. */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, existsSync, fstatSync, mkdtempSync, openSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sweep } from '../helpers/left-behind.ts'

interface LockedDirectory {
  readonly path: string
  /** The descriptor that holds the lock; whoever inherits it holds it too. */
  readonly lock: number
}

/** Makes a directory below the temporary one, and locks it. */
export function lockedDirectory(prefix: string): LockedDirectory {
  for (;;) {
    const path = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
    const lock = openDirectory(path)
    // Another demo that begins takes one that is not locked yet for left behind.
    if (lock !== undefined && lockIt(lock) && existsSync(path)) return { path, lock }
    if (lock !== undefined) closeSync(lock)
  }
}

/** Sweeps this user's directories of that name that no process has locked; returns their paths. */
export function sweepUnlocked(prefix: string): string[] {
  const found = readdirSync(tmpdir()).filter((name) => name.startsWith(prefix))
  return found.map((name) => join(realpathSync(tmpdir()), name)).filter(sweepIfUnlocked)
}

function sweepIfUnlocked(path: string): boolean {
  const lock = openDirectory(path)
  if (lock === undefined) return false
  try {
    if (fstatSync(lock).uid !== process.geteuid?.() || !lockIt(lock)) return false
    sweep(path)
    return !existsSync(path)
  } finally {
    closeSync(lock)
  }
}

/** undefined: it is gone, or no directory of this user's. */
function openDirectory(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch {
    return undefined
  }
}

/** A lock belongs to the open file, which flock(1) shares with this process. */
function lockIt(descriptor: number): boolean {
  return spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] }).status === 0
}

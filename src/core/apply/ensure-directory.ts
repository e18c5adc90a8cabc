import { mkdirSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../errors.ts'

/**
 * Makes a directory and what is missing above it. Node's own `recursive` never returns where the kernel answers ENOENT
 * for a directory whose parent is there, as /proc does.
 */
export function ensureDirectory(path: string, mode: number): void {
  if (make(path, mode)) return
  if (path !== '/') ensureDirectory(posix.dirname(path), mode)
  mkdirSync(path, { mode })
}

/** @returns false where the parent is missing */
function make(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    const code = errnoOf(error)
    if (code === 'EEXIST') return true
    if (code === 'ENOENT') return false
    throw error
  }
}

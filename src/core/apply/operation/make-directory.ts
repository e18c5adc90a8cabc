/** Directories that the kubelet would make (P37, P62). */

import { posix } from 'node:path'
import { diskFailure } from '../../messages/disk-trouble.ts'
import { errnoOf } from '../../messages/findings.ts'
import type { Step } from '../../volumes/steps.ts'
import type { StepContext } from './step.ts'

/** Mode of parent directories that are missing. */
const PARENT_MODE = 0o750

/**
 * Makes `target` and its missing parents. A directory that exists keeps its mode, unless the step says `exact` (P37).
 * A link or a file in its place is never followed or replaced.
 */
export function makeDirectory({ target, mode = '0750', detail }: Step, run: StepContext): void {
  for (const path of [...missingAbove(target, run), target]) {
    const bits = path === target ? Number.parseInt(mode, 8) : PARENT_MODE
    const isNew = make(path, bits, run)
    // If somebody else has put a file into the directory meanwhile, the directory is kept, and the failure names it.
    if (isNew) run.made.push({ what: `directory ${path}`, back: () => run.host.rmdir(path) })
    if (isNew || (path === target && detail === 'exact'))
      orWriteFailed(`directory ${path}`, `given mode ${bits.toString(8)}`, () => run.host.chmod(path, bits))
  }
}

/** Nearest to the root first. */
function missingAbove(path: string, run: StepContext): string[] {
  const parent = posix.dirname(path)
  return parent === path || run.host.lstat(parent) !== undefined ? [] : [...missingAbove(parent, run), parent]
}

function make(path: string, mode: number, run: StepContext): boolean {
  try {
    run.host.mkdir(path, mode)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST' && run.host.lstat(path)?.type === 'dir') return false
    throw diskFailure(`directory ${path}`, 'created', error)
  }
}

/** An empty file. */
export function createFile(path: string, mode: number, { host, made }: StepContext): void {
  orWriteFailed(path, 'created', () => host.createFile(path, mode))
  made.push({ what: path, back: () => host.unlink(path) })
}

/** @throws StepFailed WriteFailed, with what to do about the disk */
export function orWriteFailed<T>(what: string, done: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw diskFailure(what, done, error)
  }
}

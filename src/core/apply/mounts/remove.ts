/** rmdir and unlink of single names: idempotent, never through a mount, never of data (S12, S14, R036, R837). */

import { posix } from 'node:path'
import { errnoOf } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import { diskFailure } from '../../linux/disk-trouble.ts'
import { placeOf } from '../../linux/mount-table.ts'
import type { Step } from '../../plan/plan.ts'
import { describeMount } from '../../rules/expected-mounts.ts'
import { mountedElsewhere } from '../../rules/readers.ts'
import { STATE_FILES } from '../../volumes/registry.ts'
import { orWriteFailed } from '../operation/make-directory.ts'
import type { StepContext } from '../operation/ports.ts'
import { requireNone } from '../operation/step-command.ts'

export function removeStep(step: Step, run: StepContext): void {
  if (step.op === 'rmdir') removeDirectory(step.target, run)
  else removeFile(step.target, run)
}

export function removeDirectory(path: string, run: StepContext): void {
  requireNoMountPoint(path, run)
  try {
    run.host.rmdir(path, parentOf(path, run))
  } catch (error) {
    const code = errnoOf(error)
    // The target of a bind-mounted file or device is an empty file, not a directory.
    if (code === 'ENOTDIR' && isEmptyFile(path, run)) removeFile(path, run)
    else if (code === 'ENOTEMPTY' || code === 'EEXIST')
      throw new StepFailed('UnexpectedFile', `${path} is not empty and is kept`, { cause: error })
    else throw diskFailure('WriteFailed', notRemoved(path), error)
  }
}

function removeFile(path: string, run: StepContext): void {
  requireNoMountPoint(path, run)
  const found = orKept(path, () => run.host.lstat(path))
  if (found === undefined) return
  const name = posix.basename(path)
  if (STATE_FILES.has(name)) rememberStateFile(path, run)
  else if (found.type === 'file' && found.size > 0 && isPlaceholder(path)) {
    throw new StepFailed('UnexpectedFile', `${path} holds ${found.size} bytes and is kept`)
  }
  orKept(path, () => run.host.unlink(path, parentOf(path, run)))
}

/** Where its parent was when the mount table was read: a link of the kubelet's directories is followed once, and no other (S8). */
function parentOf(path: string, { around }: StepContext): string {
  return placeOf(around.table, posix.dirname(path))
}

function isEmptyFile(path: string, { host }: StepContext): boolean {
  const found = host.lstat(path)
  return found?.type === 'file' && found.size === 0
}

/** True if the file was only made as a mount target: then it is empty; a file with content is somebody's data. */
function isPlaceholder(path: string): boolean {
  return path.includes('/volume-subpaths/') || path.includes('/volumeDevices/') || path.endsWith('/mount')
}

/** S14: a state file, without which the driver could not be called again, is written to the journal first. */
function rememberStateFile(path: string, { host, journal, operation }: StepContext): void {
  const content = orKept(path, () => host.readSmallFile(path))
  if (content !== undefined) journal.write({ type: 'stateFile', operation: operation.id, path, content })
}

/** Removing the mount point of another namespace would silently detach the mount there (R036). */
function requireNoMountPoint(path: string, { around, context }: StepContext): void {
  const mount = around.table.at(path).at(-1)
  if (mount !== undefined) {
    throw new StepFailed('HeldBy', `${describeMount(mount)} is still there; nothing was removed`)
  }
  requireNone(mountedElsewhere(path, { around, context }))
}

/** A path that cannot be examined is not removed. */
function orKept<T>(path: string, work: () => T): T {
  return orWriteFailed(notRemoved(path), work)
}

const notRemoved = (path: string): string => `${path} could not be removed`

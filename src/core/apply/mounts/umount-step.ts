/**
 * One umount of one path, and the check that the mount is gone (S18, S19, S20, R832); and the removal of single names (S12, S14, R036,
 * R837).
 */

import { posix } from 'node:path'
import { present } from '../../base/text.ts'
import { pause } from '../../linux/deadline.ts'
import { cannotHang } from '../../linux/location.ts'
import { bringBack, isOnDisk, type MountInfo, placeOf, whoMounted } from '../../linux/mount-table.ts'
import { copiesOf } from '../../linux/propagation.ts'
import { diskFailure } from '../../messages/disk-trouble.ts'
import { errnoOf, type Hint, marked, StepDetached, StepFailed, StepTimedOut, said } from '../../messages/findings.ts'
import { describeMount, isExpected } from '../../rules/expected-mounts.ts'
import type { UmountHow } from '../../rules/host.ts'
import { isBusy, mountedElsewhere } from '../../rules/readers.ts'
import { type CommandResult, leftText } from '../../trust/programs.ts'
import { describeHolders } from '../../users/find-holders.ts'
import { STATE_FILES } from '../../volumes/registry.ts'
import type { Step } from '../../volumes/steps.ts'
import { orWriteFailed } from '../operation/make-directory.ts'
import { requireNone, requireRulesOf, type StepContext } from '../operation/step.ts'

const AFTER_FORCE_MS = 500

/**
 * Unmounts the newest mount on a path, together with its copies below a shared directory that is bind-mounted on itself
 * (O35). If nothing is mounted there, the step succeeds.
 */
export async function umountLayer(step: Step, run: StepContext): Promise<void> {
  const layer = run.around.table.top(step.target)
  if (layer === undefined) return requireNoHiddenMount(step.target, run)
  if (!isExpected(layer, run.operation)) {
    throw new StepFailed(said('ForeignMount.unplanned', { mount: describeMount(layer) }))
  }
  const copies = copiesOf(run.around.table, layer)
  const how = howToUmount(step, layer)
  // Earlier steps may have taken minutes.
  if (how === 'force' || how === 'lazy')
    await requireRulesOf('force', { operation: { ...run.operation, steps: [step] } }, run)
  if (how === 'lazy') rememberLazy(layer, run)
  let result = await run.waiting.spend((ms) => run.host.umount([step.target], how, ms))
  run.around.changed()
  if (how === 'force' && isStill(layer, run)) result = await umountAfterForce(layer, run)
  await requireGone(layer, result, run)
  requireCopiesGone(copies, run)
  if (how === 'lazy' && !run.host.superblockGone(layer.dev, layer.fsType)) {
    throw new StepDetached(said('DetachedLazily.now', { target: step.target }), { stuck: true })
  }
}

/**
 * The kernel keeps a copy on which something else is mounted (O35).
 *
 * @param copies as they were before the umount
 * @throws StepFailed HeldBy
 */
export function requireCopiesGone(copies: readonly MountInfo[], run: StepContext): void {
  const stays = copies.find((copy) => isStill(copy, run))
  if (stays === undefined) return
  const upper = run.around.table.under(stays.mountPoint).find(({ parentId }) => parentId === stays.id)
  const why = upper === undefined ? '' : `: ${describeMount(upper)} is mounted on it`
  throw new StepFailed(said('HeldBy.copy', { mount: describeMount(stays), why }), {
    hint: whoMounted(stays.mountPoint),
  })
}

/** A hidden mount cannot be unmounted by its path. @throws StepFailed HeldBy */
function requireNoHiddenMount(path: string, { around, operation }: StepContext): void {
  const hidden = around.table.at(path).find((layer) => isExpected(layer, operation))
  if (hidden === undefined) return
  throw new StepFailed(said('HeldBy.hidden', { mount: describeMount(hidden) }), {
    hint: whoMounted(path),
  })
}

/**
 * Calls that wait for the server keep the mount busy during a forced unmount, and fail soon after it, so the umount is
 * repeated.
 */
async function umountAfterForce(
  { mountPoint }: MountInfo,
  { host, around, waiting, signal }: StepContext,
): Promise<CommandResult> {
  await waiting.spend((ms) => pause(Math.min(AFTER_FORCE_MS, ms), signal))
  const result = await waiting.spend((ms) => host.umount([mountPoint], 'careful', ms))
  around.changed()
  return result
}

/** A mount id may be reused after an unmount, so place and device are compared as well (S27). */
export function isStill({ id, mountPoint, dev }: MountInfo, { around }: StepContext): boolean {
  const now = around.table.byId(id)
  return now?.mountPoint === mountPoint && now.dev === dev
}

function howToUmount(step: Step, layer: MountInfo): UmountHow {
  if (step.detail === 'force' || step.detail === 'lazy') return step.detail
  return step.detail === undefined && cannotHang(layer.fsType) ? 'plain' : 'careful'
}

/** The mount table decides, not what umount(8) says. @throws StepFailed with a clear reason */
export async function requireGone(layer: MountInfo, result: CommandResult, run: StepContext): Promise<void> {
  if (!isStill(layer, run)) return
  if (result.timedOut) {
    const about = { path: layer.mountPoint, seconds: run.waiting.limitMs / 1000, left: leftText(result) }
    throw new StepTimedOut(said('TimedOut.umount', about), { hint: hintOfDead(layer), stuck: true })
  }
  const [output = ''] = result.stderr
    .trim()
    .replaceAll(/^umount: /gm, '')
    .split('\n')
  if (!/busy/.test(output)) throw new StepFailed(said('UnmountFailed', { output: output || layer.mountPoint }))
  const who = await holdersOfMounts(layer.mountPoint, run)
  requireNone(isBusy(run.operation, { who, hint: who === '' ? hintOfNobody(layer, run) : undefined }))
}

/** The hint if no holder was found: a call that waits for a dead server keeps the mount busy, though no process shows it. */
function hintOfNobody(layer: MountInfo, { operation }: StepContext): Hint {
  const { mountPoint } = layer
  const isDead = operation.steps.some(
    ({ op, target, detail }) => op === 'umount' && target === mountPoint && detail === 'dead',
  )
  return isDead
    ? hintOfDead(layer)
    : marked(
        'The kernel itself uses it: look for a loop device, an NFS export, an overlay or a bound socket (losetup, exportfs, `findmnt -t overlay`, ss -xlp).',
      )
}

/** Only a connection to a server can be broken by force. */
function hintOfDead(layer: MountInfo): string {
  return `${bringBack(layer)}, or see ${isOnDisk(layer) ? '' : '--force-unmount and '}--lazy.`
}

function rememberLazy({ mountPoint: path, dev, fsType }: MountInfo, { journal, operation, plan }: StepContext): void {
  const { id, volume: { uniqueName, name } = {} } = operation
  const { bootID } = plan
  journal.write({ type: 'lazy', operation: id, path, dev, fsType, bootID, volume: uniqueName ?? name })
}

// Finds who keeps a mount busy, for the message of an operation that fails on it.

/** Mounts below the path that are named; no more, to keep the message short. */
const MOST_MOUNTS = 4

/** What keeps a mount point busy, as text: mounts below it, and holders by the shared look, since thousands may be busy. Empty: nothing was found. */
export async function holdersOfMounts(path: string, { around, host, context, users }: StepContext): Promise<string> {
  const { table, others, kernelFiles: files } = around
  const mounts = around.below(path).map(describeMount)
  const { processes: uses } = await users()
  const holders = describeHolders(host.findHolders({ table, paths: [path], others, files, uses }), context.nameOf)
  return present(...mounts.slice(0, MOST_MOUNTS), holders).join(', ')
}

// rmdir and unlink of single names: idempotent, never through a mount, never of data (S12, S14, R036, R837).

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
    const found = code === 'ENOTDIR' ? run.host.lstat(path) : undefined
    // The target of a bind-mounted file or device is an empty file, not a directory.
    if (found?.type === 'file' && found.size === 0) removeFile(path, run)
    else if (code === 'ENOTEMPTY' || code === 'EEXIST')
      throw new StepFailed(said('UnexpectedFile.notEmpty', { path }), { cause: error })
    else throw diskFailure(path, 'removed', error)
  }
}

function removeFile(path: string, run: StepContext): void {
  requireNoMountPoint(path, run)
  // A path that cannot be examined is not removed.
  const found = orWriteFailed(path, 'removed', () => run.host.lstat(path))
  if (found === undefined) return
  const name = posix.basename(path)
  if (STATE_FILES.has(name)) rememberStateFile(path, run)
  else if (found.type === 'file' && found.size > 0 && isPlaceholder(path)) {
    throw new StepFailed(said('UnexpectedFile.bytes', { path, size: found.size }))
  }
  orWriteFailed(path, 'removed', () => run.host.unlink(path, parentOf(path, run)))
}

/** Where its parent was when the mount table was read: a link of the kubelet's directories is followed once, and no other (S8). */
function parentOf(path: string, { around }: StepContext): string {
  return placeOf(around.table, posix.dirname(path))
}

/** True if the file was only made as a mount target: then it is empty; a file with content is somebody's data. */
function isPlaceholder(path: string): boolean {
  return path.includes('/volume-subpaths/') || path.includes('/volumeDevices/') || path.endsWith('/mount')
}

/** S14: a state file, without which the driver could not be called again, is written to the journal first. */
function rememberStateFile(path: string, { host, journal, operation }: StepContext): void {
  const content = orWriteFailed(path, 'removed', () => host.readSmallFile(path))
  if (content !== undefined) journal.write({ type: 'stateFile', operation: operation.id, path, content })
}

/** Removing the mount point of another namespace would silently detach the mount there (R036). */
function requireNoMountPoint(path: string, run: StepContext): void {
  const mount = run.around.table.at(path).at(-1)
  if (mount !== undefined) {
    throw new StepFailed(said('HeldBy.nothingRemoved', { mount: describeMount(mount) }))
  }
  requireNone(mountedElsewhere(path, run))
}

/** One umount of one path, and the proof that a layer is gone (S18, S19, S20, R832). */

import { StepFailed } from '../../errors/operation-error.ts'
import { describeProcess } from '../../holders/describe-holders.ts'
import type { UmountHow } from '../../host/host.ts'
import { copiesOf } from '../../mountinfo/copies.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import type { MountInfo } from '../../mountinfo/mount-table.ts'
import { goesWith } from '../../mountinfo/propagation.ts'
import type { Step } from '../../plan/plan.ts'
import { pause } from '../../processes/deadline.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { describeMount, expectedIds, isExpected } from '../operation/expected-mounts.ts'
import type { StepContext } from '../operation/step-context.ts'
import { heldBy, holdersOfMounts, holdersOn } from './holders-on.ts'
import { requireCopiesGone } from './umounted-copies.ts'

const AFTER_FORCE_MS = 500

/**
 * Takes the newest layer off a path, and with it its copies below a shared directory that is bound over itself (O35);
 * nothing mounted there is fine.
 */
export async function umountLayer(step: Step, run: StepContext): Promise<void> {
  const layer = run.around.table.top(step.target)
  if (layer === undefined) return requireNothingHidden(step.target, run)
  if (!isExpected(layer, expectedIds(run.operation))) {
    throw new StepFailed('ForeignMount', `${describeMount(layer)} is not what the plan was made on`, {
      hint: 'Plan again, and look at what has changed.',
    })
  }
  const copies = copiesOf(run.around.table, layer)
  const how = howToUmount(step, layer)
  await requireForceAllowed(how, layer, run)
  if (how === 'lazy') rememberLazy(layer, run)
  let result = await run.waiting.spend((ms) => run.host.umount([step.target], how, ms))
  run.around.changed()
  if (how === 'force' && isStill(layer, run)) result = await umountAfterForce(layer, run)
  await requireGone(layer, result, run)
  requireCopiesGone(copies, run)
  if (how === 'lazy' && !run.host.superblockGone(layer.dev, layer.fsType)) {
    throw new StepFailed('DetachedLazily', `${step.target} was detached lazily; its file system may still be in use`, {
      hint: 'Nothing more is done to this volume until its superblock is gone: end what still uses it, or reboot.',
      stuck: true,
    })
  }
}

/** What no path leads to any umount of the path leaves there. @throws StepFailed StillMounted */
function requireNothingHidden(path: string, { around, operation }: StepContext): void {
  const expected = expectedIds(operation)
  const hidden = around.table.at(path).find((layer) => isExpected(layer, expected))
  if (hidden === undefined) return
  throw new StepFailed('StillMounted', `no path leads to the ${describeMount(hidden)}: it stays`, {
    hint: `Unmount what lies over it (findmnt ${path} and the directories above it), then plan again.`,
  })
}

/** Calls that waited for the server hold the mount while the force is applied, and end with the connection. */
async function umountAfterForce(
  { mountPoint }: MountInfo,
  { host, around, waiting, signal }: StepContext,
): Promise<CommandResult> {
  await waiting.spend((ms) => pause(Math.min(AFTER_FORCE_MS, ms), signal))
  const result = await waiting.spend((ms) => host.umount([mountPoint], 'careful', ms))
  around.changed()
  return result
}

function isStill(layer: MountInfo, { around }: StepContext): boolean {
  return around.table.byId(layer.id)?.mountPoint === layer.mountPoint
}

function howToUmount(step: Step, layer: MountInfo): UmountHow {
  if (step.detail === 'force' || step.detail === 'lazy') return step.detail
  return step.detail === undefined && cannotHang(layer.fsType) ? 'plain' : 'careful'
}

/** Truth is the mount table, not what umount says. @throws StepFailed with a clean reason */
export async function requireGone(layer: MountInfo, result: CommandResult, run: StepContext): Promise<void> {
  if (!isStill(layer, run)) return
  if (result.timedOut) {
    const left =
      result.abandonedPid === undefined
        ? ''
        : `; umount (pid ${result.abandonedPid}) cannot be killed and was left behind`
    throw new StepFailed(
      'TimedOut',
      `umount ${layer.mountPoint} did not end within ${run.waiting.limitMs / 1000} s${left}`,
      {
        hint: 'Its server may be away: bring it back, or see --force-unmount and --lazy.',
        stuck: true,
      },
    )
  }
  const words =
    result.stderr
      .trim()
      .replaceAll(/^umount: /gm, '')
      .split('\n')[0] ?? ''
  if (!/busy/.test(words)) throw new StepFailed('UnmountFailed', `umount failed: ${words || layer.mountPoint}`)
  const who = await holdersOfMounts(layer.mountPoint, run)
  throw new StepFailed('HeldBy', `${layer.mountPoint} is busy${who === '' ? '' : `: held by ${who}`}`, {
    hint: who === '' ? hintOfNobody(layer, run) : 'End that first; then plan again.',
  })
}

/** A call that waits for a dead server holds its mount, and no file of any process shows it. */
function hintOfNobody({ mountPoint }: MountInfo, { operation }: StepContext): string {
  const isDead = operation.steps.some(
    ({ op, target, detail }) => op === 'umount' && target === mountPoint && detail === 'dead',
  )
  return isDead
    ? 'Calls on it wait for its server: bring that back, or see --force-unmount and --lazy.'
    : 'Something in the kernel uses it (loop, nfsd, an overlay).'
}

async function requireForceAllowed(how: UmountHow, layer: MountInfo, run: StepContext): Promise<void> {
  if (how === 'force') return requireSoleConnection(layer, run)
  if (how === 'lazy') return requireDeadAndUnheld(layer, run)
}

/** S19: a forced umount kills the connection behind every mount of it, in every namespace. */
function requireSoleConnection(layer: MountInfo, { around, operation, context }: StepContext): void {
  const own = expectedIds(operation)
  const here = around.table
    .ofDevice(layer.dev)
    .find((mount) => !own.has(mount.id) && !goesWith(around.table, layer, mount))
  const elsewhere = around.others.find(({ table }) => table.ofDevice(layer.dev).length > 0)
  const who =
    (here && describeMount(here)) ??
    (elsewhere && `the mount namespace of ${describeProcess(elsewhere, context.nameOf)}`)
  if (who === undefined) return
  throw new StepFailed('SharedConnection', `forcing ${layer.mountPoint} would also cut off ${who}`, {
    hint: 'Force it only when nothing else uses the same connection.',
  })
}

/** S20: only what is shown to be dead, and held by nobody. */
async function requireDeadAndUnheld(layer: MountInfo, run: StepContext): Promise<void> {
  const { host, waiting } = run
  // Of a mount that is dead as it should be, this look takes all of its time: it is none of the umount's.
  if (!(await host.isDead(layer.mountPoint, Math.min(waiting.limitMs, 5000)))) {
    throw new StepFailed('NotDead', `${layer.mountPoint} answers: it is not dead`, {
      hint: 'Unmount it plainly, without --lazy.',
    })
  }
  const holders = await holdersOn(layer.mountPoint, run)
  const [unknown] = holders.unseen
  if (unknown !== undefined) {
    throw new StepFailed('UsersUnknown', `who holds ${layer.mountPoint} could not be found out: ${unknown}`, {
      hint: 'Nothing is detached lazily that may be held: end what hangs, or reboot.',
    })
  }
  // A copy in another namespace is a mount of its own, and stays as it is.
  const [who] = heldBy({ ...holders, namespaces: [] }, run)
  if (who !== undefined) {
    throw new StepFailed('HeldBy', `${layer.mountPoint} is held by ${who}`, { hint: 'End that first.' })
  }
}

function rememberLazy(layer: MountInfo, { journal, operation, plan }: StepContext): void {
  const volume = operation.volume?.uniqueName ?? operation.volume?.name
  journal.write({
    type: 'lazy',
    operation: operation.id,
    path: layer.mountPoint,
    dev: layer.dev,
    fsType: layer.fsType,
    bootID: plan.bootID,
    ...(volume === undefined ? {} : { volume }),
  })
}

/**
 * A raw block volume of a pod: its device is bind-mounted on the pod's file in the volume's global map directory, a loop device on that
 * file keeps it open, so that its number is not reused, and a link leads to it (P98-P100, P106).
 */

import { posix } from 'node:path'
import { pause } from '../../linux/deadline.ts'
import { cannotHang } from '../../linux/location.ts'
import { ownPathOf, placeOf } from '../../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../../linux/paths.ts'
import { marked, StepFailed, said } from '../../messages/findings.ts'
import type { FoundDevice } from '../../rules/machine-facts.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { Step, StepOf } from '../../volumes/steps.ts'
import { mountAlone } from '../mounts/mount-step.ts'
import { createFile, makeDirectory, orWriteFailed } from '../operation/make-directory.ts'
import { command, firstLineOf, requireRulesOf, type StepContext } from '../operation/step.ts'
import { deviceOfSource, isInstead, oneAtATime, sourceOf } from './mount-device.ts'

/** Mode of the file that the device is mounted on. */
const MODE = 0o750

/** A device that is already mapped is kept. Unlike the kubelet, volctl checks that it is the right one. */
export async function mapDevice(step: StepOf<'mapDevice'>, run: StepContext): Promise<void> {
  const { target } = step
  const device = await deviceOfSource(sourceOf(step, run), run)
  run.bringUp.device = device.path
  const isThere = (): boolean => isMapped(target, device, run)
  await oneAtATime(device.number, run, async () => {
    if (isThere()) return
    await requireRulesOf('device', { device }, run)
    if (run.host.lstat(target) === undefined) createFile(target, MODE, run)
    await requireRulesOf('mount', { target: { path: target } }, run)
    await mountAlone({ ...step, source: device.path }, run, ['-o', 'bind', device.path, target], isThere)
  })
}

/** @throws StepFailed ForeignMount if anything else is mounted there */
function isMapped(target: string, device: FoundDevice, { around, host }: StepContext): boolean {
  const top = around.table.top(target)
  if (top === undefined) return false
  if (cannotHang(top.fsType) && host.deviceNumber(target) === device.number) return true
  throw isInstead(top, device, target)
}

export async function holdOpen({ target }: Step, run: StepContext): Promise<void> {
  if (loopOn(target, run) !== undefined) return
  const result = await command(run, 'losetup', ['-f', target])
  const made = loopOn(target, run)
  if (made === undefined) {
    throw new StepFailed(said('CommandFailed.losetup', { target, output: firstLineOf(result) }), {
      hint: marked('Check that the node has a free loop device (`losetup -f`), then plan again.'),
    })
  }
  const back = (): Promise<void> | undefined =>
    // The maps of other pods are paths of the operation, too.
    loopOn(target, run) === made ? releaseLoop({ op: 'losetup -d', target: made }, run) : undefined
  run.made.push({ what: `${made} on ${target}`, back })
}

/** The loop device of this very file: for a deleted one the kernel shows the name with " (deleted)" behind it. */
function loopOn(file: string, { around, host }: StepContext): string | undefined {
  const place = placeOf(around.table, file)
  return host.loops().find(({ backingFile }) => backingFile === place)?.device
}

/** A link that leads elsewhere is replaced, as the kubelet does; anything else in its place is kept, and the step fails (S13). */
export async function linkDevice(step: Step, run: StepContext): Promise<void> {
  const { target } = step
  const { host } = run
  const { path } = await deviceOfSource(sourceOf(step, run), run)
  const found = host.lstat(target)
  if (found !== undefined && found.type !== 'link') {
    throw new StepFailed(said('UnexpectedFile.notLink', { target }))
  }
  const before = host.readLink(target)
  if (before === path) return
  makeDirectory({ op: 'mkdir', target: posix.dirname(target) }, run)
  orWriteFailed(`link ${target}`, 'created', () => {
    if (before !== undefined) host.unlink(target)
    host.symlink(path, target)
  })
  run.made.push({ what: `link ${target}`, back: () => host.unlink(target) })
}

/** Releases the loop device that a kubelet put on a block volume's map (C19, C84). */
export async function releaseLoop(step: Step, run: StepContext): Promise<void> {
  const { host, operation } = run
  const file = host.loopBackingFile(step.target)
  if (file === undefined) return
  const own = ownPathOf(run.around.table, undeletedPath(file))
  if (!operation.paths.some((path) => isWithin(own, path))) {
    throw new StepFailed(said('ForeignDevice.backedBy', { target: step.target, file }))
  }
  const failure = await whyNotReleased(step.target, file, run)
  if (failure === undefined) return
  const output = failure.stderr.trim()
  throw new StepFailed(said('HeldBy.loop', { device: step.target, file, error: output === '' ? '' : `: ${output}` }), {
    stuck: failure.timedOut,
  })
}

const TRIES = 20
const PAUSE_MS = 100

/**
 * While somebody has the loop device open, the kernel only marks it for release, and answers OK. Programs that list loop
 * devices (`losetup -j`, udev) open each for a moment, so this waits a little.
 *
 * @param file its backing file before the release; a released loop device may have another one by now
 */
async function whyNotReleased(
  device: string,
  file: string,
  { host, waiting, signal }: StepContext,
): Promise<CommandResult | undefined> {
  const result = await waiting.spend((ms) => host.releaseLoop(device, ms))
  for (let tries = 1; ; tries++) {
    const now = host.loopBackingFile(device)
    if (now === undefined || undeletedPath(now) !== undeletedPath(file)) return undefined
    if (tries === TRIES || waiting.isSpent || signal?.aborted) return result
    await waiting.spend(() => pause(PAUSE_MS, signal))
  }
}

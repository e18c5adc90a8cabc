/** Bind-mounts a device on the pod's file in the volume's global map directory (P98, P99). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { diskFailure } from '../../files/disk-failure.ts'
import { cannotHang } from '../../mountinfo/file-systems.ts'
import type { StepOf } from '../../plan/plan.ts'
import { MountFailed, mount, requireFree } from '../mounts/mount-step.ts'
import { describeMount } from '../operation/expected-mounts.ts'
import { oneAtATime } from '../operation/one-at-a-time.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { deviceInUse } from './idle-device.ts'
import { deviceOfSource, type FoundDevice, sourceOf } from './source-device.ts'

/** Mode of the file that the device is mounted on. */
const MODE = 0o750

/** A device that is already mapped is kept. Unlike the kubelet, volctl checks that it is the right one. */
export async function mapDevice(step: StepOf<'mapDevice'>, run: StepContext): Promise<readonly Undo[]> {
  const device = await deviceOfSource(sourceOf(step, run), run)
  run.bringUp.device = device.path
  return oneAtATime(device.number, run, () => mapFound(step, device, run))
}

async function mapFound(step: StepOf<'mapDevice'>, device: FoundDevice, run: StepContext): Promise<readonly Undo[]> {
  if (isMapped(step.target, device, run)) return []
  requireNoFileSystem(device, run)
  const undos = [...makeFile(step.target, run)]
  try {
    requireFree(step.target, run)
    const whole = { ...step, source: device.path }
    undos.push(await mount(whole, run, ['-o', 'bind', device.path, step.target]))
    if (isMapped(step.target, device, run)) return undos
    throw new MountFailed(whole, 'another device is mounted there')
  } catch (error) {
    throw await takeBack(undos, error, run)
  }
}

/** @throws StepFailed ForeignMount if anything else is mounted there */
function isMapped(target: string, { number, path }: FoundDevice, { around, host }: StepContext): boolean {
  const top = around.table.top(target)
  if (top === undefined) return false
  if (cannotHang(top.fsType) && host.deviceNumber(target) === number) return true
  throw new StepFailed('ForeignMount', `${describeMount(top)} is there instead of ${path}`, {
    hint: 'Find out who mounted it and unmount it yourself, then plan again.',
  })
}

/** A mounted file system whose device is also written to directly is destroyed (S30). */
function requireNoFileSystem(device: FoundDevice, { around }: StepContext): void {
  const [mounted] = around.table.ofDevice(device.number)
  if (mounted !== undefined) throw deviceInUse(device, describeMount(mounted))
}

function makeFile(target: string, { host }: StepContext): readonly Undo[] {
  if (host.lstat(target) !== undefined) return []
  try {
    host.createFile(target, MODE)
  } catch (error) {
    throw diskFailure('WriteFailed', `${target} could not be created`, error, 'Plan again.')
  }
  return [{ what: target, back: () => host.unlink(target) }]
}

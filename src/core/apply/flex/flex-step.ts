/** Calls a flexVolume driver to unmount, and checks what the driver left (P87, P88). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { layersAt, undoWhatTheDriverLeft } from '../csi/csi-step.ts'
import { umountLayer } from '../mounts/umount-step.ts'
import { command } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { isNotSupported, requireSuccess } from './flex-answer.ts'

/**
 * `unmount DIR` for a pod's volume, if its directory exists; `unmountdevice DIR` for the global mount, if it is mounted. If
 * the driver answers "Not supported", a plain unmount follows.
 */
export async function callFlexDriver(step: Step, run: StepContext): Promise<void> {
  const { operation, around, host } = run
  const before = layersAt(step.target, run).length
  const call = step.op === 'flexUnmount' ? 'unmount' : 'unmountdevice'
  // Nothing below a mount may be touched, so lstat is only called if nothing is mounted.
  if (before === 0 && (call === 'unmountdevice' || host.lstat(step.target) === undefined)) return
  const driver = operation.volume?.plugin ?? 'the flexVolume driver'
  if (step.detail === undefined)
    throw new StepFailed('DriverUnavailable', `the plan does not say where driver ${driver} is`, {
      hint: 'Plan again.',
    })
  const result = await command(run, step.detail, [call, step.target])
  around.changed()
  if (isNotSupported(result)) {
    for (let count = before; count > 0; count--) await umountLayer({ op: 'umount', target: step.target }, run)
    return
  }
  requireSuccess(result, `${driver}: ${call} of ${step.target}`, "See the driver's log; nothing was removed.")
  await undoWhatTheDriverLeft(step, run, before)
}

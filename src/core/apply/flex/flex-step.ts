/** A flexVolume driver's call, and a look at what it left (P87, P88). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { layersAt, undoWhatTheDriverLeft } from '../csi/csi-step.ts'
import { umountLayer } from '../mounts/umount-step.ts'
import { command } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import { isNotSupported, requireSuccess } from './flex-answer.ts'

/**
 * `unmount DIR` for a pod's volume, where its directory is there; `unmountdevice DIR` for the global mount, where it is
 * mounted. A driver that says "Not supported" leaves it to a plain unmount.
 */
export async function callFlexDriver(step: Step, run: StepContext): Promise<void> {
  const { operation, around, host } = run
  const before = layersAt(step.target, run).length
  const call = step.op === 'flexUnmount' ? 'unmount' : 'unmountdevice'
  // Nothing is touched below a mount: only of an unmounted directory is it asked whether it is there.
  if (before === 0 && (call === 'unmountdevice' || host.lstat(step.target) === undefined)) return
  const driver = operation.volume?.plugin ?? 'the flexVolume driver'
  if (step.detail === undefined)
    throw new StepFailed('FlexDriverMissing', `the plan does not say where driver ${driver} is`, {
      hint: 'Plan again.',
    })
  const result = await command(run, step.detail, [call, step.target])
  around.changed()
  if (isNotSupported(result)) {
    for (let left = before; left > 0; left--) await umountLayer({ op: 'umount', target: step.target }, run)
    return
  }
  requireSuccess(result, `${driver}: ${call} of ${step.target}`, "Look at the driver's log; nothing was removed.")
  await undoWhatTheDriverLeft(step, run, before)
}

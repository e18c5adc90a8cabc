/** The step flexMountDevice: the global mount of a volume whose driver attaches (P87, P88). */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { StepOf } from '../../plan/plan.ts'
import { flexDeviceOptions } from '../../plugins/flex-options.ts'
import { mountDevice } from '../disks/mount-device.ts'
import { requireFree } from '../mounts/mount-step.ts'
import type { StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { isNotSupported, requireSuccess } from './flex-answer.ts'
import { callFlex, driverOf, FLEX_HINT, flexCapabilities, requireMountable } from './flex-init.ts'
import { undoByDriver } from './flex-undo.ts'

/**
 * `waitforattach` gives the device, `mountdevice` mounts it. If the driver does not support a call, volctl does that part
 * itself, unless the driver has no device. The pod's mount shows later whether anything was mounted.
 */
export async function mountFlexDevice(step: StepOf<'flexMountDevice'>, run: StepContext): Promise<readonly Undo[]> {
  const capabilities = await flexCapabilities(step, run)
  const volume = run.bringUp.wanted
  // A driver that does not attach has no device of its own, either.
  if (!capabilities.attach || volume === undefined) return []
  requireMountable(capabilities, run)
  const device = await deviceOf(step, volume, run)
  run.bringUp.device = device
  requireFree(step.target, run)
  const result = await callFlex(step, ['mountdevice', step.target, device, flexDeviceOptions(volume)], run)
  run.around.changed()
  if (isNotSupported(result)) {
    const { detail: _, ...mount } = step
    return device === '' ? [] : mountDevice({ ...mount, op: 'mountDevice', source: device }, run)
  }
  const undo = undoByDriver('flexUnmountDevice', step, run)
  try {
    requireSuccess(result, `${driverOf(run)}: mountdevice of ${step.target}`, FLEX_HINT)
  } catch (error) {
    throw await takeBack([undo], error, run)
  }
  return [undo]
}

/** The device that the driver names, otherwise the path in the Node's status; empty: there is none. */
async function deviceOf(step: StepOf<'flexMountDevice'>, volume: VolumeToMount, run: StepContext): Promise<string> {
  const { source = '' } = step
  const result = await callFlex(step, ['waitforattach', source, flexDeviceOptions(volume)], run)
  if (isNotSupported(result)) return source
  const { device } = requireSuccess(result, `${driverOf(run)}: waitforattach`, FLEX_HINT)
  if (device === undefined || device === '') return ''
  if (typeof device === 'string' && device.startsWith('/')) return device
  throw new StepFailed('DriverFailed', `${driverOf(run)}: waitforattach gave ${JSON.stringify(device)} as the device`, {
    hint: FLEX_HINT,
  })
}

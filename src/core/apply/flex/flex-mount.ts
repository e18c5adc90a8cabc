/** The step flexMount: mounts a pod's flexVolume through its driver (P87, P88). */

import type { VolumeToMount } from '../../desired/desired-state.ts'
import { errnoOf } from '../../errors/errors.ts'
import { OperationRefused, StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import { defined } from '../../lang/defined.ts'
import { copiesOf } from '../../mountinfo/copies.ts'
import type { Step, StepOf } from '../../plan/plan.ts'
import { flexDeviceOptions, flexMountOptions } from '../../plugins/flex-options.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { mountDevice } from '../disks/mount-device.ts'
import { mountStep, requireFree } from '../mounts/mount-step.ts'
import { command } from '../operation/step-command.ts'
import type { FlexCapabilities, StepContext } from '../operation/step-context.ts'
import { takeBack } from '../operation/take-back.ts'
import { isNotSupported, requireSuccess } from './flex-answer.ts'
import { callFlexDriver } from './flex-step.ts'

/**
 * `mount DIR JSON`, or a bind mount of the global mount if the driver does not support that. The mount table decides: a
 * driver's Success is not trusted if nothing is mounted, since the volume could not be distinguished later from an empty
 * directory, or from one that containers wrote to. After a failure the directory is removed.
 */
export async function mountFlexVolume(step: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  try {
    const capabilities = await flexCapabilities(step, run)
    requireMountable(capabilities, run)
    requireFree(step.target, run)
    return await mountByDriver(step, run)
  } catch (error) {
    if (!(error instanceof StepFailed && error.stuck)) removeIfEmpty(step.target, run)
    throw error
  }
}

async function mountByDriver(step: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  const { target } = step
  const { wanted } = run.bringUp
  if (wanted === undefined) throw new StepFailed('NoLongerWanted', `no pod wants ${target}`)
  const result = await callFlex(step, ['mount', target, flexMountOptions(wanted)], run)
  run.around.changed()
  if (isNotSupported(result)) return bindGlobal(step, run)
  const undo = undoByDriver('flexUnmount', step, run)
  const isMounted = run.around.table.top(target) !== undefined
  try {
    requireSuccess(result, `${driverOf(run)}: mount of ${target}`, FLEX_HINT)
  } catch (error) {
    throw isMounted ? await takeBack([undo], error, run) : error
  }
  if (isMounted) return [undo]
  const nothing = new StepFailed(
    'DriverFailed',
    `${driverOf(run)} reported Success for mount of ${target}, but nothing is mounted there`,
    { hint: FLEX_HINT },
  )
  throw await takeBack([undo], nothing, run)
}

function bindGlobal({ target, source = '' }: StepOf<'flexMount'>, run: StepContext): Promise<readonly Undo[]> {
  if (run.around.table.top(source) !== undefined)
    return mountStep({ op: 'mount', target, source, options: ['bind'] }, run)
  throw new StepFailed(
    'DriverFailed',
    `${driverOf(run)} does not support mount, and nothing is mounted on ${source} to bind-mount`,
    { hint: FLEX_HINT },
  )
}

/** A directory in which the driver left something is kept; the next plan finds it. */
function removeIfEmpty(path: string, { host, around }: StepContext): void {
  if (around.table.at(path).length > 0) return
  try {
    host.rmdir(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTEMPTY') throw error
  }
}

/**
 * The step flexMountDevice: the global mount of a volume whose driver attaches (P87, P88).
 * `waitforattach` gives the device, `mountdevice` mounts it. If the driver does not support a call, volctl does that part
 * itself, unless the driver has no device. The pod's mount shows later whether anything was mounted.
 */
export async function mountFlexDevice(step: StepOf<'flexMountDevice'>, run: StepContext): Promise<readonly Undo[]> {
  const capabilities = await flexCapabilities(step, run)
  const volume = run.bringUp.wanted
  // A driver that does not attach has no device, either.
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

/**
 * To be called right after the driver's call: every mount there is then the driver's, since there was none before.
 *
 * @param op the call that is the opposite of the step's
 */
function undoByDriver(
  op: 'flexUnmount' | 'flexUnmountDevice',
  step: Pick<Step, 'target' | 'detail'>,
  run: StepContext,
): Undo {
  const { target: path, detail } = step
  const { table } = run.around
  const made = table.reached(path).flatMap((mount) => [mount, ...copiesOf(table, mount)])
  const layers = made.map(({ id, dev, root, fsType }) => ({ id, dev, root, fsType }))
  const operation = { ...run.operation, expects: [{ path, layers }] }
  return {
    what: `what the driver mounted on ${path}`,
    back: () => {
      run.around.changed()
      return callFlexDriver({ op, target: path, ...defined({ detail }) }, { ...run, operation })
    },
  }
}

/** Hint for a driver's call that failed. */
const FLEX_HINT = "See the driver's log; then plan again."

/**
 * Read once per operation, before the first call that changes anything, since a plan runs no programs.
 *
 * @throws StepFailed DriverFailed
 */
async function flexCapabilities(step: Step, run: StepContext): Promise<FlexCapabilities> {
  if (run.bringUp.flex !== undefined) return run.bringUp.flex
  const answer = requireSuccess(await callFlex(step, ['init'], run), `${driverOf(run)}: init`, FLEX_HINT)
  const { attach, fsGroup } = Object(answer.capabilities) as { attach?: unknown; fsGroup?: unknown }
  const found = { attach: attach !== false, fsGroup: fsGroup !== false }
  run.bringUp.flex = found
  return found
}

/**
 * S22: if the driver attaches, the Node must list the volume as attached. A volume with a secret is not mounted.
 *
 * @throws OperationRefused NotAttached, LeftToKubelet
 */
function requireMountable({ attach }: FlexCapabilities, run: StepContext): void {
  const { wanted } = run.bringUp
  if (attach && wanted?.attachability !== 'attachable') {
    throw new OperationRefused(
      'NotAttached',
      `driver ${driverOf(run)} attaches its volumes, but the Node does not list ${wanted?.specName} as attached`,
      { hint: 'The attach/detach controller acts next; plan again when node.status.volumesAttached has the volume.' },
    )
  }
  const source = wanted?.persistentVolume?.spec.flexVolume ?? wanted?.source?.flexVolume
  if (source?.secretRef != null) {
    throw new OperationRefused('LeftToKubelet', `volume ${wanted?.specName} has a secretRef now`, {
      hint: 'Start the kubelet: it mounts the volume.',
    })
  }
}

async function callFlex(step: Step, args: readonly string[], run: StepContext): Promise<CommandResult> {
  if (step.detail === undefined) {
    throw new StepFailed('DriverUnavailable', `the plan does not say where driver ${driverOf(run)} is`, {
      hint: 'Plan again.',
    })
  }
  run.say(`${driverOf(run)}: ${args.slice(0, 2).join(' ')}`)
  return command(run, step.detail, args)
}

function driverOf({ operation }: StepContext): string {
  return operation.volume?.plugin ?? 'the flexVolume driver'
}

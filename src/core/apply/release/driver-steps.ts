/** Calls the driver to unpublish or unstage, and checks what the driver left (S16, R441, R832, O23, C119, C125). */

import { firstCharacters } from '../../base/text.ts'
import type { MountInfo } from '../../linux/mount-table.ts'
import { remedyOf } from '../../messages/codes.ts'
import { errorMessage, StepFailed, said, saidOfAny, VolctlError } from '../../messages/findings.ts'
import type { Operation } from '../../plan/plan.ts'
import { describeMount, isExpected } from '../../rules/expected-mounts.ts'
import type { CommandResult } from '../../trust/programs.ts'
import type { Step } from '../../volumes/steps.ts'
import { grpcStatusOf, hintOf, outcomeCodeOf, untilNotPending } from '../csi/csi-call.ts'
import { holdersOfMounts, removeDirectory, umountLayer } from '../mounts/umount-step.ts'
import { type CsiNode, command, firstLineOf, type StepContext } from '../operation/step.ts'

/** @throws StepFailed with the driver's message, or DriverFailed */
export async function callDriver(step: Step, run: StepContext): Promise<void> {
  const before = layersAt(step.target, run).length
  try {
    await untilNotPending(run, `${driverOf(run.operation)}: ${step.op}`, (ms) => callOnce(step, run, ms))
  } catch (error) {
    throw await driverFailure(step, run, error)
  }
  run.around.changed()
  await undoWhatTheDriverLeft(step, run, before)
  // The driver should have removed its target (C123); if it did not, a plain rmdir removes an empty directory.
  removeDirectory(step.target, run)
}

async function callOnce(step: Step, run: StepContext, deadlineMs: number): Promise<unknown> {
  const { volume } = run.operation
  const driver: CsiNode | undefined = await run.context.csi(driverOf(run.operation))
  if (driver === undefined || volume?.handle === undefined) {
    throw new StepFailed(said('DriverUnavailable.silent', { driver: driverOf(run.operation) }))
  }
  const volumeId = volume.handle
  return step.op === 'NodeUnpublishVolume'
    ? driver.nodeUnpublishVolume({ volumeId, targetPath: step.target }, deadlineMs)
    : driver.nodeUnstageVolume({ volumeId, stagingTargetPath: step.target }, deadlineMs)
}

/**
 * If the driver has removed some of several stacked mounts, the others are unmounted one by one, as long as each is this
 * volume's. If the driver answered OK and removed none, its answer is not trusted.
 */
async function undoWhatTheDriverLeft(step: Step, run: StepContext, before: number): Promise<void> {
  const remaining = layersAt(step.target, run)
  const last = remaining.at(-1)
  if (last === undefined) return
  const foreign = remaining.find((layer) => !isExpected(layer, run.operation))
  if (foreign !== undefined || remaining.length >= before) {
    throw new StepFailed(
      said('DriverFailed.stillThere', {
        driver: driverOf(run.operation),
        op: step.op,
        mount: describeMount(foreign ?? last),
      }),
    )
  }
  for (let count = remaining.length; count > 0; count--) await umountLayer({ op: 'umount', target: step.target }, run)
}

/** The mounts on a path. A hidden mount counts only if the plan lists it: it may be a copy to be unmounted (O35). */
function layersAt(path: string, { around, operation }: StepContext): MountInfo[] {
  const reached = around.table.reached(path)
  return around.table.at(path).filter((layer) => reached.includes(layer) || isExpected(layer, operation))
}

/** For a flexVolume, the plugin's name is the driver's name. */
function driverOf({ volume }: Operation): string {
  return volume?.driver ?? volume?.plugin ?? 'unknown'
}

/** O15: a driver that finds its target busy does not say who holds it, so volctl looks. */
async function driverFailure(step: Step, run: StepContext, error: unknown): Promise<VolctlError> {
  const status = grpcStatusOf(error)
  if (status === undefined && error instanceof VolctlError) return error
  const stuck = status === 'DEADLINE_EXCEEDED' || status === 'CANCELLED'
  const who = stuck || !/\bbusy\b/i.test(errorMessage(error)) ? '' : await holdersOfMounts(step.target, run)
  const about = {
    driver: driverOf(run.operation),
    call: `${step.op} of ${step.target}`,
    why: errorMessage(error),
  }
  const code = outcomeCodeOf(status)
  return new StepFailed(who === '' ? saidOfAny(code, 'call', about) : saidOfAny(code, 'heldCall', { ...about, who }), {
    cause: error,
    hint: who === '' ? hintOf(status, 'takingDown') : remedyOf('HeldBy'),
    stuck,
  })
}

// Calls a flexVolume driver to unmount, and checks what the driver left (P87, P88).

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
    throw new StepFailed(said('DriverUnavailable.notPlanned', { driver }), {
      hint: 'Plan again.',
    })
  const result = await command(run, step.detail, [call, step.target])
  around.changed()
  const answer = answerOf(result)
  if (answer?.status === 'Not supported') {
    for (let count = before; count > 0; count--) await umountLayer({ op: 'umount', target: step.target }, run)
    return
  }
  const failure = failureOf(answer, result)
  if (failure !== undefined) {
    throw new StepFailed(saidOfAny('DriverFailed', 'call', { driver, call: `${call} of ${step.target}`, why: failure }))
  }
  await undoWhatTheDriverLeft(step, run, before)
}

/** A driver answers with one JSON object, whatever its exit status; undefined: it did not. */
function answerOf({ stdout }: CommandResult): { readonly status?: unknown; readonly message?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(stdout)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Why the call failed; undefined: it succeeded. */
function failureOf(answer: ReturnType<typeof answerOf>, result: CommandResult): string | undefined {
  if (answer === undefined) return `the driver printed no JSON status: ${firstLineOf(result)}`
  const { status, message } = answer
  if (status !== 'Success')
    return firstCharacters(`${String(status ?? 'no status')}: ${String(message ?? 'without a message')}`)
  return result.status === 0 ? undefined : `the driver reported Success, but its exit status is ${result.status}`
}

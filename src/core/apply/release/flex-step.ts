/** Calls a flexVolume driver to unmount, and checks what the driver left (P87, P88). */

import { firstCharacters } from '../../base/first-characters.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import type { CommandResult } from '../../trust/programs.ts'
import { layersAt, undoWhatTheDriverLeft } from '../csi/csi-step.ts'
import { umountLayer } from '../mounts/umount-step.ts'
import { command, firstLineOf } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'

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
  const answer = answerOf(result)
  if (answer?.status === 'Not supported') {
    for (let count = before; count > 0; count--) await umountLayer({ op: 'umount', target: step.target }, run)
    return
  }
  const failure = failureOf(answer, result)
  if (failure !== undefined) {
    throw new StepFailed('DriverFailed', `${driver}: ${call} of ${step.target} failed: ${failure}`)
  }
  await undoWhatTheDriverLeft(step, run, before)
}

interface FlexAnswer {
  readonly status?: unknown
  readonly message?: unknown
}

/** A driver answers with one JSON object, whatever its exit status; undefined: it did not. */
function answerOf({ stdout }: CommandResult): FlexAnswer | undefined {
  try {
    const value: unknown = JSON.parse(stdout)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Why the call failed; undefined: it succeeded. */
function failureOf(answer: FlexAnswer | undefined, result: CommandResult): string | undefined {
  if (answer === undefined) return `the driver printed no JSON status: ${firstLineOf(result)}`
  const { status, message } = answer
  if (status !== 'Success')
    return firstCharacters(`${String(status ?? 'no status')}: ${String(message ?? 'without a message')}`)
  return result.status === 0 ? undefined : `the driver reported Success, but its exit status is ${result.status}`
}

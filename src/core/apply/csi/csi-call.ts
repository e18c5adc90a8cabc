/** Calls that set up a CSI volume: finds the driver and its capabilities, and judges failures (C2, C3, C7, C119, C120). */

import { pause, withDeadline } from '../../linux/deadline.ts'
import type { OutcomeCode } from '../../messages/codes.ts'
import { errorMessage, StepFailed, said, saidOfAny, VolctlError } from '../../messages/findings.ts'
import { type GrpcCode, GrpcError } from '../../rpc/grpc-status.ts'
import type { Step } from '../../volumes/steps.ts'
import type { CsiNode, StepContext } from '../operation/step.ts'

/**
 * The driver and its capabilities, which are read once per operation (C7).
 *
 * @throws StepFailed DriverUnavailable, or the driver's own failure; then nothing was changed
 */
export async function openDriver(run: StepContext): Promise<WantedCsi & NonNullable<StepContext['bringUp']['csi']>> {
  const wanted = wantedCsi(run)
  if (run.bringUp.csi !== undefined) return { ...wanted, ...run.bringUp.csi }
  const { driver } = wanted
  const node = await run.context.csi(driver)
  if (node === undefined) {
    throw new StepFailed(said('DriverUnavailable.silent', { driver }))
  }
  try {
    const capabilities = await untilNotPending(run, `${driver}: NodeGetCapabilities`, (ms) =>
      node.nodeGetCapabilities(ms),
    )
    run.bringUp.csi = { node, capabilities }
    return { ...wanted, node, capabilities }
  } catch (error) {
    // This call changes nothing: even if it is still running, nothing of the volume is in progress.
    const failure = callFailure(driver, 'NodeGetCapabilities', error)
    throw new StepFailed(failure, { cause: error, hint: failure.hint })
  }
}

/**
 * Calls the driver for the wanted volume.
 *
 * @throws StepFailed with `stuck` if the call may still be running, or is half done (C3): then nothing may be cleaned up
 *   after it, and only the same call again, or the opposite one, settles it (C120)
 */
export async function callNode(
  step: Step,
  run: StepContext,
  call: (node: CsiNode, deadlineMs: number) => Promise<unknown>,
): Promise<undefined> {
  const { node, driver } = await openDriver(run)
  try {
    await untilNotPending(run, `${driver}: ${step.op}`, (ms) => call(node, ms))
    run.around.changed()
  } catch (error) {
    throw callFailure(driver, `${step.op} of ${step.target}`, error)
  }
}

function callFailure(driver: string, call: string, error: unknown): VolctlError {
  // volctl's own failure: nothing was sent, or the wait was abandoned.
  if (error instanceof VolctlError) return error
  const status = grpcStatusOf(error)
  const isFinal = error instanceof GrpcError && error.isFinal
  const about = { driver, call, why: errorMessage(error) }
  return new StepFailed(saidOfAny(outcomeCodeOf(status), isFinal ? 'call' : 'openCall', about), {
    cause: error,
    hint: hintOf(status, 'settingUp'),
    stuck: !isFinal,
  })
}

const RETRY_MS = [500, 1000, 2000]

/**
 * ABORTED: another call for the volume is running, maybe an earlier one of volctl. volctl waits for that call, and cleans up
 * nothing after it.
 */
export async function untilNotPending<T>(
  run: StepContext,
  what: string,
  call: (deadlineMs: number) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run.waiting.spend((ms) => withDeadline(call(ms), ms, what))
    } catch (error) {
      const wait = RETRY_MS[attempt]
      if (grpcStatusOf(error) !== 'ABORTED' || wait === undefined || run.signal?.aborted) throw error
      await run.waiting.spend(() => pause(wait, run.signal))
    }
  }
}

// The CSI volume of an operation, as its pod wants it now.

export type WantedCsi = ReturnType<typeof wantedCsi>

/** @throws StepFailed NoLongerWanted if the pod's volume is not a CSI volume, or of another driver than planned */
export function wantedCsi({ bringUp: { wanted }, operation }: StepContext) {
  const { driver, handle } = wanted ?? {}
  if (wanted === undefined || !driver || !handle || driver !== operation.volume?.driver) {
    throw new StepFailed(said('NoLongerWanted.volume', { name: operation.volume?.name ?? 'the volume' }))
  }
  return { volume: wanted, driver, handle }
}

// What a driver's gRPC status means, and what to do about it (C3, C119, C125).

export function grpcStatusOf(error: unknown): GrpcCode | undefined {
  return error instanceof GrpcError ? error.code : undefined
}

/** Outcome codes by status, the same for set-up and tear-down. */
const CODES: Partial<Record<GrpcCode, OutcomeCode>> = {
  NOT_FOUND: 'VolumeNotFound',
  ABORTED: 'OperationPending',
  UNAVAILABLE: 'DriverUnavailable',
  DEADLINE_EXCEEDED: 'TimedOut',
  INVALID_ARGUMENT: 'DriverRefused',
  ALREADY_EXISTS: 'DriverRefused',
  PERMISSION_DENIED: 'DriverRefused',
  FAILED_PRECONDITION: 'DriverRefused',
  UNIMPLEMENTED: 'DriverRefused',
  UNAUTHENTICATED: 'DriverRefused',
}

/** The outcome's code; DriverFailed for a failure without a status. */
export function outcomeCodeOf(status: GrpcCode | undefined): OutcomeCode {
  return (status === undefined ? undefined : CODES[status]) ?? 'DriverFailed'
}

/** What to do where it is more than the code says. */
const HINTS: Readonly<Record<'settingUp' | 'takingDown', Partial<Record<GrpcCode, string>>>> = {
  settingUp: {
    ALREADY_EXISTS:
      'The driver already has the volume here with other parameters: unmount it everywhere on this node first.',
  },
  takingDown: {
    NOT_FOUND:
      'The storage system says that the volume is gone, so only local state is left. Verify that, then remove the rest by hand.',
    FAILED_PRECONDITION:
      "The driver's own records say that the volume is still in use; see its log, and look for other targets.",
  },
}

export function hintOf(status: GrpcCode | undefined, call: keyof typeof HINTS): string | undefined {
  return status && HINTS[call][status]
}

/** Calls that set up a CSI volume: finds the driver and its capabilities, and judges failures (C2, C3, C7, C119, C120). */
import { errorMessage, VolctlError } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { GrpcError } from '../../rpc/grpc-status.ts'
import type { CsiNode } from '../operation/ports.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { CsiFacts } from './csi-requests.ts'
import { untilNotPending } from './csi-step.ts'
import { wantedCsi } from './csi-wanted.ts'
import { grpcStatusOf, hintOf, outcomeCodeOf } from './driver-errors.ts'

/**
 * The driver and its capabilities, which are read once per operation (C7).
 *
 * @throws StepFailed DriverUnavailable, or the driver's own failure; then nothing was changed
 */
export async function openDriver(run: StepContext): Promise<NonNullable<StepContext['bringUp']['csi']>> {
  if (run.bringUp.csi !== undefined) return run.bringUp.csi
  const { driver } = wantedCsi(run)
  const node = await run.context.csi(driver)
  if (node === undefined) {
    throw new StepFailed('DriverUnavailable', `CSI driver ${driver} does not answer on this node`)
  }
  try {
    const capabilities = await untilNotPending(run, `${driver}: NodeGetCapabilities`, (ms) =>
      node.nodeGetCapabilities(ms),
    )
    run.bringUp.csi = { node, capabilities }
  } catch (error) {
    // This call changes nothing: even if it is still running, nothing of the volume is in progress.
    const failure = callFailure(`${driver}: NodeGetCapabilities failed`, error)
    throw new StepFailed(failure.code, failure.message, { cause: error, hint: failure.hint })
  }
  return run.bringUp.csi
}

/**
 * What the requests are built from.
 *
 * @param label SELinux label that the volume is mounted with
 * @throws StepFailed if the CSIDriver is not known
 */
export function factsOf(
  run: StepContext,
  capabilities: readonly string[],
  publishContext: Readonly<Record<string, string>>,
  label = '',
): CsiFacts {
  const { volume, driver } = wantedCsi(run)
  const found = run.context.csiDriver(driver)
  if (found.state === 'Unknown') throw new StepFailed('CsiDriverUnknown', `CSIDriver ${driver} ${found.reason}`)
  const object = found.state === 'Found' ? found.object : undefined
  return { volume, rootDir: run.plan.rootDir, capabilities, driver: object, publishContext, label }
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
): Promise<void> {
  const { node } = await openDriver(run)
  const { driver } = wantedCsi(run)
  try {
    await untilNotPending(run, `${driver}: ${step.op}`, (ms) => call(node, ms))
  } catch (error) {
    throw callFailure(`${driver}: ${step.op} to ${step.target} failed`, error)
  }
}

function callFailure(what: string, error: unknown): VolctlError {
  // volctl's own failure: nothing was sent, or the wait was abandoned.
  if (error instanceof VolctlError) return error
  const status = grpcStatusOf(error)
  const isFinal = error instanceof GrpcError && error.isFinal
  const doubt = isFinal ? '' : '; the driver may still complete it'
  return new StepFailed(outcomeCodeOf(status), `${what}: ${errorMessage(error)}${doubt}`, {
    cause: error,
    hint: hintOf(status, 'settingUp'),
    stuck: !isFinal,
  })
}

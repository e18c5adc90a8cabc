/** Calls that bring a CSI volume up: the driver and what it can do, and how a failure is to be taken (C2, C3, C7, C119, C120). */
import { errorMessage, VolctlError } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import { GrpcError } from '../../grpc/grpc-error.ts'
import type { GrpcCode } from '../../grpc/grpc-status.ts'
import type { Step } from '../../plan/plan.ts'
import type { CsiNode } from '../operation/ports.ts'
import type { StepContext } from '../operation/step-context.ts'
import type { CsiFacts } from './csi-requests.ts'
import { untilNotPending } from './csi-step.ts'
import { wantedCsi } from './csi-wanted.ts'
import { grpcStatusOf, outcomeCodeOf } from './driver-errors.ts'

/**
 * The driver, asked once in an operation what it can do (C7).
 *
 * @throws StepFailed DriverNotRegistered, or the driver's own words: nothing was begun
 */
export async function openDriver(run: StepContext): Promise<NonNullable<StepContext['bringUp']['csi']>> {
  if (run.bringUp.csi !== undefined) return run.bringUp.csi
  const { driver } = wantedCsi(run)
  const node = await run.context.csi(driver)
  if (node === undefined) {
    throw new StepFailed('DriverNotRegistered', `CSI driver ${driver} does not answer here`, {
      hint: "Bring the driver's node pod back; then plan again.",
    })
  }
  try {
    const capabilities = await untilNotPending(run, `${driver}: NodeGetCapabilities`, (ms) =>
      node.nodeGetCapabilities(ms),
    )
    run.bringUp.csi = { node, capabilities }
  } catch (error) {
    // A question: whatever became of it, nothing of the volume is in progress.
    const failure = callFailure(`${driver}: NodeGetCapabilities failed`, error)
    throw new StepFailed(failure.code, failure.message, { cause: error, ...(failure.hint && { hint: failure.hint }) })
  }
  return run.bringUp.csi
}

/**
 * What the requests are made of.
 *
 * @param label SELinux label that the volume is mounted with
 * @throws StepFailed where the CSIDriver is not known
 */
export function factsOf(
  run: StepContext,
  capabilities: readonly string[],
  publishContext: Readonly<Record<string, string>>,
  label = '',
): CsiFacts {
  const { volume, driver } = wantedCsi(run)
  const found = run.context.csiDriver(driver)
  if (found.state === 'Unknown')
    throw new StepFailed('CsiDriverUnknown', `CSIDriver ${driver} ${found.reason}`, { hint: 'Plan again.' })
  const object = found.state === 'Found' ? found.object : undefined
  return { volume, rootDir: run.plan.rootDir, capabilities, driver: object, publishContext, label }
}

/**
 * Calls the driver for the wanted volume.
 *
 * @throws StepFailed `stuck` where the call may still be at work, or is half done (C3): then nothing may be cleaned up
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
  // Of our own making: nothing was sent, or the wait was given up.
  if (error instanceof VolctlError) return error
  const status = grpcStatusOf(error)
  const isFinal = error instanceof GrpcError && error.isFinal
  const words = isFinal ? '' : '; it may still happen'
  return new StepFailed(outcomeCodeOf(status), `${what}: ${errorMessage(error)}${words}`, {
    cause: error,
    hint: (status === undefined ? undefined : HINTS[status]) ?? (isFinal ? FINAL : UNCERTAIN),
    stuck: !isFinal,
  })
}

const HINTS: Partial<Record<GrpcCode, string>> = {
  NOT_FOUND: "The storage system does not know the volume: compare the PersistentVolume's volumeHandle with it.",
  ALREADY_EXISTS:
    "By the driver's records it is there with other parameters: unmount it everywhere on this node first.",
  FAILED_PRECONDITION: "By the driver's own records the volume cannot be used like this here; look at its log.",
  INVALID_ARGUMENT: "The driver does not take the volume's attributes, mount options or secrets; look at its log.",
  PERMISSION_DENIED: "Look at the volume's secrets, and at the driver's log.",
  UNAUTHENTICATED: "Look at the volume's secrets, and at the driver's log.",
  UNIMPLEMENTED: 'The driver does not offer this call.',
  ABORTED: 'The driver is still at work on this volume: apply again in a while.',
  UNAVAILABLE: 'The driver went away: bring its node pod back; then apply again.',
}
const FINAL = "The words are the driver's; look at its log."
const UNCERTAIN = "Look at the driver's log, then apply again: it does the same once more."

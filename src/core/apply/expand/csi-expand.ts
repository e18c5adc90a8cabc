/** Expands a CSI volume on this node by NodeExpandVolume (C96-C102, R455-R461). */

import { errorMessage } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { Step } from '../../plan/plan.ts'
import { GrpcError } from '../../rpc/grpc-status.ts'
import { parseQuantity } from '../../volumes/quantity.ts'
import { requireAttached } from '../csi/csi-attachment.ts'
import { callNode, factsOf, openDriver, wantedCsi } from '../csi/csi-call.ts'
import { expandRequest } from '../csi/csi-requests.ts'
import { readSecret } from '../csi/csi-secrets.ts'
import { resolvePath } from '../operation/step-command.ts'
import type { StepContext } from '../operation/step-context.ts'
import {
  type ClaimGrowth,
  claimGrowth,
  type FinalFailure,
  growAndReport,
  NOTHING_ASKED,
  reportGrown,
} from './claim-growth.ts'

/** After these statuses no further attempt makes sense (C101). */
const INFEASIBLE = new Set(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND'])

/**
 * Has the driver expand the volume on this node, if the claim still asks for that.
 *
 * @returns what was left unchanged, and why
 */
export async function expandCsiVolume(step: Step, run: StepContext): Promise<string | undefined> {
  const { volume } = wantedCsi(run)
  const wanted = await claimGrowth(run)
  if (wanted === undefined) return NOTHING_ASKED
  const { capabilities } = await openDriver(run)
  const facts = factsOf(run, capabilities, await requireAttached(run))
  if (!capabilities.includes('EXPAND_VOLUME')) return withoutDriver(wanted, run)
  const secrets = await readSecret(run, 'expand')
  const volumePath = volume.mode === 'Block' ? await resolvePath(step.target, run) : step.target
  const requiredBytes = parseQuantity(wanted.growth.to) ?? 0n
  const grow = async (): Promise<undefined> => {
    await callNode(step, run, (node, ms) =>
      node.nodeExpandVolume(expandRequest(facts, { volumePath, requiredBytes, secrets }), ms),
    )
  }
  return growAndReport(wanted, run, grow, failureOf)
}

/**
 * The driver has no NodeExpandVolume: fine if an old resize controller asks, or if the claim already has its new size (C98,
 * C99).
 */
async function withoutDriver(wanted: ClaimGrowth, run: StepContext): Promise<string | undefined> {
  const driver = run.operation.volume?.driver
  const { procedure } = wanted.growth
  if (procedure === 'updated') return `CSI driver ${driver} expands its volumes without the node`
  if (procedure === 'legacy') return reportGrown(wanted, run)
  throw new StepFailed('DriverRefused', `CSI driver ${driver} does not expand volumes on a node`, {
    hint: "Start the kubelet; if it fails in the same way, ask the driver's vendor.",
  })
}

/** A failure is final only if the driver itself answered (C101). */
function failureOf(failure: unknown): FinalFailure | undefined {
  const { cause } = failure as { cause?: unknown }
  if (!(cause instanceof GrpcError)) return undefined
  return { message: errorMessage(cause), infeasible: INFEASIBLE.has(cause.code) }
}

/** NodeExpandVolume, and what the claim says of it before and after (C96-C102, R455-R461). */

import { type ClaimStatusPatch, failedPatch, finishedPatch, inProgressPatch } from '../../desired/claim-status-patch.ts'
import type { NodeExpansion } from '../../desired/expansion.ts'
import { nodeExpansionWanted } from '../../desired/expansion.ts'
import { parseQuantity } from '../../desired/quantity.ts'
import { errorMessage } from '../../errors.ts'
import { GrpcError } from '../../grpc/grpc-error.ts'
import type { PersistentVolumeClaim } from '../../model/objects.ts'
import type { Step } from '../../plan/plan.ts'
import { withDeadline } from '../deadline.ts'
import { StepFailed } from '../operation-error.ts'
import type { Cluster } from '../ports.ts'
import type { StepContext } from '../step-context.ts'
import { requireAttached } from './csi-attachment.ts'
import { callNode, factsOf, openDriver } from './csi-call.ts'
import { expandRequest } from './csi-requests.ts'
import { readSecret } from './csi-secrets.ts'
import { wantedCsi } from './csi-wanted.ts'
import { resolvePath } from './look-at-path.ts'

/** Without these no further try makes sense (C101). */
const INFEASIBLE = new Set(['INVALID_ARGUMENT', 'OUT_OF_RANGE', 'NOT_FOUND'])

/**
 * Grows the volume on this node, as far as the claim as it is now asks for it.
 *
 * @returns what was left as it is, and why
 */
export async function expandCsiVolume(step: Step, run: StepContext): Promise<string | undefined> {
  const { volume } = wantedCsi(run)
  const claim = await freshClaim(run)
  const growth = nodeExpansionWanted({ ...volume, claim })
  if (growth === undefined) return `its claim asks for nothing of this node any more`
  const { capabilities } = await openDriver(run)
  const facts = factsOf(run, capabilities, await requireAttached(run))
  if (!capabilities.includes('EXPAND_VOLUME')) return withoutDriver(claim, growth, run)
  const secrets = await readSecret(run, 'expand')
  const volumePath = volume.mode === 'Block' ? await resolvePath(step.target, run) : step.target
  const requiredBytes = parseQuantity(growth.to) ?? 0n
  const begun = growth.procedure === 'recovery' ? await patch(run, claim, inProgressPatch(claim)) : claim
  try {
    await callNode(step, run, (node, ms) =>
      node.nodeExpandVolume(expandRequest(facts, { volumePath, requiredBytes, secrets }), ms),
    )
  } catch (error) {
    if (growth.procedure === 'recovery') await tellFailure(run, begun ?? claim, error)
    throw error
  }
  return finish(run, begun, claim, growth)
}

/** Nothing is lost with it: the file system has its new size, and whoever may write it down does so at the next look. */
async function finish(
  run: StepContext,
  begun: PersistentVolumeClaim | undefined,
  claim: PersistentVolumeClaim,
  growth: NodeExpansion,
): Promise<string | undefined> {
  if (growth.procedure === 'updated') return undefined
  const said = begun === undefined ? undefined : await patch(run, begun, finishedPatch(begun, growth.to))
  return said === undefined ? unsaid(claim, growth) : undefined
}

/** "Not supported" is fine where an old resize controller asks, or the claim says all already (C98, C99). */
async function withoutDriver(
  claim: PersistentVolumeClaim,
  growth: NodeExpansion,
  run: StepContext,
): Promise<string | undefined> {
  const driver = run.operation.volume?.driver
  if (growth.procedure === 'updated') return `CSI driver ${driver} has nothing to do on a node`
  if (growth.procedure === 'legacy') return finish(run, claim, claim, growth)
  throw new StepFailed('DriverRefused', `CSI driver ${driver} does not expand volumes on a node`, {
    hint: 'Start the kubelet; if it says the same, ask the maker of the driver.',
  })
}

/** Two more or less of the same name are two claims (S17). */
async function freshClaim(run: StepContext): Promise<PersistentVolumeClaim> {
  const { volume } = wantedCsi(run)
  const { namespace = '', name = '', uid } = volume.persistentVolume?.spec.claimRef ?? {}
  const claim = await asked(run, (cluster) => cluster.getClaim(namespace, name))
  if (claim !== undefined && (uid === undefined || uid === claim.metadata.uid)) return claim
  throw new StepFailed('NoLongerWanted', `claim ${namespace}/${name} is not there any more`, { hint: 'Plan again.' })
}

/** @returns the claim as it is then; undefined where the credential may not write it */
async function patch(
  run: StepContext,
  { metadata: { namespace = '', name } }: PersistentVolumeClaim,
  change: ClaimStatusPatch,
): Promise<PersistentVolumeClaim | undefined> {
  try {
    return await asked(run, (cluster) => cluster.patchClaimStatus(namespace, name, change))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'Forbidden') return undefined
    throw error
  }
}

/** C101; of a call that was given up nothing is known, and nothing is said. */
async function tellFailure(run: StepContext, claim: PersistentVolumeClaim, failure: unknown): Promise<void> {
  const { cause } = failure as { cause?: unknown }
  if (!(cause instanceof GrpcError)) return
  const infeasible = INFEASIBLE.has(cause.code)
  const change = failedPatch(claim, errorMessage(cause), { infeasible, now: new Date().toISOString() })
  if (change === undefined) return
  try {
    await patch(run, claim, change)
  } catch (error) {
    run.say(`its claim could not be told: ${errorMessage(error)}`)
  }
}

async function asked<T>(run: StepContext, ask: (cluster: Cluster) => Promise<T>): Promise<T> {
  return run.waiting.spend((ms) => withDeadline(ask(run.context.cluster), ms, 'the API server'))
}

function unsaid({ metadata: { namespace, name } }: PersistentVolumeClaim, { to }: NodeExpansion): string {
  return `claim ${namespace}/${name} still shows its old size: this credential may not write ${to} into its status, and the kubelet will`
}

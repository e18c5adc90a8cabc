/** The claim's status before and after its volume is expanded on this node (C96-C102, R455-R461). */

import { errorMessage } from '../../base/errors.ts'
import { StepFailed } from '../../base/operation-error.ts'
import type { PersistentVolumeClaim } from '../../kube/api/objects.ts'
import { askCluster } from '../../rules/machine-facts.ts'
import {
  type ClaimStatusPatch,
  failedPatch,
  finishedPatch,
  inProgressPatch,
  type NodeExpansion,
  nodeExpansionWanted,
} from '../../volumes/expansion.ts'
import type { StepContext } from '../operation/step-context.ts'

export interface ClaimGrowth {
  readonly claim: PersistentVolumeClaim
  readonly growth: NodeExpansion
}

/** A failure after which nothing is running any more. */
export interface FinalFailure {
  readonly message: string
  /** No further attempt makes sense until the claim asks for another size. */
  readonly infeasible: boolean
}

export const NOTHING_ASKED = 'the claim no longer asks this node to expand the volume'

/** @returns undefined if the claim no longer asks this node for anything @throws StepFailed NoLongerWanted */
export async function claimGrowth(run: StepContext): Promise<ClaimGrowth | undefined> {
  const { wanted } = run.bringUp
  const { namespace = '', name = '', uid } = wanted?.persistentVolume?.spec.claimRef ?? {}
  const claim = await askCluster(run, (cluster) => cluster.getClaim(namespace, name))
  // A claim of the same name with another UID is another claim (S17).
  if (wanted === undefined || claim === undefined || (uid !== undefined && uid !== claim.metadata.uid))
    throw new StepFailed('NoLongerWanted', `claim ${namespace}/${name} no longer exists`)
  const growth = nodeExpansionWanted({ ...wanted, claim })
  return growth === undefined ? undefined : { claim, growth }
}

/**
 * Expands the volume, and writes to the claim's status before and after.
 *
 * @param grow returns what was left unchanged, and why
 * @param finalFailure undefined for an abandoned call: its result is unknown, so nothing is written (C101)
 * @returns what was left unchanged, and why
 */
export async function growAndReport(
  { claim, growth }: ClaimGrowth,
  run: StepContext,
  grow: () => Promise<string | undefined>,
  finalFailure: (error: unknown) => FinalFailure | undefined,
): Promise<string | undefined> {
  const isRecovery = growth.procedure === 'recovery'
  const begun = isRecovery ? await patch(run, claim, inProgressPatch(claim)) : claim
  let skipped: string | undefined
  try {
    skipped = await grow()
  } catch (error) {
    if (isRecovery) await reportFailure(run, begun ?? claim, finalFailure(error))
    throw error
  }
  const unreported =
    begun === undefined ? notReported({ claim, growth }) : await reportGrown({ claim: begun, growth }, run)
  return [skipped, unreported].filter((each) => each !== undefined).join('; ') || undefined
}

/**
 * Writes the new size into the claim's status. If the credential may not write it, nothing is lost: the file system has its
 * new size, and the kubelet updates the claim.
 *
 * @returns what was left unchanged, and why
 */
export async function reportGrown({ claim, growth }: ClaimGrowth, run: StepContext): Promise<string | undefined> {
  if (growth.procedure === 'updated') return undefined
  const patched = await patch(run, claim, finishedPatch(claim, growth.to))
  return patched === undefined ? notReported({ claim, growth }) : undefined
}

function notReported({ claim: { metadata }, growth: { to } }: ClaimGrowth): string {
  return `claim ${metadata.namespace}/${metadata.name} still shows its old size: this credential may not write ${to} to its status; the kubelet will do so`
}

/** @returns the patched claim; undefined if the credential may not patch it */
async function patch(
  run: StepContext,
  { metadata: { namespace = '', name } }: PersistentVolumeClaim,
  change: ClaimStatusPatch,
): Promise<PersistentVolumeClaim | undefined> {
  try {
    return await askCluster(run, (cluster) => cluster.patchClaimStatus(namespace, name, change))
  } catch (error) {
    if ((error as { status?: unknown }).status === 403) return undefined
    throw error
  }
}

async function reportFailure(
  run: StepContext,
  claim: PersistentVolumeClaim,
  failure: FinalFailure | undefined,
): Promise<void> {
  if (failure === undefined) return
  const { message, infeasible } = failure
  const change = failedPatch(claim, message, { infeasible, now: new Date().toISOString() })
  if (change === undefined) return
  try {
    await patch(run, claim, change)
  } catch (error) {
    run.say(`the failure could not be written to the claim: ${errorMessage(error)}`)
  }
}

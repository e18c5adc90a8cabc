/** What a claim says before and after its volume grows on this node (C96-C102, R455-R461). */
import { type ClaimStatusPatch, failedPatch, finishedPatch, inProgressPatch } from '../../desired/claim-status-patch.ts'
import { type NodeExpansion, nodeExpansionWanted } from '../../desired/expansion.ts'
import { errorMessage } from '../../errors/errors.ts'
import { StepFailed } from '../../errors/operation-error.ts'
import type { PersistentVolumeClaim } from '../../model/objects.ts'
import { withDeadline } from '../../processes/deadline.ts'
import type { Cluster } from '../operation/ports.ts'
import type { StepContext } from '../operation/step-context.ts'

export interface ClaimGrowth {
  readonly claim: PersistentVolumeClaim
  readonly growth: NodeExpansion
}

/** A failure of which it is known that nothing is done any more. */
export interface FinalFailure {
  readonly message: string
  /** No further try makes sense until the claim asks for another size. */
  readonly infeasible: boolean
}

export const NOTHING_ASKED = 'its claim asks for nothing of this node any more'

/** @returns undefined where the claim as it is now asks for nothing of this node @throws StepFailed NoLongerWanted */
export async function claimGrowth(run: StepContext): Promise<ClaimGrowth | undefined> {
  const { wanted } = run.bringUp
  const { namespace = '', name = '', uid } = wanted?.persistentVolume?.spec.claimRef ?? {}
  const claim = await asked(run, (cluster) => cluster.getClaim(namespace, name))
  // Two more or less of the same name are two claims (S17).
  if (wanted === undefined || claim === undefined || (uid !== undefined && uid !== claim.metadata.uid))
    throw new StepFailed('NoLongerWanted', `claim ${namespace}/${name} is not there any more`, { hint: 'Plan again.' })
  const growth = nodeExpansionWanted({ ...wanted, claim })
  return growth === undefined ? undefined : { claim, growth }
}

/**
 * Grows the volume between what the claim says before and what it says after.
 *
 * @param grow returns what was left as it is, and why
 * @param finalFailure undefined of a call that was given up: nothing is known of it, and nothing is said (C101)
 * @returns what was left as it is, and why
 */
export async function growAndTell(
  { claim, growth }: ClaimGrowth,
  run: StepContext,
  grow: () => Promise<string | undefined>,
  finalFailure: (error: unknown) => FinalFailure | undefined,
): Promise<string | undefined> {
  const isRecovery = growth.procedure === 'recovery'
  const begun = isRecovery ? await patch(run, claim, inProgressPatch(claim)) : claim
  let left: string | undefined
  try {
    left = await grow()
  } catch (error) {
    if (isRecovery) await tellFailure(run, begun ?? claim, finalFailure(error))
    throw error
  }
  const unsaid = begun === undefined ? unsaidOf({ claim, growth }) : await tellGrown({ claim: begun, growth }, run)
  return [left, unsaid].filter((each) => each !== undefined).join('; ') || undefined
}

/**
 * Nothing is lost where this credential may not: the file system has its new size, and whoever may write it down does
 * so at the next look.
 *
 * @returns what was left as it is, and why
 */
export async function tellGrown({ claim, growth }: ClaimGrowth, run: StepContext): Promise<string | undefined> {
  if (growth.procedure === 'updated') return undefined
  const said = await patch(run, claim, finishedPatch(claim, growth.to))
  return said === undefined ? unsaidOf({ claim, growth }) : undefined
}

function unsaidOf({ claim: { metadata }, growth: { to } }: ClaimGrowth): string {
  return `claim ${metadata.namespace}/${metadata.name} still shows its old size: this credential may not write ${to} into its status, and the kubelet will`
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

async function tellFailure(
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
    run.say(`its claim could not be told: ${errorMessage(error)}`)
  }
}

async function asked<T>(run: StepContext, ask: (cluster: Cluster) => Promise<T>): Promise<T> {
  return run.waiting.spend((ms) => withDeadline(ask(run.context.cluster), ms, 'the API server'))
}

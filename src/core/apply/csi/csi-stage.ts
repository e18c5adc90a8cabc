/** NodeStageVolume (C49, C52). */

import { StepFailed } from '../../errors/operation-error.ts'
import type { Undo } from '../../errors/undo.ts'
import type { Step } from '../../plan/plan.ts'
import type { StepContext } from '../operation/step-context.ts'
import { requireAttached } from './csi-attachment.ts'
import { callNode, factsOf, openDriver } from './csi-call.ts'
import { stageRequest } from './csi-requests.ts'
import { readSecret } from './csi-secrets.ts'

/** A staged volume is not unstaged if publishing fails: the next attempt uses it, or the last pod's tear-down unstages it (C54). */
export async function nodeStageVolume(step: Step, run: StepContext): Promise<readonly Undo[]> {
  const { capabilities } = await openDriver(run)
  if (!capabilities.includes('STAGE_UNSTAGE_VOLUME')) {
    throw new StepFailed('Changed', `CSI driver ${run.operation.volume?.driver} no longer stages volumes`, {
      hint: 'Plan again.',
    })
  }
  const facts = factsOf(run, capabilities, await requireAttached(run), step.label)
  const secrets = await readSecret(run, 'stage')
  await callNode(step, run, (node, ms) => node.nodeStageVolume(stageRequest(facts, secrets), ms))
  run.around.changed()
  const keeps = 'it stays staged while a pod of this node wants it'
  return [{ what: `the volume staged at ${step.target}`, back: () => Promise.reject(new Error(keeps)) }]
}

/** What must still hold right before a volume is brought up (S22, S26). */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../desired/pods.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import type { Operation } from '../../plan/plan.ts'
import type { ApplyContext, Witness } from '../operation/ports.ts'

/**
 * The pod is in a fresh list, is not ending, and wants this very volume.
 *
 * @returns the volume as it is wanted now
 * @throws OperationRefused
 */
export function requireWanted({ pod, volume }: Operation, witness: Witness, context: ApplyContext): VolumeToMount {
  const found =
    witness.apiPods.find((each) => !isMirrorPod(each) && each.metadata.uid === pod?.uid) ??
    witness.apiPods.find((each) => onDiskUid(each) === pod?.uid)
  if (found === undefined)
    throw new OperationRefused('PodMissing', `pod ${pod?.uid} is not in the API any more`, { hint: 'Plan again.' })
  const isAlive = protectedUids(found).some((uid) => witness.alive.has(uid))
  if (isTerminalPhase(found) || (isTerminating(found) && !isAlive))
    throw new OperationRefused('PodEnding', `pod ${pod?.uid} is ending`, { hint: 'Plan again.' })
  const wanted = volume?.uniqueName === undefined ? undefined : context.wanted(found, volume.uniqueName)
  if (wanted === undefined) {
    throw new OperationRefused('NoLongerWanted', `pod ${pod?.uid} does not want ${volume?.uniqueName} any more`, {
      hint: 'Plan again.',
    })
  }
  return wanted
}

/** Checks right before a volume is set up (S22, S26). */
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { isMirrorPod, isTerminalPhase, isTerminating, onDiskUid, protectedUids } from '../../desired/pods.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import type { Operation } from '../../plan/plan.ts'
import type { ApplyContext, Witness } from '../operation/ports.ts'

/**
 * The pod must be in a fresh list, must not be terminating or finished, and must want this very volume.
 *
 * @returns the volume as it is wanted now
 * @throws OperationRefused
 */
export function requireWanted({ pod, volume }: Operation, witness: Witness, context: ApplyContext): VolumeToMount {
  const found =
    witness.apiPods.find((each) => !isMirrorPod(each) && each.metadata.uid === pod?.uid) ??
    witness.apiPods.find((each) => onDiskUid(each) === pod?.uid)
  if (found === undefined)
    throw new OperationRefused('PodMissing', `pod ${pod?.uid} is no longer in the API`, { hint: 'Plan again.' })
  const isAlive = protectedUids(found).some((uid) => witness.alive.has(uid))
  if (isTerminalPhase(found) || (isTerminating(found) && !isAlive))
    throw new OperationRefused('PodEnding', `pod ${pod?.uid} is terminating or has ended`, { hint: 'Plan again.' })
  const wanted = volume?.uniqueName === undefined ? undefined : context.wanted(found, volume.uniqueName)
  if (wanted === undefined) {
    throw new OperationRefused('NoLongerWanted', `pod ${pod?.uid} no longer wants ${volume?.uniqueName}`, {
      hint: 'Plan again.',
    })
  }
  return wanted
}

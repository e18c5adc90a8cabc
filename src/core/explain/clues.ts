/** What to do that no plan says: what the API still waits for, and what is left when the volumes are down. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { PlanOptions } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { Concern } from './concerns.ts'

/** @param uids of pods that are explained as a whole */
export function cluesOn(
  { inputs, classes }: PlanContext,
  uids: readonly string[],
  concern: Concern,
  options: PlanOptions,
): string[] {
  return uids.flatMap((uid) => {
    const found = classes.of(uid)
    if (found === undefined) return []
    return [...deletionClues(inputs, found, concern), ...directoryClues(inputs, found, concern, options)]
  })
}

/** A pod that the API lists and that is being deleted goes when its kubelet says so, and nobody's finalizer is left. */
function deletionClues(
  { snapshot }: ActualInputs,
  { pod, class: name }: PodClass,
  { operations, waiting }: Concern,
): string[] {
  if (pod?.metadata.deletionTimestamp === undefined) return []
  const { finalizers = [] } = pod.metadata
  const isUp = snapshot.kubelet?.running === true
  return [
    ...(name === 'Frozen' && !isUp
      ? [
          `Nobody ends its containers while the kubelet is down: start the kubelet, or stop them (crictl pods --label io.kubernetes.pod.uid=${pod.metadata.uid} -q | xargs -r crictl stopp).`,
        ]
      : []),
    ...(name === 'Finished' && !isUp
      ? [
          `${operations.length > 0 ? 'Then start' : 'Start'} the kubelet: nobody else tells the API that the pod has ended, and may go.`,
        ]
      : []),
    ...(name === 'Finished' && isUp && waiting.length === 0
      ? ['The kubelet runs, and is to tell the API that the pod has ended: look at its log if it does not.']
      : []),
    ...(finalizers.length > 0
      ? [
          `The API keeps the pod until its finalizers are taken off: ${finalizers.join(', ')}. Ask who set them; they have nothing to do with its volumes.`,
        ]
      : []),
  ]
}

function directoryClues(
  inputs: ActualInputs,
  { uid, class: name }: PodClass,
  { decisions }: Concern,
  { orphans }: PlanOptions,
): string[] {
  const directory = inputs.absolute(`pods/${uid}`)
  // R612 alone is the decision that the directory may go, if it is asked for.
  const mayGo = decisions.some(({ path, rule }) => path === directory && rule === 'R612')
  return name === 'Gone' && !orphans && mayGo
    ? [`Its directory stays: volctl plan --orphans --pod ${uid} shows what goes with it.`]
    : []
}

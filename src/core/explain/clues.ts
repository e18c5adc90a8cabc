/** What to do that no plan says: what the API still waits for, and what is left when the volumes are down. */
import type { ActualInputs } from '../actual/actual-inputs.ts'
import type { PlanOptions } from '../plan/plan.ts'
import { stopPod } from '../plan/stop-pod.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { howToStart } from '../reconcile/context/kubelet-unit.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { AdviceClues } from './advice.ts'
import type { Concern } from './concern.ts'

/** @param uids of pods that are explained as a whole */
export function cluesOn(
  { inputs, classes }: PlanContext,
  uids: readonly string[],
  concern: Concern,
  options: PlanOptions,
): AdviceClues {
  const found = uids.flatMap((uid) => classes.of(uid) ?? [])
  const more = found.flatMap((pod) => [
    ...deletionClues(inputs, pod, concern),
    ...directoryClues(inputs, pod, concern, options),
  ])
  const urgent = found.flatMap((pod) => stopClues(inputs, pod))
  return { urgent: urgent.map((text) => ({ text })), more: more.map((text) => ({ text })) }
}

/** Nothing of a pod comes down before its containers have stopped. */
function stopClues({ snapshot: { kubelet } }: ActualInputs, { pod, class: name }: PodClass): string[] {
  if (pod?.metadata.deletionTimestamp === undefined || name !== 'Frozen' || kubelet?.running === true) return []
  return [
    `Without a kubelet nothing stops the pod's containers: ${howToStart(kubelet)}, or stop them: ${stopPod(pod.metadata.uid)}`,
  ]
}

/** A terminating pod is deleted from the API once its kubelet reports that it has ended, and no finalizer is left. */
function deletionClues(
  { snapshot }: ActualInputs,
  { pod, class: name }: PodClass,
  { operations, waiting }: Concern,
): string[] {
  if (pod?.metadata.deletionTimestamp === undefined) return []
  const { finalizers = [] } = pod.metadata
  const { kubelet } = snapshot
  const isUp = kubelet?.running === true
  const log = kubelet?.unit === undefined ? '' : ` (journalctl -u ${kubelet.unit})`
  return [
    ...(name === 'Finished' && !isUp
      ? [
          `${operations.length > 0 ? 'Then' : 'Next,'} ${howToStart(kubelet)}: only the kubelet reports to the API server that the pod has ended and may be deleted.`,
        ]
      : []),
    ...(name === 'Finished' && isUp && waiting.length === 0
      ? [`The kubelet has to report to the API server that the pod has ended; if it does not, read its log${log}.`]
      : []),
    ...(finalizers.length > 0
      ? [
          `The API server keeps the pod until its finalizers are removed: ${finalizers.join(', ')}. Find out which controller set them; they do not concern the pod's volumes.`,
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
    ? [`The pod's directory is left: volctl plan --orphans --pod ${uid} shows what would be deleted.`]
    : []
}

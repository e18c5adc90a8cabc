/** What is said of a pod: how it is judged, and what is to be known or done that no plan says. */

import type { ActualInputs } from '../actual/actual-inputs.ts'
import { commandLine } from '../lang/command.ts'
import { defined } from '../lang/defined.ts'
import type { Scope } from '../ledger/whose.ts'
import { stopPod } from '../plan/kubelet-units.ts'
import type { Plan } from '../plan/plan.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { howToStart } from '../reconcile/context/kubelet-unit.ts'
import { podVerdict } from '../reconcile/decisions.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'
import type { PodView } from './explanation.ts'

/** @param uids of pods that are explained as a whole */
export function podNotes(
  { inputs, classes }: PlanContext,
  uids: readonly string[],
  { operations, waiting }: Pick<Plan, 'operations' | 'waiting'>,
): string[] {
  return uids.flatMap((uid) => {
    const found = classes.of(uid)
    if (found?.pod?.metadata.deletionTimestamp === undefined) return []
    return [...endingNotes(inputs, found, operations.length + waiting.length > 0), ...finalizerNotes(found.pod)]
  })
}

/** A pod that is being deleted goes from the API once its kubelet reports that it has ended. */
function endingNotes(
  { snapshot: { kubelet } }: ActualInputs,
  { uid, class: name }: PodClass,
  isBusy: boolean,
): string[] {
  const isUp = kubelet?.running === true
  if (name === 'Frozen' && !isUp)
    return [
      `Without a kubelet nothing stops the pod's containers: ${howToStart(kubelet)}, or stop them: ${commandLine(...stopPod(uid))}`,
    ]
  if (name !== 'Finished' || (isUp && isBusy)) return []
  if (!isUp)
    return [
      `Then ${howToStart(kubelet)}: only the kubelet reports to the API server that the pod has ended and may be deleted`,
    ]
  const log = kubelet?.unit === undefined ? '' : ` (${commandLine('journalctl', '-u', kubelet.unit)})`
  return [`The kubelet has to report to the API server that the pod has ended; if it does not, read its log${log}`]
}

function finalizerNotes({ metadata: { finalizers = [] } }: NonNullable<PodClass['pod']>): string[] {
  return finalizers.length === 0
    ? []
    : [
        `The API server keeps the pod until its finalizers are removed: ${finalizers.join(', ')}; they do not concern its volumes`,
      ]
}

/** Pods that are asked about, then those of the volumes. */
export function podViews(context: PlanContext, { pods, volumes }: Scope): PodView[] {
  const uids = new Set([...pods, ...(pods.length > 0 ? [] : volumes.flatMap(({ podUids }) => [...podUids]))])
  return [...uids].flatMap((uid) => podView(context, uid) ?? [])
}

function podView({ classes, witnesses }: PlanContext, uid: string): PodView | undefined {
  const found = classes.of(uid)
  if (found === undefined) return undefined
  const { pod, ref } = found
  const [rule, why] = podVerdict(found)
  const { phase } = { ...pod?.status }
  const { deletionTimestamp } = { ...pod?.metadata }
  return {
    pod: ref,
    class: found.class,
    rule,
    why,
    listed: pod !== undefined,
    ...defined({ phase, deletedAt: deletionTimestamp }),
    signsOfLife: witnesses.signsOfLife(uid),
  }
}

/** What a plan would be once the kubelet is stopped, and whether anything needs that (S35). Pure. */

import type { NodeState } from '../../facts/actual/snapshot.ts'
import type { Pod } from '../../kube/api/objects.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import { readyAmong } from '../../plan/plan-summary.ts'
import { podOf } from '../../plan/subject.ts'
import { isTerminating, onDiskUid } from '../../volumes/pods.ts'
import type { UnitFacts } from './unit-facts.ts'

/** The node as it will be: all but the kubelet stays, and a container runtime that the unit runs as well answers no more. */
export function onceStopped({ snapshot, mounts }: NodeState, facts: UnitFacts | undefined): NodeState {
  const { running: _, mayReturn: __, pid: ___, note: ____, ...kubelet } = { ...snapshot.kubelet }
  const { runtime } = snapshot
  const gone = facts?.runsRuntime === true && runtime !== undefined && runtime.source !== 'none'
  return {
    mounts,
    snapshot: {
      ...snapshot,
      kubelet: { ...kubelet, running: false, mayReturn: false, note: 'to be stopped for this apply' },
      ...(gone && { runtime: { ...runtime, source: 'none', pods: [], error: `it stops with ${facts.unit}` } }),
    },
  }
}

export interface Needed {
  /** What volctl would do once the kubelet is stopped. */
  readonly stopped: Plan
  /** What it would do now. */
  readonly running: Plan
  readonly pods: readonly Pod[]
  readonly settleMs: number
}

/**
 * The operations for which the kubelet has to be stopped: ready then, and not now. What concerns a pod that began or ended
 * within the settle time does not count: the kubelet is at work on it.
 */
export function needStop({ stopped, running, pods, settleMs }: Needed): readonly Operation[] {
  const now = readyAmong(running.operations)
  const then = readyAmong(stopped.operations)
  const limit = Date.parse(stopped.createdAt) - settleMs
  const young = new Set(pods.filter((pod) => changedAt(pod) > limit).map(onDiskUid))
  return stopped.operations.filter(
    ({ id, subject }) => then.has(id) && !now.has(id) && !young.has(podOf(subject) ?? ''),
  )
}

/** When the pod began, or was deleted, in milliseconds since the epoch; an unknown time is just now. */
function changedAt(pod: Pod): number {
  const { creationTimestamp, deletionTimestamp } = pod.metadata
  const at = Date.parse((isTerminating(pod) ? deletionTimestamp : creationTimestamp) ?? '')
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at
}

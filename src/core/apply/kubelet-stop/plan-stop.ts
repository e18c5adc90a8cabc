/** What a plan would be once the kubelet is stopped, and whether anything needs that (S35). Pure. */

import { formatDuration } from '../../base/text.ts'
import type { Pod } from '../../kube/api/objects.ts'
import { usageError } from '../../messages/findings.ts'
import type { UnitFacts } from '../../node/kubelet/stoppable.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import { readyAmong } from '../../plan/plan-summary.ts'
import { podOf } from '../../volumes/finding.ts'
import { isTerminating, onDiskUid } from '../../volumes/pods.ts'
import type { NodeState } from '../../volumes/snapshot.ts'

/** The node as it will be: all but the kubelet stays, and a container runtime that the unit runs as well answers no more. */
export function onceStopped({ snapshot, mounts }: NodeState, facts: UnitFacts | undefined): NodeState {
  const { kubelet, runtime } = snapshot
  const gone = facts?.runsRuntime === true && runtime !== undefined && runtime.source !== 'none'
  return {
    mounts,
    snapshot: {
      ...snapshot,
      kubelet: { ...kubelet, pid: undefined, running: false, mayReturn: false, note: 'to be stopped for this apply' },
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

// How the time is divided in which the kubelet is down.

interface AskedTimes {
  /** --max-downtime */
  readonly maxMs: number
  /** --settle */
  readonly settleMs: number
  /** --timeout, if it was given. */
  readonly timeoutMs: number | undefined
  /** Its default. */
  readonly defaultTimeoutMs: number
}

/** For one operation, and kept for the start of the kubelet. */
export type TimeLimits = ReturnType<typeof timeLimits>

const START_MS = 5000
/** An operation may take a quarter of the time after the wait, so that more than one can be begun. */
const PARTS = 4
/** The start takes an eighth at most. */
const START_PARTS = 8
const LEAST_ROOM_MS = 1000

/** @throws VolctlError Usage: no operation could begin, since it could not end in time */
export function timeLimits({ maxMs, settleMs, timeoutMs, defaultTimeoutMs }: AskedTimes) {
  const room = maxMs - settleMs
  const startMs = Math.max(0, Math.min(START_MS, room / START_PARTS))
  const operationMs = timeoutMs ?? Math.min(defaultTimeoutMs, room / PARTS)
  // What sets up a volume may need as long again to take it back.
  const least = Math.max(LEAST_ROOM_MS, timeoutMs === undefined ? 0 : 2 * timeoutMs + START_MS)
  if (room >= least) return { operationMs, startMs }
  const sentence = timeoutMs === undefined ? 'Usage.noTime' : 'Usage.noTimeForOne'
  throw usageError(sentence, `Give --max-downtime ${formatDuration(settleMs + 2 * least)}.`, {
    maxDowntime: formatDuration(maxMs),
    settle: formatDuration(settleMs),
    timeout: timeoutMs && formatDuration(timeoutMs),
  })
}

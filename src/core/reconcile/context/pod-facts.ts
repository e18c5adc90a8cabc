/** Facts about one pod that several phases use. */

import { rfc3339 } from '../../base/rfc3339.ts'
import type { ActualInputs } from '../../facts/actual/actual-inputs.ts'
import type { PodVolume } from '../../facts/actual/pod-volumes.ts'
import type { Pod } from '../../kube/api/objects.ts'
import type { Wait } from '../../plan/draft.ts'
import { containerStatusesOf } from '../../volumes/pods.ts'
import type { PodClass } from '../pods/pod-classes.ts'
import { type PlanContext, waitForKubelet } from './context.ts'
import { leftUnread, unreadWithin } from './unread.ts'

/**
 * S11 for leftovers of an orphaned pod: while a kubelet runs, volctl acts only on what has not changed for the settle time.
 * Unknown, zero and future times count as just now (S28).
 */
export function waitToSettle(context: PlanContext, pod: PodClass): Wait | undefined {
  if (context.kubelet.state === 'stopped') return waitForKubelet(context)
  const { inputs, options, now, cautiousNow } = context
  const { settleMs } = options
  // When anything of this pod last changed, in seconds of this host's clock: on disk and, if the pod has ended, in the API.
  const times = [...timesOnDisk(inputs, pod), ...(pod.pod === undefined ? [] : endTimes(inputs, pod.pod))]
  const isKnown = times.length > 0 && times.every((time) => time !== undefined && time > 0)
  // Of more times than a call takes arguments, too.
  const last = isKnown ? times.reduce<number>((newest, time = 0) => Math.max(newest, time), 0) * 1000 : undefined
  if (last !== undefined && last <= cautiousNow - settleMs) return undefined
  return {
    code: 'Settling',
    message: `pod ${pod.uid} changed less than ${settleMs / 1000} s ago; the kubelet may still be cleaning it up`,
    hint: 'Plan again later: a kubelet that can clean up does so within seconds. Or give a shorter --settle.',
    // Not where one of the times is unknown, or in the future (S28).
    ...(last !== undefined && last <= now && { until: rfc3339(last + settleMs) }),
  }
}

/**
 * When the pod and each of its containers ended, by the API. The kubelet tears the volumes down right after that, and touches
 * no directory before (S11); a pod counts as ended just now if nothing says when it ended (S28).
 */
function endTimes({ snapshot }: ActualInputs, pod: Pod): (number | undefined)[] {
  const { metadata, status } = pod
  const times = [
    metadata.deletionTimestamp,
    ...(status?.conditions ?? []).map((condition) => condition.lastTransitionTime),
    ...containerStatusesOf(pod).map(({ state }) => state?.terminated?.finishedAt),
  ].flatMap((time) => (time == null ? [] : [(Date.parse(time) - (snapshot.api?.clockSkewMs ?? 0)) / 1000]))
  return times.length === 0 ? [undefined] : times
}

/** Times of the files that the kubelet made for this pod, without the content of volumes. */
function timesOnDisk(inputs: ActualInputs, pod: PodClass): (number | undefined)[] {
  const { tree } = inputs
  const base = `pods/${pod.uid}`
  const parts = ['volumes', 'volumeDevices', 'volume-subpaths'].map((part) => `${base}/${part}`)
  const entries = parts
    .flatMap((part) => tree.children(part))
    .flatMap((plugin) => [plugin, ...tree.children(plugin.path)])
  const states = entries.map(({ path }) => `${path}/vol_data.json`)
  const others = [base, ...parts, `${base}/plugins`, `${base}/containers`, ...states].flatMap(
    (path) => tree.get(path) ?? [],
  )
  return [...entries, ...others].filter(({ path }) => inputs.at(path).length === 0).map(({ mtime }) => mtime)
}

/** R405: a volume of an orphaned or finished pod with nothing left to tear down. */
export function leaveEmpty({ inputs, ledger, findings }: PlanContext, volume: PodVolume): void {
  const { dir } = volume
  const unread = unreadWithin(inputs, dir)
  const directory = inputs.tree.has(dir)
    ? "its directory is removed with the pod's directory (--orphans)"
    : 'it has no directory'
  findings.left.push({
    path: inputs.absolute(dir),
    subject: ledger.of(volume),
    ...(unread === undefined
      ? { rule: 'R405', why: `the volume is not mounted or set up, and has no state file; ${directory}` }
      : leftUnread(unread)),
  })
}

/** Pods that do not start for a volume's sake, each with its cause. */

import { describePod, kubectl } from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { remedyOf } from '../../messages/codes.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { RowKey } from '../../plan/subject.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { type ClusterFindings, ofPod, type Said, saidOf, unresolvedKey } from '../model/findings.ts'
import { isWanted, podsOf, type Want } from '../model/rows.ts'
import { isExclusive, type UnresolvedPodVolume, volumeKey, volumeLabel, volumeRef } from '../model/volumes.ts'
import { whyNotYet } from './attach-volumes.ts'

interface Cause {
  readonly text: string
  readonly hint: string
}

/** One problem for each pod: its first cause. Of pods that run, and of those that were just created, nothing is said. */
export function reportPods(context: ClusterContext, findings: ClusterFindings): void {
  const done = new Set<ClusterPod>()
  const rows = saidOf(findings)
  const say = (pod: ClusterPod, cause: Cause | undefined, row?: RowKey): void => {
    if (cause === undefined || done.has(pod)) return
    done.add(pod)
    const text = `pod ${namespacedName(pod)}${onNode(pod)} does not start: ${cause.text}`
    // What this plan attaches nobody has to do anything about before.
    const severity = row !== undefined && rows.get(row)?.is === 'ready' ? 'info' : 'warning'
    findings.problem(severity, 'PodWaitsForVolume', text, ofPod(pod), cause.hint, omitUndefined({ row }))
  }
  for (const unresolved of context.rows.unresolved) {
    if (unresolved.cause === 'Unknown') reportUnknown(findings, unresolved)
    else if (waits(context, unresolved.pod)) say(unresolved.pod, causeOf(unresolved))
  }
  for (const want of context.rows.all().filter(isWanted)) {
    const waiting = podsOf(want).filter((pod) => waits(context, pod))
    if (waiting.length === 0) continue
    const row = volumeKey(want.node, want.uniqueName)
    const cause = causeOfWant(context, want, rows.get(row))
    for (const pod of waiting) say(pod, cause, row)
  }
  for (const { pod, fault } of context.rows.unscheduled) {
    if (fault !== undefined && waits(context, pod)) say(pod, { text: fault, hint: seePod(pod) })
  }
  for (const pod of context.state.pods) if (waits(context, pod)) say(pod, unschedulable(pod))
}

function onNode({ node }: ClusterPod): string {
  return node === undefined ? '' : ` on node ${node}`
}

/** A pod of a node that does not exist is another problem. */
function waits(context: ClusterContext, { node, started, terminated, deletedAt, createdAt }: ClusterPod): boolean {
  if (node !== undefined && context.objects.node(node).state === 'Absent') return false
  return !started && !terminated && deletedAt === undefined && context.isSettled(createdAt)
}

function seePod(pod: ClusterPod): string {
  return `See its events: ${describePod(pod)}`
}

/** S3: not known is not wrong, but what it may be is held. */
function reportUnknown(findings: ClusterFindings, unresolved: UnresolvedPodVolume): void {
  const { pod, name, message } = unresolved
  findings.incomplete(
    'MayBeInUse',
    `volume ${name} of pod ${namespacedName(pod)}${onNode(pod)} is not known: ${message}`,
    { ...ofPod(pod), subject: { row: unresolvedKey(unresolved), pod: pod.uid } },
    "Nothing that the volume may be is detached there. Use a credential that may read the pod's claim and PersistentVolume.",
  )
}

function causeOf({ pod, message: text, claimName, cause, persistentVolumeName }: UnresolvedPodVolume): Cause {
  if (claimName === undefined) return { text, hint: seePod(pod) }
  const describe = kubectl('describe', 'pvc', '-n', pod.namespace, claimName)
  if (cause !== 'Absent') return { text, hint: `See the events of the claim: ${describe}` }
  const there =
    persistentVolumeName === undefined
      ? `Claims that exist: ${kubectl('get', 'pvc', '-n', pod.namespace)}`
      : `What is there: ${describe}`
  return { text, hint: `Create the claim again, or delete the pod. ${there}` }
}

/** What is said of the volume there is why the pod waits; where only an attach is waited for, what the node lacks for that. */
function causeOfWant(context: ClusterContext, want: Want, said: Said | undefined) {
  const { volume, pods } = want
  const [other] = want.others
  if (pods.length === 0 && other !== undefined)
    return other.why === 'Unusable' ? { text: other.fault ?? '', hint: seePod(other.pod) } : undefined
  const { driver } = volume
  const node = context.node(want.node)
  const having = isExclusive(volume) ? context.rows.nodesWith(want.uniqueName) : want.attached
  const isLeft = said?.is === 'waiting' && having.length === 0
  const lack = isLeft && node !== undefined && driver !== undefined ? whyNotYet(context, node, driver) : undefined
  const why = lack ?? said
  const [pod] = pods
  if (why === undefined || pod === undefined) return undefined
  // A problem names its volume itself.
  const label = why === said && said.is === 'wrong' ? '' : `volume ${volumeLabel(volumeRef(volume))}: `
  return { text: `${label}${why.message}`, hint: why.hint ?? (why.code && remedyOf(why.code)) ?? seePod(pod) }
}

/** The scheduler's own words, where they are about volumes. */
function unschedulable(pod: ClusterPod): Cause | undefined {
  const { unschedulable: words } = pod
  if (pod.node !== undefined || words === undefined || !/volume|persistentvolumeclaim|\bpvc\b/i.test(words))
    return undefined
  return { text: `the scheduler finds no node for it: ${words}`, hint: seePod(pod) }
}

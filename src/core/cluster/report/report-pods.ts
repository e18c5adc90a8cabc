/** Pods that do not start for a volume's sake, each with its cause. */

import { kubectl, volctl } from '../../lang/command.ts'
import { defined } from '../../lang/defined.ts'
import { attachmentName } from '../../model/volume-names.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type RowKey, rowsOf } from '../../plan/subject.ts'
import { whyNotYet } from '../attach/attach-volumes.ts'
import {
  type ClusterContext,
  isControllerAlive,
  isSettled,
  lookAtController,
  nodeOf,
} from '../context/cluster-context.ts'
import { attacherLease, isStale, lookAtWhoDetaches } from '../context/drivers.ts'
import { type ClusterFindings, ofPod } from '../context/findings.ts'
import { describePod, lookAtNode } from '../context/kubectl.ts'
import { unresolvedKey, volumeKey } from '../context/names.ts'
import type { Want } from '../desired/desired-attachments.ts'
import type { UnresolvedPodVolume } from '../desired/pod-volume.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { volumeLabel, volumeRef } from '../model/known-volume.ts'

interface Cause {
  readonly text: string
  readonly hint: string
  /** What is said of this volume on this node may have said it already. */
  readonly row?: RowKey
}

/** One problem for each pod: its first cause. Of pods that run, and of those that were just created, nothing is said. */
export function reportPods(context: ClusterContext, findings: ClusterFindings): void {
  const said = new Set<ClusterPod>()
  const ready = readyRows(findings)
  const say = (pod: ClusterPod, cause: Cause | undefined): void => {
    if (cause === undefined || said.has(pod)) return
    said.add(pod)
    const text = `pod ${namespacedName(pod)}${onNode(pod)} does not start: ${cause.text}`
    const severity = cause.row !== undefined && ready.has(cause.row) ? 'info' : 'warning'
    findings.problem(severity, 'PodWaitsForVolume', text, ofPod(pod), cause.hint, defined({ row: cause.row }))
  }
  for (const unresolved of context.desired.unresolved) {
    if (unresolved.cause === 'Unknown') reportUnknown(findings, unresolved)
    else if (waits(context, unresolved.pod)) say(unresolved.pod, causeOf(unresolved))
  }
  for (const want of context.desired.all()) {
    const waiting = [...want.pods, ...want.others.map(({ pod }) => pod)].filter((pod) => waits(context, pod))
    const why = waiting.length === 0 ? undefined : causeOfWant(context, want)
    const cause = why && { ...why, row: volumeKey(want.node, want.volume.uniqueName) }
    for (const pod of waiting) say(pod, cause)
  }
  for (const { pod, fault } of context.desired.unscheduled) {
    if (fault !== undefined && waits(context, pod)) say(pod, { text: fault, hint: seePod(pod) })
  }
  for (const pod of context.state.pods) if (waits(context, pod)) say(pod, unschedulable(pod))
}

/** What this plan attaches: nobody has to do anything about it before. */
function readyRows({ operations }: ClusterFindings): ReadonlySet<RowKey> {
  const ready = operations.filter((each) => [each, ...each.after].every(({ blocked }) => blocked === undefined))
  return new Set(ready.flatMap(({ subject }) => rowsOf(subject)))
}

function onNode({ node }: ClusterPod): string {
  return node === undefined ? '' : ` on node ${node}`
}

/** A pod of a node that does not exist is another problem. */
function waits(context: ClusterContext, { node, started, terminated, deletedAt, createdAt }: ClusterPod): boolean {
  if (node !== undefined && context.objects.node(node).state === 'Absent') return false
  return !started && !terminated && deletedAt === undefined && isSettled(context, createdAt)
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

function causeOf({ pod, message: text, claim, cause, persistentVolume }: UnresolvedPodVolume): Cause {
  if (claim === undefined) return { text, hint: seePod(pod) }
  const isMissing = cause === 'Absent' && persistentVolume === undefined
  if (isMissing) {
    const list = kubectl('get', 'pvc', '-n', pod.namespace)
    return { text, hint: `Create the claim again, or delete the pod. Claims that exist: ${list}` }
  }
  const describe = kubectl('describe', 'pvc', '-n', pod.namespace, claim.slice(claim.indexOf('/') + 1))
  return cause === 'Absent'
    ? { text, hint: `Create the claim again, or delete the pod. What is there: ${describe}` }
    : { text, hint: `See the events of the claim: ${describe}` }
}

function causeOfWant(context: ClusterContext, want: Want): Cause | undefined {
  const [other] = want.others
  if (want.pods.length === 0 && other !== undefined) {
    return other.why === 'Unusable' ? { text: other.fault ?? '', hint: seePod(other.pod) } : undefined
  }
  return heldElsewhere(context, want) ?? notAttached(context, want) ?? notReported(context, want)
}

function heldElsewhere({ actual }: ClusterContext, { volume, node }: Want): Cause | undefined {
  if (!volume.exclusive || actual.on(node, volume.uniqueName).length > 0) return undefined
  const other = [
    ...actual.ofVolume(volume.uniqueName).map(({ object }) => object.node),
    ...actual.nodesUsing(volume.uniqueName),
  ].find((each) => each !== node)
  if (other === undefined) return undefined
  return {
    text: `volume ${volumeLabel(volumeRef(volume))} is still attached to node ${other}, and only one node may have it`,
    hint: `See what keeps the volume there: ${volctl('plan', '--cluster', '--node', other)}`,
  }
}

function notAttached(context: ClusterContext, { volume, node }: Want): Cause | undefined {
  const { driver, handle } = volume
  if (driver === undefined || handle === undefined) return undefined
  const label = volumeLabel(volumeRef(volume))
  const name = attachmentName(handle, driver, node)
  const found = context.objects.attachment(name)
  if (found.state === 'Unknown') return undefined
  if (found.state === 'Absent') return noAttachment(context, label, node, driver)
  const { attached, attachError, deletedAt } = found.object
  const look = lookAtWhoDetaches(context, name, driver)
  if (deletedAt !== undefined)
    return { text: `VolumeAttachment ${name} of volume ${label} is being deleted since ${deletedAt}`, hint: look }
  if (attached === true) return undefined
  if (attachError !== undefined)
    return { text: `volume ${label} could not be attached: ${attachError.message}`, hint: look }
  const lease = attacherLease(context, driver)
  const isSilent = lease !== undefined && isStale(context, lease)
  const text = isSilent
    ? `volume ${label} waits for the external attacher of driver ${driver}, which does not run`
    : `volume ${label} waits for the external attacher of driver ${driver}`
  return { text, hint: look }
}

function noAttachment(context: ClusterContext, label: string, name: string, driver: string): Cause | undefined {
  const node = nodeOf(context, name)
  // What is wanted on a node that is not known is nobody's to attach.
  if (node === undefined) return undefined
  const why = whyNotYet(context, node, driver)
  if (why !== undefined)
    return { text: `volume ${label} is not attached, and ${why.message}`, hint: why.hint ?? lookAtNode(name) }
  return isControllerAlive(context)
    ? {
        text: `volume ${label} is not attached: the controller has not created its VolumeAttachment`,
        hint: 'Look at the log of kube-controller-manager.',
      }
    : {
        text: `volume ${label} is not attached, and no attach/detach controller runs`,
        hint: 'Let kube-controller-manager run again. What volctl would do instead: volctl plan --cluster',
      }
}

function notReported(context: ClusterContext, { volume, node }: Want): Cause | undefined {
  if (volume.driver === undefined || context.actual.isConfirmed(node, volume.uniqueName)) return undefined
  return {
    text: `volume ${volumeLabel(volumeRef(volume))} is attached, and volumesAttached of node ${node}, for which its kubelet waits, does not list it`,
    hint: `Only the controller writes that list: ${lookAtController(context)}.`,
  }
}

/** The scheduler's own words, where they are about volumes. */
function unschedulable(pod: ClusterPod): Cause | undefined {
  const { unschedulable: words } = pod
  if (pod.node !== undefined || words === undefined || !/volume|persistentvolumeclaim|\bpvc\b/i.test(words))
    return undefined
  return { text: `the scheduler finds no node for it: ${words}`, hint: seePod(pod) }
}

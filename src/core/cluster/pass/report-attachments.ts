/**
 * VolumeAttachments that are odd in themselves, or that nobody brings to an end; volumes that only one node may have, and several have
 * or want; and pods that do not start for a volume's sake.
 */

import { compareText, take } from '../../base/text.ts'
import { namespacedName } from '../../kube/api/names.ts'
import { type ProblemCode, remedyOf } from '../../messages/codes.ts'
import {
  type Advice,
  advice,
  deletePod,
  describeAttachment,
  describePod,
  type Hint,
  kubectl,
  planCluster,
  planNodeGone,
  taintOutOfService,
  volctlThere,
  whoCreated,
} from '../../messages/command.ts'
import { type Finding, said } from '../../messages/findings.ts'
import type { Severity } from '../../plan/plan.ts'
import type { RowKey } from '../../volumes/finding.ts'
import { type ClusterContext, notReadyText } from '../model/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { attachedRef, heldBy, nodesText, ofPod, podRef, type Said, saidOf, unresolvedKey } from '../model/findings.ts'
import {
  type Attached,
  hasCaret,
  isForeign,
  isUsing,
  isWanted,
  nodesAttached,
  podsOf,
  type Row,
} from '../model/rows.ts'
import { isExclusive, type UnresolvedPodVolume, volumeKey, volumeLabel, volumeRef } from '../model/volumes.ts'
import { whyNotYet } from './attach-volumes.ts'
import { LATEST } from './detach-volumes.ts'

export function reportAttachments(context: ClusterContext): void {
  for (const attached of context.rows.attached) reportAttachment(context, attached)
  reportTwice(context)
}

/** What may be odd about one attachment. */
function reportAttachment(context: ClusterContext, attached: Attached): void {
  const { object, row, persistentVolume, isNamedRight, unclear } = attached
  const { name, node, attacher, createdAt, deletedAt } = object
  const say = (finding: Finding<ProblemCode>, hint?: Hint, severity: Severity = 'warning'): void => {
    const about = { attachment: name, nodes: [node], driver: attacher, volume: attachedRef(attached, context.rows) }
    context.findings.problem(severity, finding, about, hint)
  }
  const here = `VolumeAttachment ${name} on node ${node}`
  const look = advice`Look at the attachment: ${describeAttachment(name)}`
  if (unclear !== undefined) say(said('AttachmentUnclear.why', { attachment: here, why: unclear }), look)
  if (persistentVolume === 'Absent') {
    say(
      said('AttachmentDangling.volume', { name, persistentVolume: object.persistentVolume, node }),
      advice`Find the volume in the storage system. ${look}`,
    )
  }
  // R835: in use by a pod it is as it should be.
  if (persistentVolume === 'None' && !isWanted(row)) {
    say(said('NobodyDetaches.inline', { attachment: here }), look)
  }
  if (context.objects.node(node).state === 'Absent') {
    const first = 'make sure that the machine is off'
    const hint = context.isControllerAlive
      ? advice`The controller detaches the volume, ${LATEST}. If the attachment stays: ${first}; then: ${planNodeGone(node)}`.alike()
      : advice`Nobody detaches the volume: ${first}; then: ${planNodeGone(node)}`.alike(first)
    // What a person has said is not asked for again.
    say(said('AttachmentDangling.node', { name, node }), context.isGivenAsGone(node) ? undefined : hint)
  }
  if (unclear === undefined && isForeign(object)) {
    const hint = advice`Find out who created it: ${whoCreated(name)}; once nobody needs it: ${kubectl('delete', 'volumeattachment', name)}`
    say(said('AttachmentUnclear.ofOthers', { attachment: here }), hint, 'info')
  } else if (unclear === undefined && isNamedRight === false) {
    say(said('NobodyDetaches.name', { name, node }), advice`Find out who created the attachment: ${whoCreated(name)}`)
  }
  if (hasCaret(attached)) {
    say(
      said('NobodyDetaches.caret', { attachment: here }),
      advice`Once no pod wants the volume, volctl detaches it: ${planCluster()}`.alike(),
    )
  }
  const log = `Look at the log of the external attacher of driver ${attacher}, and at the volume in the storage system.`
  if (deletedAt !== undefined) {
    if (object.detachError !== undefined) {
      say(said('AttachmentFailing.detach', { attacher, name, node, message: object.detachError.message }), log, 'error')
      // A driver that is gone is reported once, for all.
    } else if (context.isSettled(deletedAt) && !context.isDriverGone(attacher)) {
      say(
        said('AttachmentDeleting.since', { attachment: here, deletedAt, heldBy: heldBy(object.finalizers) }),
        context.lookAtWhoDetaches(name, attacher),
      )
    }
  } else if (object.attached !== true && object.attachError !== undefined) {
    say(said('AttachmentFailing.attach', { attacher, name, node, message: object.attachError.message }), log, 'error')
  } else if (object.attached !== true && context.isSettled(createdAt)) {
    say(said('AttachmentFailing.silent', { attachment: here, createdAt, attacher }), log)
  }
}

/** R740: several nodes have what only one may have. */
function reportTwice({ rows, findings }: ClusterContext): void {
  for (const volume of rows.known.values()) {
    if (!isExclusive(volume)) continue
    const nodes = nodesAttached(rows.ofVolume.of(volume.uniqueName))
    if (nodes.length < 2) continue
    const ref = volumeRef(volume)
    findings.problem(
      'error',
      said('TwoWriters.attachments', { volume: volumeLabel(ref), nodes: nodesText(nodes) }),
      { volume: ref, nodes, claim: ref.claim, driver: ref.driver },
      FIND_OUT,
    )
  }
}

/**
 * Volumes that pods of several nodes want, and that only one node may have: which pods on which nodes, since when, and who has to
 * move. The controller's event names pods of one namespace alone (R743).
 */
export function reportMultiAttach(context: ClusterContext): void {
  const { rows } = context
  const wanted = rows.all().filter((row) => isWanted(row) && isExclusive(row.volume))
  for (const uniqueName of new Set(wanted.map((row) => row.uniqueName))) {
    // As they were found: the first names the volume, and one in the spec of a pod knows no claim.
    const wants = rows.ofVolume.of(uniqueName).filter(isWanted)
    if (wants.length > 1) report(context, wants)
  }
}

function report(context: ClusterContext, wants: readonly Row[]): void {
  const [first] = wants
  // A driver that needs no attachment lets several nodes use the volume, and nobody watches; two attachments are another problem (TwoWriters).
  if (first === undefined || first.volume.attachability === 'notAttachable') return
  if (nodesAttached(wants).length === wants.length) return
  const parties = wants.toSorted((a, b) => compareText(a.node, b.node))
  const holders = parties.filter((row) => row.attached.length > 0 || isUsing(row))
  const waiting = parties.filter((row) => !holders.includes(row))
  const { volume: known } = first
  const volume = volumeRef(known)
  const nodes = parties.map(({ node }) => node).slice(0, MOST_NAMED)
  const about = { volume, nodes, pods: parties.flatMap(podsOf).map(podRef).slice(0, MOST_NAMED) }
  const { accessModes = [] } = known
  const modes = accessModes.length === 0 ? '' : ` (${accessModes.join(', ')})`
  const text =
    waiting.length === 0
      ? `, and ${holders.length} nodes have it: ${partiesText(holders)}`
      : holders.length === 0
        ? `, and is wanted on ${waiting.length} nodes: ${partiesText(waiting)}; none of these nodes has the volume`
        : `: ${partiesText(holders)}; ${partiesText(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for it`
  context.findings.problem(
    'error',
    said('MultiAttach', { volume: volumeLabel(volume), modes, nodes: text }),
    about,
    waiting.length === 0 ? FIND_OUT : hintFor(context, holders, waiting),
  )
}

function partiesText(parties: readonly Row[]): string {
  const texts = parties.map((row) => {
    const pods = podsOf(row)
    const names = take(pods.map(podText), MOST_PODS).join(' and ')
    const [attached] = row.attached
    const since = attached?.object.createdAt
    const has = ` has the volume${since === undefined ? '' : ` since ${since}`}`
    const state = attached !== undefined ? has : isUsing(row) ? ' reports the volume in use' : ''
    return `node ${row.node}${state} (${pods.length === 1 ? 'pod' : 'pods'} ${names})`
  })
  return take(texts, MOST_NODES).join(', ')
}

/** In the JSON; the message has fewer. */
const MOST_NAMED = 100
const MOST_PODS = 3
const MOST_NODES = 4

function podText(pod: ClusterPod): string {
  const state =
    pod.deletedAt === undefined
      ? `created ${pod.createdAt ?? 'at an unknown time'}`
      : `being deleted since ${pod.deletedAt}`
  return `${namespacedName(pod)}, ${state}`
}

/** Before anything else: on several nodes at once the volume may already be damaged. */
const FIND_OUT = advice`Before anything else, find out where the volume is mounted (on each node: ${volctlThere('status')}); then end its pods on the other nodes.`

/** Who has to move. */
function hintFor(context: ClusterContext, [holder]: readonly Row[], waiting: readonly Row[]): Hint {
  const [pod] = [holder ?? waiting[0]].flatMap((row) => (row ? podsOf(row) : []))
  if (pod === undefined) return 'Let only one node have a pod with this volume.'
  if (holder === undefined) return advice`Let only one node have a pod with this volume: ${deletePod(pod)}`
  const found = context.objects.node(holder.node)
  if (found.state === 'Unknown')
    return advice`Node ${holder.node} ${found.reason}. See what the API server answers: ${kubectl('get', 'node', holder.node)}`
  const force = deletePod(pod, '--force')
  if (found.state === 'Absent') return advice`Node ${holder.node} does not exist. Once its machine is off: ${force}`
  const readiness = context.readinessOf(found.object)
  if (readiness.ready !== 'True') {
    const state = `Node ${holder.node} ${notReadyText(readiness)}`
    if (!found.object.outOfService)
      return advice`${state}. Once its machine is off: ${taintOutOfService(holder.node)}; then ${force}`
    // The taint says that the machine is off. The controller that collects such pods may be dead, or fail.
    if (pod.deletedAt !== undefined)
      return advice`${state}, and tainted out-of-service. Once its machine is off, as the taint says: ${force}`
  }
  if (pod.deletedAt !== undefined) return `Wait until pod ${namespacedName(pod)} has ended on node ${holder.node}.`
  return advice`Decide which pod may have the volume. To let the other one start: ${deletePod(pod)}`
}

// Pods that do not start, each with its cause.

type Cause = Pick<Said, 'message' | 'hint'>

/** One problem for each pod: its first cause. Of pods that run, and of those that were just created, nothing is said. */
export function reportPods(context: ClusterContext): void {
  const unsaid = new Set(context.state.pods.filter((pod) => waits(context, pod)))
  const rows = saidOf(context.findings)
  const say = (pod: ClusterPod, cause: Cause | undefined, row?: RowKey): void => {
    if (cause === undefined || !unsaid.delete(pod)) return
    // What this plan attaches nobody has to do anything about before.
    const severity = rows.get(row ?? '')?.is === 'ready' ? 'info' : 'warning'
    context.findings.problem(
      severity,
      said('PodWaitsForVolume', { pod: namespacedName(pod), node: pod.node, message: cause.message }),
      ofPod(pod),
      cause.hint,
      { row },
    )
  }
  for (const unresolved of context.rows.unresolved) {
    if (unresolved.cause === 'Unknown') reportUnknown(context, unresolved)
    else say(unresolved.pod, causeOf(unresolved))
  }
  for (const want of context.rows.all().filter(isWanted)) {
    const waiting = podsOf(want).filter((pod) => unsaid.has(pod))
    if (waiting.length === 0) continue
    const row = volumeKey(want.node, want.uniqueName)
    const cause = causeOfWant(context, want, rows.get(row))
    for (const pod of waiting) say(pod, cause, row)
  }
}

/** A pod of a node that does not exist is another problem. */
function waits(context: ClusterContext, { node, started, terminated, deletedAt, createdAt }: ClusterPod): boolean {
  if (node === undefined || context.objects.node(node).state === 'Absent') return false
  return !started && !terminated && deletedAt === undefined && context.isSettled(createdAt)
}

function seePod(pod: ClusterPod): Advice {
  return advice`See its events: ${describePod(pod)}`
}

/** S3: not known is not wrong, but what it may be is held. */
function reportUnknown({ findings }: ClusterContext, unresolved: UnresolvedPodVolume): void {
  const { pod, name, message } = unresolved
  findings.incomplete(
    said('MayBeInUse.unknownOnNode', { name, pod: namespacedName(pod), node: pod.node, message }),
    { ...ofPod(pod), subject: { row: unresolvedKey(unresolved), pod: pod.uid } },
    "Nothing that the volume may be is detached there. Use a credential that may read the pod's claim and PersistentVolume.",
  )
}

function causeOf({ pod, message, claimName, cause, persistentVolumeName }: UnresolvedPodVolume): Cause {
  if (claimName === undefined) return { message, hint: seePod(pod) }
  const describe = kubectl('describe', 'pvc', '-n', pod.namespace, claimName)
  if (cause !== 'Absent') return { message, hint: advice`See the events of the claim: ${describe}` }
  const there =
    persistentVolumeName === undefined
      ? advice`Claims that exist: ${kubectl('get', 'pvc', '-n', pod.namespace)}`
      : advice`What is there: ${describe}`
  return { message, hint: advice`Create the claim again, or delete the pod. ${there}` }
}

/** What is said of the volume there is why the pod waits; where only an attach is waited for, what the node lacks for that. */
function causeOfWant(context: ClusterContext, want: Row, said: Said | undefined) {
  const { volume } = want
  const [pod] = want.pods
  const [other] = want.others
  if (pod === undefined)
    return other?.why === 'Unusable' ? { message: other.fault?.message ?? '', hint: seePod(other.pod) } : undefined
  const { driver } = volume
  const node = context.node(want.node)
  const having = isExclusive(volume) ? context.rows.nodesWith(want.uniqueName) : want.attached
  const isLeft = said?.is === 'waiting' && having.length === 0
  const lack = isLeft && node !== undefined && driver !== undefined ? whyNotYet(context, node, driver) : undefined
  const why = lack ?? said
  if (why === undefined) return undefined
  // A problem names its volume itself.
  const label = said?.is === 'wrong' ? '' : `volume ${volumeLabel(volumeRef(volume))}: `
  return { message: `${label}${why.message}`, hint: why.hint ?? remedyOf(why.code) ?? seePod(pod) }
}

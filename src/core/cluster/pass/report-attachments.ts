/**
 * VolumeAttachments that are odd in themselves, or that nobody brings to an end; and volumes that only one node may have, and several
 * have or want.
 */

import {
  deletePod,
  describeAttachment,
  kubectl,
  planCluster,
  planNodeGone,
  taintOutOfService,
  whoCreated,
} from '../../base/command.ts'
import { compareText } from '../../base/compare-text.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import { take } from '../../base/take.ts'
import type { ProblemCode } from '../../messages/codes.ts'
import type { Hint } from '../../plan/draft.ts'
import type { Severity } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, notReadyText } from '../model/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { attachedRef, type ClusterFindings, heldBy, nodesText, podRef } from '../model/findings.ts'
import { type Attached, isUsing, isWanted, nodesAttached, podsOf, type Want } from '../model/rows.ts'
import { isExclusive, volumeLabel, volumeRef } from '../model/volumes.ts'
import { hasCaret, isForeign, LATEST } from './verdict.ts'

export function reportAttachments(context: ClusterContext, findings: ClusterFindings): void {
  for (const attached of context.rows.attached) reportAttachment(context, findings, attached)
  reportTwice(context, findings)
}

/** What may be odd about one attachment. */
function reportAttachment(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object, row, persistentVolume, isNamedRight, unclear } = attached
  const { name, node, attacher, createdAt, deletedAt } = object
  const say = (code: ProblemCode, text: string, hint?: Hint, severity: Severity = 'warning'): void => {
    const about = { attachment: name, nodes: [node], driver: attacher, volume: attachedRef(attached, context.rows) }
    findings.problem(severity, code, text, about, hint)
  }
  const here = `VolumeAttachment ${name} on node ${node}`
  const look = `Look at the attachment: ${describeAttachment(name)}`
  if (unclear !== undefined) say('AttachmentUnclear', `${here} is left as it is: ${unclear}`, look)
  if (persistentVolume === 'absent') {
    const text = `VolumeAttachment ${name} keeps PersistentVolume ${object.persistentVolume}, which does not exist, attached to node ${node}`
    say('AttachmentDangling', text, `Find the volume in the storage system. ${look}`)
  }
  // R835: in use by a pod it is as it should be.
  if (persistentVolume === 'none' && !isWanted(row)) {
    const text = `${here} is of a volume in the spec of a pod, and no pod has it: a restarted controller overlooks it`
    say('NobodyDetaches', text, look)
  }
  if (context.objects.node(node).state === 'Absent') {
    const first = 'make sure that the machine is off'
    const hint: Hint = context.isControllerAlive
      ? [`The controller detaches the volume, ${LATEST}. If the attachment stays: ${first}; then:`, planNodeGone(node)]
      : [`Nobody detaches the volume: ${first}; then:`, planNodeGone(node), first]
    const text = `VolumeAttachment ${name} names node ${node}, which does not exist`
    // What a person has said is not asked for again.
    say('AttachmentDangling', text, context.isGivenAsGone(node) ? undefined : hint)
  }
  if (unclear === undefined && isForeign(object)) {
    const text = `${here} was not created by Kubernetes, and stays until its creator deletes it`
    const hint = `Find out who created it: ${whoCreated(name)}; once nobody needs it: ${kubectl('delete', 'volumeattachment', name)}`
    say('AttachmentUnclear', text, hint, 'info')
  } else if (unclear === undefined && isNamedRight === false) {
    const text = `the name of VolumeAttachment ${name} is not the one that follows from its volume and node ${node}: the controller never deletes it`
    say('NobodyDetaches', text, `Find out who created the attachment: ${whoCreated(name)}`)
  }
  if (hasCaret(attached)) {
    const text = `the handle of the volume of ${here} contains ^: the controller attaches it, and can never detach it`
    say('NobodyDetaches', text, ['Once no pod wants the volume, volctl detaches it:', planCluster()])
  }
  const log = `Look at the log of the external attacher of driver ${attacher}, and at the volume in the storage system.`
  if (deletedAt !== undefined) {
    if (object.detachError !== undefined) {
      const text = `driver ${attacher} could not detach VolumeAttachment ${name} from node ${node}: ${object.detachError.message}`
      say('AttachmentFailing', text, log, 'error')
      // A driver that is gone is reported once, for all.
    } else if (context.isSettled(deletedAt) && !context.isDriverGone(attacher)) {
      const text = `${here} is being deleted since ${deletedAt}${heldBy(object.finalizers)}`
      say('AttachmentDeleting', text, context.lookAtWhoDetaches(name, attacher))
    }
  } else if (object.attached !== true && object.attachError !== undefined) {
    const text = `driver ${attacher} could not attach VolumeAttachment ${name} to node ${node}: ${object.attachError.message}`
    say('AttachmentFailing', text, log, 'error')
  } else if (object.attached !== true && context.isSettled(createdAt)) {
    const text = `${here} was created ${createdAt} and is not attached, and driver ${attacher} does not say why`
    say('AttachmentFailing', text, log)
  }
}

/** R740: several nodes have what only one may have. */
function reportTwice({ known, rows }: ClusterContext, findings: ClusterFindings): void {
  for (const volume of known.values()) {
    if (!isExclusive(volume)) continue
    const nodes = nodesAttached(rows.ofVolume(volume.uniqueName))
    if (nodes.length < 2) continue
    const ref = volumeRef(volume)
    findings.problem(
      'error',
      'TwoWriters',
      `volume ${volumeLabel(ref)} may be on one node only, and has VolumeAttachments on ${nodesText(nodes)}`,
      { volume: ref, nodes, ...omitUndefined({ claim: ref.claim, driver: ref.driver }) },
      FIND_OUT,
    )
  }
}

/**
 * Volumes that pods of several nodes want, and that only one node may have: which pods on which nodes, since when, and who has to
 * move. The controller's event names pods of one namespace alone (R743).
 */
export function reportMultiAttach(context: ClusterContext, findings: ClusterFindings): void {
  const seen = new Set<string>()
  for (const { volume } of context.rows.all().filter(isWanted)) {
    if (!isExclusive(volume) || seen.has(volume.uniqueName)) continue
    seen.add(volume.uniqueName)
    const wants = context.rows.ofVolume(volume.uniqueName).filter(isWanted)
    if (wants.length > 1) report(context, findings, wants)
  }
}

/** A node that pods want the volume on, and whether it has the volume: by an attachment, or by its own word. */
interface Party {
  readonly node: string
  readonly pods: readonly ClusterPod[]
  readonly has: boolean
  readonly isAttached: boolean
  readonly since?: string | undefined
}

function report(context: ClusterContext, findings: ClusterFindings, wants: readonly Want[]): void {
  const [first] = wants
  // A driver that needs no attachment lets several nodes use the volume, and nobody watches.
  if (first === undefined || first.volume.attachability === 'notAttachable') return
  const parties = wants.map(partyOf).toSorted((a, b) => compareText(a.node, b.node))
  const holders = parties.filter(({ has }) => has)
  const waiting = parties.filter(({ has }) => !has)
  const volume = volumeRef(first.volume)
  const nodes = parties.map(({ node }) => node).slice(0, MOST_NAMED)
  const about = { volume, nodes, pods: parties.flatMap(({ pods }) => pods.map(podRef)).slice(0, MOST_NAMED) }
  // Two attachments are another problem (TwoWriters).
  if (parties.every(({ isAttached }) => isAttached)) return
  const modes = first.volume.accessModes.length === 0 ? '' : ` (${first.volume.accessModes.join(', ')})`
  const text =
    waiting.length === 0
      ? `, and ${holders.length} nodes have it: ${partiesText(holders)}`
      : holders.length === 0
        ? `, and is wanted on ${waiting.length} nodes: ${partiesText(waiting)}; none of these nodes has the volume`
        : `: ${partiesText(holders)}; ${partiesText(waiting)} ${waiting.length === 1 ? 'waits' : 'wait'} for it`
  findings.problem(
    'error',
    'MultiAttach',
    `volume ${volumeLabel(volume)} may be on one node only${modes}${text}`,
    about,
    waiting.length === 0 ? FIND_OUT : hintFor(context, holders, waiting),
  )
}

function partyOf(row: Want): Party {
  const [attached] = row.attached
  const isAttached = attached !== undefined
  return {
    node: row.node,
    has: isAttached || isUsing(row),
    isAttached,
    pods: [...new Set(podsOf(row))],
    since: attached?.object.createdAt,
  }
}

function partiesText(parties: readonly Party[]): string {
  const texts = parties.map(({ node, pods, has, isAttached, since }) => {
    const names = take(pods.map(podText), MOST_PODS).join(' and ')
    const attached = ` has the volume${since === undefined ? '' : ` since ${since}`}`
    const state = isAttached ? attached : has ? ' reports the volume in use' : ''
    return `node ${node}${state} (${pods.length === 1 ? 'pod' : 'pods'} ${names})`
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
const FIND_OUT =
  'Before anything else, find out where the volume is mounted (on each node: volctl status); then end its pods on the other nodes.'

/** Who has to move. */
function hintFor(context: ClusterContext, holders: readonly Party[], waiting: readonly Party[]): string {
  const [holder] = holders
  const pod = (holder ?? waiting[0])?.pods[0]
  if (pod === undefined) return 'Let only one node have a pod with this volume.'
  if (holder === undefined) return `Let only one node have a pod with this volume: ${deletePod(pod)}`
  const found = context.objects.node(holder.node)
  if (found.state === 'Unknown')
    return `Node ${holder.node} ${found.reason}. See what the API server answers: ${kubectl('get', 'node', holder.node)}`
  const force = deletePod(pod, '--force')
  if (found.state === 'Absent') return `Node ${holder.node} does not exist. Once its machine is off: ${force}`
  const readiness = context.readinessOf(found.object)
  if (readiness.ready !== 'True') {
    const state = `Node ${holder.node} ${notReadyText(readiness)}`
    if (!found.object.outOfService)
      return `${state}. Once its machine is off: ${taintOutOfService(holder.node)}; then ${force}`
    // The taint says that the machine is off. The controller that collects such pods may be dead, or fail.
    if (pod.deletedAt !== undefined)
      return `${state}, and tainted out-of-service. Once its machine is off, as the taint says: ${force}`
  }
  if (pod.deletedAt !== undefined) return `Wait until pod ${namespacedName(pod)} has ended on node ${holder.node}.`
  return `Decide which pod may have the volume. To let the other one start: ${deletePod(pod)}`
}

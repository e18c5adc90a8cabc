/**
 * Volumes that pods of several nodes want, and that only one node may have: which pods on which nodes, since when, and who has to
 * move. The controller's event names pods of one namespace alone (R743).
 */

import { deletePod, kubectl, taintOutOfService } from '../../base/command.ts'
import { compareText } from '../../base/compare-text.ts'
import { take } from '../../base/take.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, notReadyText, readinessOf } from '../model/cluster-context.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import { type ClusterFindings, podRef } from '../model/findings.ts'
import { isUsing, isWanted, podsOf, type Want } from '../model/rows.ts'
import { isExclusive, volumeLabel, volumeRef } from '../model/volumes.ts'

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
export const FIND_OUT =
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
  const readiness = readinessOf(context, found.object)
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

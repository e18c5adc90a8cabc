/** Claims and PersistentVolumes that are being deleted, and what holds them; pods of nodes that do not exist. */

import { append } from '../../lang/append.ts'
import { kubectl, volctl } from '../../lang/command.ts'
import { compareText } from '../../lang/compare-text.ts'
import { firstFew } from '../../lang/first-few.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, isSettled } from '../context/cluster-context.ts'
import { type ClusterFindings, ofPod, podRef } from '../context/findings.ts'
import { deletePod, retain } from '../context/kubectl.ts'
import { heldBy, nodesText } from '../context/words.ts'
import type { ClusterClaim, ClusterPod, ClusterVolume } from '../model/cluster-state.ts'

export function reportObjects(context: ClusterContext, findings: ClusterFindings): void {
  const { state } = context
  const claims = state.claims.filter(({ deletedAt }) => deletedAt !== undefined && isSettled(context, deletedAt))
  const users = claims.length === 0 ? new Map<string, ClusterPod[]>() : podsByClaim(state.pods)
  for (const claim of claims) reportClaim(findings, claim, users.get(namespacedName(claim)) ?? [])
  for (const volume of state.volumes) {
    if (volume.deletedAt !== undefined && isSettled(context, volume.deletedAt)) reportVolume(context, findings, volume)
  }
  reportPodsWithoutNode(context, findings)
}

function podsByClaim(pods: readonly ClusterPod[]): Map<string, ClusterPod[]> {
  const users = new Map<string, ClusterPod[]>()
  for (const pod of pods) {
    for (const volume of pod.volumes) if ('claim' in volume) append(users, `${pod.namespace}/${volume.claim}`, pod)
  }
  return users
}

const MOST_NAMES = 3

function reportClaim(findings: ClusterFindings, claim: ClusterClaim, users: readonly ClusterPod[]): void {
  const name = namespacedName(claim)
  const pods = users.filter(({ terminated }) => !terminated)
  const names = firstFew(pods.map(namespacedName), MOST_NAMES, 'and ').join(', ')
  const why = pods.length === 0 ? 'no pod uses it' : `used by ${pods.length === 1 ? 'pod' : 'pods'} ${names}`
  findings.problem(
    'warning',
    'BeingDeleted',
    `claim ${name} is being deleted since ${claim.deletedAt ?? ''}${heldBy(claim.finalizers)}: ${why}`,
    { claim: name, pods: pods.slice(0, MOST_NAMES).map(podRef), subject: { claim: name } },
    pods.length === 0
      ? `See who keeps the finalizer: ${kubectl('describe', 'pvc', '-n', claim.namespace, claim.name)}`
      : `The claim goes when its last pod ends, and its data with it where the reclaim policy is Delete. To keep the data: ${retain(claim.volumeName)}`,
  )
}

function reportVolume({ actual }: ClusterContext, findings: ClusterFindings, volume: ClusterVolume): void {
  const { name, uniqueName, claim, deletedAt = '', finalizers } = volume
  const objects = uniqueName === undefined ? [] : actual.ofVolume(uniqueName)
  const attached = [...new Set(objects.map(({ object }) => object.node))].toSorted(compareText)
  const reasons = [
    ...(attached.length > 0 ? [`attached to ${nodesText(attached, MOST_NAMES)}`] : []),
    ...(volume.phase === 'Bound' && claim !== undefined ? [`bound to claim ${namespacedName(claim)}`] : []),
  ]
  findings.problem(
    'warning',
    'BeingDeleted',
    `PersistentVolume ${name} is being deleted since ${deletedAt}${heldBy(finalizers)}: ${reasons.join('; ') || 'neither bound nor attached'}`,
    {
      volume: { name, persistentVolume: name, plugin: volume.plugin ?? '' },
      nodes: attached,
      subject: { persistentVolume: name, nodes: attached },
    },
    attached.length > 0
      ? `The PersistentVolume goes once its volume is detached. See what that waits for: ${volctl('plan', '--cluster', `pv/${name}`)}`
      : `See who keeps the finalizer: ${kubectl('describe', 'pv', name)}`,
  )
}

function reportPodsWithoutNode({ state, objects }: ClusterContext, findings: ClusterFindings): void {
  for (const pod of state.pods) {
    if (pod.node === undefined || pod.terminated || objects.node(pod.node).state !== 'Absent') continue
    findings.problem(
      'warning',
      'NodeMissing',
      `pod ${namespacedName(pod)} is scheduled to node ${pod.node}, which does not exist: its volumes stay attached there`,
      ofPod(pod),
      `Once the machine is off: ${deletePod(pod, '--force')}`,
    )
  }
}

/** What no controller reports. */

import { deletePod, kubectl, lookAtNodePod, planCluster, retain } from '../../base/command.ts'
import { count } from '../../base/count.ts'
import { take } from '../../base/take.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { attacherLease, type ClusterContext, isDriverGone, isSettled, isStale } from '../model/cluster-context.ts'
import type { ClusterClaim, ClusterPod, ClusterVolume } from '../model/cluster-state.ts'
import { attachedRef, type ClusterFindings, heldBy, nodesText, ofPod, podRef } from '../model/findings.ts'
import { type Attached, nodesAttached } from '../model/rows.ts'
import { reportAttachments } from './report-attachments.ts'
import { reportPods } from './report-pods.ts'
import { reportReading } from './report-reading.ts'
import { reportStatus } from './report-status.ts'

export function reportFindings(context: ClusterContext, findings: ClusterFindings): void {
  reportReading(context, findings)
  reportDrivers(context, findings)
  reportAttachments(context, findings)
  reportStatus(context, findings)
  reportObjects(context, findings)
  reportNotMigrated(context, findings)
  // Last: why a pod waits is what the others have said of its volume.
  reportPods(context, findings)
}

/** In-tree volumes that are not attached, as the kubelet of their node is too old. */
function reportNotMigrated({ rows }: ClusterContext, findings: ClusterFindings): void {
  const unmigrated = rows.all().filter(({ others }) => others.some(({ why }) => why === 'NotMigrated'))
  for (const [node, here] of Map.groupBy(unmigrated, (row) => row.node)) {
    const plugins = new Set(here.flatMap(({ volume }) => volume?.migratedFrom ?? []))
    findings.problem(
      'info',
      'LeftToKubelet',
      `the kubelet of node ${node} mounts volumes of ${[...plugins].join(', ')} itself: nothing is attached for them, and nothing that they may be is detached`,
      { nodes: [node] },
      `See which plugins the node migrates: ${kubectl('get', 'csinode', node, '-o', 'yaml')}`,
    )
  }
}

const MOST_NAMES = 3

function firstNames(pods: readonly ClusterPod[]): string {
  return take(pods.map(namespacedName), MOST_NAMES, 'and ').join(', ')
}

/** Drivers that are gone, and external attachers that do not run (N59). */
function reportDrivers(context: ClusterContext, findings: ClusterFindings): void {
  const byDriver = Map.groupBy(context.rows.attached, ({ object }) => object.attacher)
  for (const [driver, attached] of byDriver) {
    if (isDriverGone(context, driver)) reportGone(findings, driver, attached.length)
    else reportSilent(context, findings, driver, attached.filter(({ object }) => isPending(object)).length)
    for (const [node, there] of Map.groupBy(attached, ({ object }) => object.node))
      reportUnregistered(context, findings, driver, node, there)
  }
}

/** Without its driver a kubelet unmounts nothing, and what it has in use is not detached. */
function reportUnregistered(
  { objects, rows }: ClusterContext,
  findings: ClusterFindings,
  driver: string,
  name: string,
  attached: readonly Attached[],
): void {
  const node = objects.node(name)
  const [first] = attached.filter(({ object }) => object.attached)
  if (node.state !== 'Found' || first === undefined) return
  const { csi, ready } = node.object
  if (ready !== 'True' || csi.state !== 'known' || csi.drivers?.some((each) => each.name === driver)) return
  const volume = attachedRef(first, rows)
  findings.problem(
    'warning',
    'DriverUnavailable',
    `CSI driver ${driver} is not registered on node ${name}, which has ${volume.name}${attached.length > 1 ? ` and ${attached.length - 1} more of it` : ''}: nothing of it is unmounted there before`,
    { driver, nodes: [name], volume, attachment: first.object.name },
    lookAtNodePod(name),
  )
}

/** It waits for its attacher, to attach or to detach. */
function isPending({ attached, deletedAt }: { readonly attached?: boolean; readonly deletedAt?: string }): boolean {
  return attached !== true || deletedAt !== undefined
}

function reportGone(findings: ClusterFindings, driver: string, left: number): void {
  findings.problem(
    'warning',
    'NobodyDetaches',
    `no CSIDriver, CSINode or attacher knows driver ${driver}, and nobody will detach what is left of it: ${count(left, 'VolumeAttachment')}`,
    { driver },
    [
      'Install the driver again. Or, once the storage system has detached the volumes:',
      planCluster('--strip-finalizers'),
    ],
  )
}

/** Without anything that waits for it, a stale lease may be one of an attacher that does not elect a leader any more. */
function reportSilent(context: ClusterContext, findings: ClusterFindings, driver: string, pending: number): void {
  const lease = attacherLease(context, driver)
  if (lease === undefined || pending === 0 || !isStale(context, lease)) return
  findings.problem(
    'error',
    'AttacherSilent',
    `no external attacher of driver ${driver} runs (lease ${lease.name} was last renewed ${lease.renewTime ?? ''}), and ${count(pending, 'VolumeAttachment')} ${pending === 1 ? 'waits' : 'wait'} for it`,
    { driver },
    "Look at the log of the attacher container of the driver's controller pods: kubectl get pods -A -o wide",
  )
}

// Claims and PersistentVolumes that are being deleted, and what holds them; pods of nodes that do not exist.

function reportObjects(context: ClusterContext, findings: ClusterFindings): void {
  const { state } = context
  const claims = state.claims.filter(({ deletedAt }) => deletedAt !== undefined && isSettled(context, deletedAt))
  for (const claim of claims) {
    const isUsed = ({ namespace, volumes }: ClusterPod): boolean =>
      namespace === claim.namespace && volumes.some((volume) => 'claim' in volume && volume.claim === claim.name)
    reportClaim(
      findings,
      claim,
      state.pods.filter((pod) => !pod.terminated && isUsed(pod)),
    )
  }
  for (const volume of state.volumes) {
    if (volume.deletedAt !== undefined && isSettled(context, volume.deletedAt)) reportVolume(context, findings, volume)
  }
  reportPodsWithoutNode(context, findings)
}

function reportClaim(findings: ClusterFindings, claim: ClusterClaim, pods: readonly ClusterPod[]): void {
  const name = namespacedName(claim)
  const why = pods.length === 0 ? 'no pod uses it' : `used by ${pods.length === 1 ? 'pod' : 'pods'} ${firstNames(pods)}`
  findings.problem(
    'warning',
    'BeingDeleted',
    `claim ${name} is being deleted since ${claim.deletedAt ?? ''}${heldBy(claim.finalizers)}: ${why}`,
    { claim: name, pods: pods.slice(0, MOST_NAMES).map(podRef) },
    pods.length === 0
      ? `See who keeps the finalizer: ${kubectl('describe', 'pvc', '-n', claim.namespace, claim.name)}`
      : `The claim goes when its last pod ends, and its data with it where the reclaim policy is Delete. To keep the data: ${retain(claim.volumeName)}`,
  )
}

function reportVolume({ rows }: ClusterContext, findings: ClusterFindings, volume: ClusterVolume): void {
  const { name, uniqueName, claim, deletedAt = '', finalizers } = volume
  const attached = nodesAttached(uniqueName === undefined ? [] : rows.ofVolume(uniqueName))
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
      ? ['The PersistentVolume goes once its volume is detached. See what that waits for:', planCluster(`pv/${name}`)]
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

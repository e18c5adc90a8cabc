/** What no controller reports. */

import { deletePod, kubectl, lookAtNodePod, planCluster, retain } from '../../base/command.ts'
import { count } from '../../base/count.ts'
import { take } from '../../base/take.ts'
import type { ProblemCode } from '../../messages/codes.ts'
import type { Hint } from '../../plan/draft.ts'
import type { Severity } from '../../plan/plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import {
  attacherLease,
  type ClusterContext,
  isDriverGone,
  isSettled,
  isStale,
  nodeOf,
} from '../model/cluster-context.ts'
import type { ClusterClaim, ClusterPod, ClusterVolume } from '../model/cluster-state.ts'
import { attachedRef, type ClusterFindings, heldBy, nodesText, ofPod, podRef } from '../model/findings.ts'
import { nodesAttached } from '../model/rows.ts'
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

/** Drivers that are gone, external attachers that do not run (N59), and nodes that lack the driver of what they have. */
function reportDrivers(context: ClusterContext, findings: ClusterFindings): void {
  const { rows } = context
  for (const [driver, attached] of Map.groupBy(rows.attached, ({ object }) => object.attacher)) {
    const say = (severity: Severity, code: ProblemCode, text: string, hint: Hint): void =>
      findings.problem(severity, code, text, { driver }, hint)
    // Without anything that waits for it, a stale lease may be one of an attacher that does not elect a leader any more.
    const pending = attached.filter(({ object }) => object.attached !== true || object.deletedAt !== undefined).length
    const lease = attacherLease(context, driver)
    if (isDriverGone(context, driver)) {
      const text = `no CSIDriver, CSINode or attacher knows driver ${driver}, and nobody will detach what is left of it: ${count(attached.length, 'VolumeAttachment')}`
      const says = 'Install the driver again. Or, once the storage system has detached the volumes:'
      say('warning', 'NobodyDetaches', text, [says, planCluster('--strip-finalizers')])
    } else if (lease !== undefined && pending > 0 && isStale(context, lease)) {
      const waits = `${count(pending, 'VolumeAttachment')} ${pending === 1 ? 'waits' : 'wait'} for it`
      const text = `no external attacher of driver ${driver} runs (lease ${lease.name} was last renewed ${lease.renewTime ?? ''}), and ${waits}`
      const hint =
        "Look at the log of the attacher container of the driver's controller pods: kubectl get pods -A -o wide"
      say('error', 'AttacherSilent', text, hint)
    }
    for (const [name, there] of Map.groupBy(attached, ({ object }) => object.node)) {
      const { csi, ready } = nodeOf(context, name) ?? {}
      const first = there.find(({ object }) => object.attached)
      if (first === undefined || ready !== 'True' || csi?.state !== 'known') continue
      if (csi.drivers?.some((each) => each.name === driver)) continue
      // Without its driver a kubelet unmounts nothing, and what it has in use is not detached.
      const volume = attachedRef(first, rows)
      const more = there.length > 1 ? ` and ${there.length - 1} more of it` : ''
      const text = `CSI driver ${driver} is not registered on node ${name}, which has ${volume.name}${more}: nothing of it is unmounted there before`
      const about = { driver, nodes: [name], volume, attachment: first.object.name }
      findings.problem('warning', 'DriverUnavailable', text, about, lookAtNodePod(name))
    }
  }
}

// Claims and PersistentVolumes that are being deleted, and what holds them; pods of nodes that do not exist.

function reportObjects(context: ClusterContext, findings: ClusterFindings): void {
  const { state, objects } = context
  const isStuck = ({ deletedAt }: { readonly deletedAt?: string }): boolean =>
    deletedAt !== undefined && isSettled(context, deletedAt)
  for (const claim of state.claims.filter(isStuck)) {
    const isUsed = ({ namespace, volumes, terminated }: ClusterPod): boolean =>
      !terminated &&
      namespace === claim.namespace &&
      volumes.some((volume) => 'claim' in volume && volume.claim === claim.name)
    reportClaim(findings, claim, state.pods.filter(isUsed))
  }
  for (const volume of state.volumes.filter(isStuck)) reportVolume(context, findings, volume)
  for (const pod of state.pods) {
    if (pod.node === undefined || pod.terminated || objects.node(pod.node).state !== 'Absent') continue
    const text = `pod ${namespacedName(pod)} is scheduled to node ${pod.node}, which does not exist: its volumes stay attached there`
    const hint = `Once the machine is off: ${deletePod(pod, '--force')}`
    findings.problem('warning', 'NodeMissing', text, ofPod(pod), hint)
  }
}

function reportClaim(findings: ClusterFindings, claim: ClusterClaim, pods: readonly ClusterPod[]): void {
  const name = namespacedName(claim)
  const names = take(pods.map(namespacedName), MOST_NAMES, 'and ').join(', ')
  const why = pods.length === 0 ? 'no pod uses it' : `used by ${pods.length === 1 ? 'pod' : 'pods'} ${names}`
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

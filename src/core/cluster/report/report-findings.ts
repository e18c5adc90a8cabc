/** What no controller reports. */

import { append } from '../../lang/append.ts'
import { kubectl } from '../../lang/command.ts'
import { count } from '../../lang/count.ts'
import { firstFew } from '../../lang/first-few.ts'
import { KEEPS_TERMINATED } from '../../model/annotations.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { attacherLease, isDriverGone, isStale } from '../context/drivers.ts'
import { type ClusterFindings, onNodes, podRef } from '../context/findings.ts'

import type { ClusterPod } from '../model/cluster-state.ts'
import { reportAttachments } from './report-attachments.ts'
import { reportObjects } from './report-objects.ts'
import { reportPods } from './report-pods.ts'
import { reportReading } from './report-reading.ts'
import { reportStatus } from './report-status.ts'

export function reportFindings(context: ClusterContext, findings: ClusterFindings): void {
  reportReading(context, findings)
  reportDrivers(context, findings)
  reportAttachments(context, findings)
  reportStatus(context, findings)
  reportObjects(context, findings)
  reportKept(context, findings)
  reportPods(context, findings)
}

/** Volumes that stay attached, or are not attached, for a setting of their node. */
function reportKept(context: ClusterContext, findings: ClusterFindings): void {
  const kept = new Map<string, ClusterPod[]>()
  const unmigrated = new Map<string, Set<string>>()
  for (const { node, volume, others } of context.desired.all()) {
    for (const { pod, why } of others) {
      if (why === 'TerminatedKept') append(kept, node, pod)
      if (why !== 'NotMigrated' || volume.migratedFrom === undefined) continue
      unmigrated.set(node, (unmigrated.get(node) ?? new Set()).add(volume.migratedFrom))
    }
  }
  for (const [node, pods] of kept) reportKeptPods(findings, node, [...new Set(pods)])
  for (const [node, plugins] of unmigrated) reportUnmigrated(findings, node, [...plugins])
}

const MOST_NAMES = 3

function reportKeptPods(findings: ClusterFindings, node: string, pods: readonly ClusterPod[]): void {
  const names = firstFew(pods.map(namespacedName), MOST_NAMES, 'and ').join(', ')
  findings.problem(
    'info',
    'TerminatedKept',
    `node ${node} is configured to keep the volumes of pods that have ended attached: ${names}`,
    { ...onNodes(node), pods: pods.slice(0, MOST_NAMES).map(podRef) },
    `Delete the pods; or: ${kubectl('annotate', 'node', node, `${KEEPS_TERMINATED}-`)}`,
  )
}

function reportUnmigrated(findings: ClusterFindings, node: string, plugins: readonly string[]): void {
  findings.problem(
    'info',
    'LeftToKubelet',
    `the kubelet of node ${node} mounts volumes of ${plugins.join(', ')} itself: nothing is attached for them, and nothing that they may be is detached`,
    onNodes(node),
    `See which plugins the node migrates: ${kubectl('get', 'csinode', node, '-o', 'yaml')}`,
  )
}

/** Drivers that are gone, and external attachers that do not run (N59). */
function reportDrivers(context: ClusterContext, findings: ClusterFindings): void {
  const byDriver = Map.groupBy(context.actual.all, ({ object }) => object.attacher)
  for (const [driver, attached] of byDriver) {
    if (isDriverGone(context, driver)) reportGone(findings, driver, attached.length)
    else reportSilent(context, findings, driver, attached.filter(({ object }) => isPending(object)).length)
  }
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
    { driver, subject: { driver } },
    'Install the driver again. Or, once the storage system has detached the volumes: volctl plan --cluster --strip-finalizers',
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
    { driver, subject: { driver } },
    "Look at the log of the attacher container of the driver's controller pods: kubectl get pods -A -o wide",
  )
}

/** Volumes that stay attached, or are not attached, for a setting of their node. */

import { append } from '../../lang/append.ts'
import { firstFew } from '../../lang/first-few.ts'
import { KEEPS_TERMINATED } from '../../model/annotations.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { type ClusterFindings, podRef } from '../context/findings.ts'
import { kubectl } from '../context/kubectl.ts'
import { shaped } from '../context/shaped.ts'
import type { ClusterPod } from '../model/cluster-state.ts'

export function reportKept(context: ClusterContext, findings: ClusterFindings): void {
  const kept = new Map<string, ClusterPod[]>()
  const unmigrated = new Map<string, Set<string>>()
  for (const { node, volume, others } of context.desired.all()) {
    for (const { pod, why } of others) {
      if (why === 'TerminatedKept') append(kept, node, pod)
      if (why !== 'NotMigrated' || volume.migratedFrom === undefined) continue
      unmigrated.set(node, (unmigrated.get(node) ?? new Set()).add(volume.migratedFrom))
    }
  }
  for (const [node, pods] of kept) reportPods(findings, node, [...new Set(pods)])
  for (const [node, plugins] of unmigrated) reportPlugins(findings, node, [...plugins])
}

const MOST_NAMES = 3

function reportPods(findings: ClusterFindings, node: string, pods: readonly ClusterPod[]): void {
  const names = firstFew(pods.map(namespacedName), MOST_NAMES, 'and ').join(', ')
  findings.problem(
    'info',
    'TerminatedKept',
    shaped`node ${node} is configured to keep the volumes of pods that have ended attached: ${names}`,
    { nodes: [node], pods: pods.slice(0, MOST_NAMES).map(podRef) },
    `Delete the pods; or: ${kubectl('annotate', 'node', node, `${KEEPS_TERMINATED}-`)}`,
  )
}

function reportPlugins(findings: ClusterFindings, node: string, plugins: readonly string[]): void {
  findings.problem(
    'info',
    'NotMigrated',
    shaped`the kubelet of node ${node} mounts volumes of ${plugins.join(', ')} itself: nothing is attached for them, and nothing that they may be is detached`,
    { nodes: [node] },
    `See which plugins the node migrates: ${kubectl('get', 'csinode', node, '-o', 'yaml')}`,
  )
}

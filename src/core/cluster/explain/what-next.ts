/** What to type on a workstation: what carries out what is ready; and what only a node shows is asked there. */

import type { ClusterPlan } from '../../plan/cluster-plan.ts'
import { volctl } from '../../plan/next-steps.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import { kubectl, orName, volctlOn } from '../context/kubectl.ts'
import type { Scope } from './scope.ts'

/** How a proposed command reads the same cluster. */
export interface Words {
  /** Flags of the command line that it needs again. */
  readonly flags: readonly string[]
  /** false: a snapshot, on which nothing can be carried out. */
  readonly isLive: boolean
}

/** @returns undefined where nothing is ready, or nothing can be carried out */
export function applyCommand(scope: Scope, { summary }: ClusterPlan, { flags, isLive }: Words): string | undefined {
  if (!isLive || summary.ready === 0) return undefined
  return volctl('apply', '--cluster', ...narrowing(scope), ...flags)
}

/** A filter that keeps what has to come first: an attach on one node may wait for a detach on another. */
function narrowing({ target, volumes: [first] }: Scope): string[] {
  if (target.kind === 'Node' || target.kind === 'Driver') return []
  if (target.kind === 'Pod') return ['--pod', orName(namespacedName(target.pod))]
  const volume = first?.persistentVolume ?? first?.claim ?? first?.volume?.handle
  return volume === undefined ? [] : ['--volume', orName(volume)]
}

/** Where a volume is attached or in use: mounts, and who holds them. */
export function onTheNode(context: ClusterContext, { target, volumes }: Scope): string[] {
  if (target.kind === 'Driver') return []
  const there = volumes.find(
    ({ node = '', uniqueName = '', attached }) =>
      nodeOf(context, node) !== undefined && (attached.length > 0 || context.actual.isInUse(node, uniqueName)),
  )
  if (there?.node === undefined) return []
  const { node, persistentVolume, pods } = there
  if (nodeOf(context, node)?.ready !== 'True')
    return [`only the node shows what is mounted there, and it is not ready: ${kubectl('describe', 'node', node)}`]
  const [pod] = pods
  const what =
    target.kind === 'Node'
      ? `node/${orName(node)}`
      : persistentVolume !== undefined
        ? `pv/${orName(persistentVolume)}`
        : pod === undefined
          ? `va/${orName(there.attached[0]?.object.name ?? '')}`
          : `pod/${orName(namespacedName(pod))}`
  return [`only the node shows what is mounted, and who holds it: ${volctlOn(node, 'explain', what)}`]
}

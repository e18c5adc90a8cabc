/** What is said of a thing of which the plan says nothing. */

import type { Verdict } from '../../explain/explanation.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import type { ClusterTarget } from './cluster-candidates.ts'
import type { Scope } from './scope.ts'
import type { VolumeOnNode } from './volumes-on-nodes.ts'

/** @param complete everything that matters could be read */
export function quietVerdict(context: ClusterContext, { target, volumes }: Scope, complete: boolean): Verdict {
  const lost = volumes.find(({ unresolved, pods }) => unresolved !== undefined && pods.some((pod) => !pod.terminated))
  if (lost?.unresolved !== undefined) {
    return { state: 'problem', message: `a pod refers to a volume that was not found: ${lost.unresolved.message}` }
  }
  const lacking = volumes.find((each) => isLacking(context, each))
  if (lacking !== undefined && complete) {
    return { state: 'problem', message: 'a pod wants a volume that is not attached, and the plan does not say why' }
  }
  const message = messageOf(context, target, volumes)
  if (complete) return { state: 'nothing', message }
  return { state: 'nothing', message: `nothing is known to be wrong, but not everything that matters could be read` }
}

/** Of one volume on one node. */
export function quietOn(context: ClusterContext, on: VolumeOnNode, complete: boolean): Verdict {
  return quietVerdict(context, { target: { kind: 'Volume', uniqueName: on.uniqueName ?? '' }, volumes: [on] }, complete)
}

function isLacking({ actual }: ClusterContext, { node, want, uniqueName, attached }: VolumeOnNode): boolean {
  if (node === undefined || uniqueName === undefined || !want?.pods.length) return false
  return attached.length === 0 && !actual.isConfirmed(node, uniqueName)
}

function messageOf(context: ClusterContext, target: ClusterTarget, volumes: readonly VolumeOnNode[]): string {
  if (target.kind === 'Pod') {
    const { pod } = target
    if (pod.terminated) return 'the pod has ended, and no volume waits for it'
    if (pod.node === undefined) return 'the pod waits for a node; nothing is attached for it before'
  }
  const states = volumes.map((each) => stateOf(context, each))
  const [first = 'there is no volume that can be attached'] = states
  if (new Set(states).size === 1)
    return volumes.length === 1 ? first : `each of the ${volumes.length} volumes: ${first}`
  if (states.length === 0) {
    if (target.kind === 'Node') return 'no volume is attached to the node, or wanted there'
    return target.kind === 'Driver' ? 'no volume of the driver is attached or wanted' : first
  }
  return `all ${volumes.length} volumes are as the controller leaves them`
}

function stateOf({ actual }: ClusterContext, { node, want, uniqueName, attached, pods }: VolumeOnNode): string {
  const isThere = attached.length > 0 || (node !== undefined && actual.isConfirmed(node, uniqueName ?? ''))
  if (want !== undefined && want.pods.length > 0) return 'a pod wants the volume, and it is attached'
  if (pods.length > 0 && node === undefined) return 'the pod waits for a node'
  if (want !== undefined)
    return isThere ? 'the volume stays attached as long as its pods have it' : 'nothing is to be attached'
  if (isThere) return 'no pod wants the volume, and the plan leaves it as it is'
  return 'no pod wants the volume, and it is attached to no node'
}

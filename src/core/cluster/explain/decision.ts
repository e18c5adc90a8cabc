/** What the attach/detach controller's pass makes of a volume on a node, and by which rule. */

import type { Concern } from '../../explain/concern.ts'
import { firstFew } from '../../lang/first-few.ts'
import type { ClusterOperation, ClusterProblem, ClusterWaiting } from '../../plan/cluster-plan.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import { type ClusterContext, nodeOf } from '../context/cluster-context.ts'
import type { NotAttachedFor } from '../desired/desired-attachments.ts'
import { DETACH_LISTS } from '../detach/detach-volumes.ts'
import type { ClusterRow } from '../ledger/cluster-row.ts'
import type { ClusterPod } from '../model/cluster-state.ts'
import type { ClusterDecision } from './cluster-explanation.ts'

/** What of a cluster's plan is about what is asked about. */
export type ClusterConcern = Concern<ClusterOperation, ClusterWaiting, ClusterProblem>

/** @param concern what of the plan is about this volume on this node alone */
export function decisionOn(
  context: ClusterContext,
  on: ClusterRow,
  concern: Pick<ClusterConcern, 'operations' | 'waiting'>,
): ClusterDecision {
  return byPlan(concern) ?? byAttachment(on) ?? byPods(context, on) ?? unwanted(context, on)
}

function byPlan({ operations, waiting }: Pick<ClusterConcern, 'operations' | 'waiting'>): ClusterDecision | undefined {
  const [operation] = operations
  if (operation !== undefined) return { why: operation.message, rule: operation.rule }
  const [wait] = waiting
  return wait && { why: wait.message, rule: wait.rule }
}

/** What is left alone for a doubt about the attachment. */
function byAttachment({ attached }: ClusterRow): ClusterDecision | undefined {
  const [doubtful] = attached.filter(({ unclear, persistentVolume }) => unclear ?? persistentVolume === 'unknown')
  if (doubtful === undefined) return undefined
  const { object, unclear } = doubtful
  const why = unclear ?? `PersistentVolume ${object.persistentVolume ?? ''} could not be read`
  return { why: `VolumeAttachment ${object.name} is left as it is: ${why}`, rule: 'S3' }
}

const HELD: Readonly<Record<NotAttachedFor, { readonly why: string; readonly rule: string }>> = {
  NotAttachable: { why: 'the driver needs no attachment', rule: 'C35' },
  AttachabilityUnknown: { why: 'whether the driver needs an attachment could not be read', rule: 'S3' },
  NotMigrated: { why: 'the kubelet of the node mounts the in-tree volume itself', rule: 'R150' },
  Unusable: { why: 'the pod cannot use the volume', rule: 'R709' },
  NotManaged: { why: 'the controller does not manage the node', rule: 'R702' },
  TerminatedKept: { why: 'the node keeps the volumes of pods that have ended', rule: 'R710' },
  DuplicateObject: { why: 'the list has two pods of this name', rule: 'S3' },
}

function byPods(context: ClusterContext, on: ClusterRow): ClusterDecision | undefined {
  const { want, unresolved, node, uniqueName = '', pods, attached } = on
  if (unresolved !== undefined) return { why: `nothing is attached: ${unresolved.message}`, rule: 'S4' }
  if (want !== undefined && want.pods.length > 0) {
    const who = `${podsText(want.pods)} on node ${want.node}`
    const isThere = attached.length > 0 || context.actual.isConfirmed(want.node, uniqueName)
    if (isThere)
      return { why: `the volume stays attached: ${who} ${hasOrHave(want.pods)} it in the spec`, rule: 'R706' }
    if (context.actual.nodesWith(uniqueName).some((each) => each !== want.node) && want.volume.exclusive)
      return { why: `${who} ${wantOrWants(want.pods)} the volume, and another node still has it`, rule: 'R742' }
    return { why: `${who} ${wantOrWants(want.pods)} the volume, and which node has it is not known`, rule: 'R714' }
  }
  const [other] = want?.others ?? []
  if (other !== undefined) {
    const { why, rule } = HELD[other.why]
    const fault = other.fault === undefined ? '' : ` (${other.fault})`
    return { why: `nothing is attached or detached for pod ${namespacedName(other.pod)}: ${why}${fault}`, rule }
  }
  const [first] = pods
  if (first === undefined) return undefined
  if (node === undefined) {
    return { why: `nothing is attached before the scheduler has chosen a node for ${podsText(pods)}`, rule: 'R706' }
  }
  return attached.length > 0 ? undefined : { why: `${podsText(pods)} ${hasOrHave(pods)} ended`, rule: 'R707' }
}

const hasOrHave = (pods: readonly ClusterPod[]): string => (pods.length === 1 ? 'has' : 'have')
const wantOrWants = (pods: readonly ClusterPod[]): string => (pods.length === 1 ? 'wants' : 'want')

function podsText(pods: readonly ClusterPod[]): string {
  return `pod ${firstFew(pods.map(namespacedName), 1, 'and ').join(' ')}`
}

function unwanted(context: ClusterContext, { node, uniqueName, attached }: ClusterRow): ClusterDecision {
  const { actual, objects } = context
  const [first] = attached
  if (node === undefined) return { why: 'no pod wants the volume, and no node has it', rule: 'R706' }
  if (!DETACH_LISTS.every((list) => objects.isWhole(list))) {
    const why = 'nothing is detached: not all pods, nodes and VolumeAttachments could be read'
    return { why, rule: 'S3' }
  }
  if (first !== undefined) {
    if (nodeOf(context, node)?.managed === false)
      return { why: `${HELD.NotManaged.why}: node ${node}`, rule: HELD.NotManaged.rule }
    return { why: `no pod on node ${node} wants the volume, and the plan leaves the volume as it is`, rule: 'R731' }
  }
  if (uniqueName !== undefined && actual.isInUse(node, uniqueName))
    return { why: `node ${node} reports the volume in use, and the volume has no VolumeAttachment there`, rule: 'R716' }
  if (uniqueName !== undefined && actual.isConfirmed(node, uniqueName))
    return { why: `only the status of node ${node} says that the volume is attached`, rule: 'R714' }
  return { why: 'no pod wants the volume there, and it is not attached', rule: 'R706' }
}

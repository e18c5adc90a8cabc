/**
 * Detach, which comes before attach: every VolumeAttachment of a volume that no pod of its node wants (R725, R731).
 *
 * The controller first takes a volume out of volumesAttached to stop new mounts. volctl cannot: an apply looks at the
 * Node and the pods again right before it deletes, with uid and resourceVersion as preconditions, and looks once more after.
 */

import { describeAttachment, kubectl, planCluster, planNodeGone, whoCreated } from '../../base/command.ts'
import { omitUndefined } from '../../base/omit-undefined.ts'
import type { Reason } from '../../messages/codes.ts'
import type { ClusterStep } from '../../plan/cluster-plan.ts'
import type { Blocked } from '../../plan/plan.ts'
import type { ClusterContext } from '../model/cluster-context.ts'
import { type ClusterAttachment, type ClusterNode, fact } from '../model/cluster-state.ts'
import { attachedRef, blockedBy, type ClusterFindings, forbidden, heldBy, podRef } from '../model/findings.ts'
import { type Attached, isWanted } from '../model/rows.ts'
import {
  because,
  detachRow,
  endings,
  fromNode,
  inUseHint,
  isForeign,
  LATEST,
  lastHeard,
  machineIsOff,
  mayBeInUse,
  mayWrite,
  neverDetached,
  settling,
  type Verdict,
  waitFor,
} from './verdict.ts'

/** Without these whole, nobody can say that no pod wants a volume, or that no node uses it (S2, S3). */
export const DETACH_LISTS = ['pods', 'nodes', 'volumeattachments'] as const

export function detachVolumes(context: ClusterContext, findings: ClusterFindings): void {
  if (!DETACH_LISTS.every((list) => context.objects.isWhole(list))) return
  for (const attached of context.rows.attached) detachVolume(context, findings, attached)
}

function detachVolume(context: ClusterContext, findings: ClusterFindings, attached: Attached): void {
  const { object, row, unclear, persistentVolume } = attached
  // What contradicts itself, or cannot be read, is reported, and never deleted.
  if (unclear !== undefined || persistentVolume === 'unknown' || isWanted(row)) return
  const verdict = judge(context, attached)
  if (verdict === undefined) return
  const volume = attachedRef(attached, context.rows)
  const pods = (row?.ended ?? []).map(podRef)
  if ('wait' in verdict) {
    const about = { node: object.node, pods, volume, attachment: object.name }
    findings.wait('DetachVolume', verdict.wait, verdict.rule, about)
    return
  }
  const { blocked, exception, evidence, ...decision } = verdict
  const node = context.node(object.node)
  const steps = stepsOf(context, attached)
  findings.add({
    kind: 'DetachVolume',
    ...omitUndefined(decision),
    ...{ node: object.node, pods, volume, paths: [], steps, after: [] },
    ...omitUndefined({ blocked: blocked ?? obstacleTo(context, attached) ?? forbidden(context, steps) }),
    evidence: [...evidence, fact(`VolumeAttachment ${object.name} was created`, object.createdAt)],
    attachment: { name: object.name, uid: object.uid, resourceVersion: object.resourceVersion },
    basis: {
      ...(node && { node: { uid: node.uid, resourceVersion: node.resourceVersion } }),
      inUse: volume.inUse === true,
      ...omitUndefined({ exception }),
    },
  })
}

function judge(context: ClusterContext, attached: Attached): Verdict | undefined {
  const { object } = attached
  const found = context.objects.node(object.node)
  if (found.state === 'Unknown') return waitFor('NodeUnknown', 'R731', `node ${object.node} ${found.reason}`)
  if (object.deletedAt !== undefined)
    return beingDeleted(context, attached, found.state === 'Found' ? found.object : undefined)
  const never = neverDetached(context, attached)
  if (found.state === 'Absent') return fromMissingNode(context, attached, never)
  // What somebody else has made neither the controller nor volctl detaches: a note says so.
  if (!found.object.managed || (isForeign(object) && !isGivenUp(context, object))) return undefined
  if (context.isControllerAlive && never === undefined) return leftToController(context, attached, found.object)
  return fromNode(context, attached, found.object, never)
}

/** While the controller lives, what it is going to do. */
function leftToController(context: ClusterContext, attached: Attached, node: ClusterNode): Verdict {
  const { object, row } = attached
  const first = `the attach/detach controller detaches the volume from node ${object.node}`
  if (row?.isInUse && !node.outOfService) {
    const then = node.ready === 'True' ? 'once the node no longer reports the volume in use' : LATEST
    return waitFor('ControllerActs', 'R731', `${first} ${then}`, inUseHint(context, node))
  }
  const why = row?.isInUse ? ', in use or not, because the node is tainted out-of-service' : ''
  const hint = `If nothing happens, look at the log of kube-controller-manager, and at the attachment: ${describeAttachment(object.name)}`
  return waitFor('ControllerActs', 'R731', `${first}${why}`, hint)
}

/** What holds back an operation that the table allows. */
function obstacleTo(context: ClusterContext, attached: Attached): Blocked | undefined {
  const { object, row } = attached
  const held = mayBeInUse(context, attached)
  if (held !== undefined || !isForeign(object)) return held
  const { name } = object
  // Neither pods nor kubelets, the only witnesses of a volume's use, know of the use for which somebody has created it.
  if (row === undefined)
    return blockedBy(
      'AttachmentUnclear',
      `neither the name of VolumeAttachment ${name} nor its PersistentVolume shows which volume is attached`,
      `Look at the attachment: ${describeAttachment(name)}`,
    )
  if (isGivenUp(context, object)) return undefined
  return blockedBy(
    'AttachmentUnclear',
    `VolumeAttachment ${name} was not created by Kubernetes, and nothing shows whether its creator uses the volume`,
    `Find out who created the attachment: ${whoCreated(name)}; once nobody needs it: ${kubectl('delete', 'volumeattachment', name)}`,
  )
}

/** Whoever has created it has deleted it, or a person says that the machine is off: there is no use of theirs that could end. */
function isGivenUp(context: ClusterContext, { node, deletedAt }: ClusterAttachment): boolean {
  const found = context.node(node)
  const isReady = found !== undefined && context.readinessOf(found).ready === 'True'
  return deletedAt !== undefined || (context.isGivenAsGone(node) && !isReady)
}

/**
 * Attachments of a node whose object was deleted.
 * R734: for the controller the volume of a deleted Node is safe to detach. Its machine may still write, as that of a node that is
 * lost: silence shows only that its kubelet does not run. A person says that it does not (--node-gone).
 */
function fromMissingNode(context: ClusterContext, attached: Attached, never: Reason | undefined): Verdict {
  const { object, row } = attached
  const { node } = object
  const isGiven = context.isGivenAsGone(node)
  if (!isGiven && context.isControllerAlive && never === undefined) {
    return waitFor(
      'ControllerActs',
      'R734',
      `node ${node} does not exist; the attach/detach controller detaches the volume ${LATEST}`,
      ['If the attachment stays: make sure that the machine is off; then:', planNodeGone(node)],
    )
  }
  if (!isGiven && !context.isSettled(object.createdAt)) return settling(attached)
  const heard = lastHeard(context, node)
  return {
    ...{ reason: never ?? 'NodeDeleted', rule: 'R734', exception: 'NodeGone', makeSure: machineIsOff(node) },
    message: `${because(never)}node ${node} does not exist, and no pod wants the volume there`,
    evidence: [
      fact(`node ${node} is not in the list of nodes`),
      ...(heard === undefined ? [] : [fact(`the kubelet of node ${node} last renewed its lease`, heard)]),
      ...endings(row),
    ],
    blocked: machineObstacle(context, node),
  }
}

/** A person's word does not stand against what is heard just now, of a node that was deleted as of one that exists. */
function machineObstacle(context: ClusterContext, node: string): Blocked | undefined {
  const heard = omitUndefined({ leaseRenewTime: lastHeard(context, node) })
  if (!context.isHeard({ name: node, ready: 'Unknown', ...heard }))
    return context.isGivenAsGone(node) ? undefined : mayWrite(node)
  return blockedBy(
    'MachineMayWrite',
    `the machine of node ${node}, which does not exist in the API, runs: its kubelet is still heard`,
    [
      'Turn the machine off; once its kubelet has been silent for a minute:',
      planNodeGone(node),
      'turn the machine off',
    ],
  )
}

/**
 * Attachments that are being deleted: their attacher ends that, or nobody does.
 * N59: the external attacher has to take its finalizer off. If its driver is gone, nobody does.
 */
function beingDeleted(context: ClusterContext, attached: Attached, node: ClusterNode | undefined): Verdict | undefined {
  const { object } = attached
  const held = heldBy(object.finalizers)
  const error = object.detachError?.message
  const message = `VolumeAttachment ${object.name} is being deleted${held}${error === undefined ? '' : `; the last attempt failed: ${error}`}`
  const isOnlyHeld = held !== '' && context.isDriverGone(object.attacher)
  if (!isOnlyHeld || mayBeMounted(context, attached, node) || !context.isSettled(object.deletedAt)) {
    return waitFor('AttachmentDeleting', 'N59', message, context.lookAtWhoDetaches(object.name, object.attacher))
  }
  const says = 'etach the volume in the storage system'
  const notAsked = blockedBy(
    'NotAsked',
    'finalizers are taken off only on request: the storage system may still have the volume attached',
    [`D${says}; then:`, planCluster('--strip-finalizers'), `d${says}`],
  )
  return {
    ...{ reason: 'DriverRemoved', rule: 'N59', message: `${message}; its driver ${object.attacher} is gone` },
    evidence: [fact(`VolumeAttachment ${object.name} is being deleted`, object.deletedAt)],
    makeSure: `that the storage system has detached the volume from node ${object.node}`,
    ...(node === undefined && { exception: 'NodeGone' as const }),
    blocked:
      (node === undefined ? machineObstacle(context, object.node) : undefined) ??
      (context.options.stripFinalizers ? undefined : notAsked),
  }
}

/** In use by the word of its node, or on a node that cannot be asked. */
function mayBeMounted(context: ClusterContext, { row }: Attached, node: ClusterNode | undefined): boolean {
  if (row?.isInUse) return true
  return node !== undefined && !['NotInUse', 'OutOfService'].includes(detachRow(context, node, row).is)
}

function stepsOf(context: ClusterContext, { object }: Attached): readonly ClusterStep[] {
  const target = `volumeattachments/${object.name}`
  const finalizers = object.finalizers ?? []
  const strips =
    finalizers.length > 0 && context.options.stripFinalizers === true && context.isDriverGone(object.attacher)
  const isDeleted = object.deletedAt !== undefined
  return [
    ...(isDeleted ? [] : [{ op: 'deleteVolumeAttachment', target } as const]),
    ...(strips || isDeleted ? [{ op: 'removeFinalizers', target, finalizers } as const] : []),
  ]
}

/** Attachments that are being deleted: their attacher ends that, or nobody does. */

import { defined } from '../../lang/defined.ts'
import type { ClusterBlocked, ClusterStep } from '../../plan/cluster-plan.ts'
import type { Attached } from '../actual/actual-attachments.ts'
import { type ClusterContext, isSettled } from '../context/cluster-context.ts'
import { isDriverGone } from '../context/drivers.ts'
import { blockedBy } from '../context/findings.ts'
import { credentialFor, lookAtAttacher } from '../context/kubectl.ts'
import type { ClusterNode } from '../model/cluster-state.ts'
import { isGivenAsGone, rowOnNode } from './node-state.ts'
import { mayWrite, type Verdict, waitFor } from './verdict.ts'

/** N59: the external attacher has to take its finalizer off. If its driver is gone, nobody does. */
export function beingDeleted(
  context: ClusterContext,
  attached: Attached,
  node: ClusterNode | undefined,
): Verdict | undefined {
  const { object } = attached
  const held = object.finalizers?.join(', ') ?? ''
  const error = object.detachError?.message
  const message = `VolumeAttachment ${object.name} is being deleted${held === '' ? '' : `, held by ${held}`}${error === undefined ? '' : `; the last attempt failed: ${error}`}`
  const isOnlyHeld = held !== '' && isDriverGone(context, object.attacher)
  if (!isOnlyHeld || mayBeMounted(context, attached, node) || !isSettled(context, object.deletedAt)) {
    return waitFor('AttachmentDeleting', 'N59', message, lookAtAttacher(object.name, object.attacher))
  }
  const isMachineOff = node !== undefined || isGivenAsGone(context, object.node)
  return {
    ...{ reason: 'DriverRemoved', rule: 'N59', message: `${message}; its driver ${object.attacher} is gone` },
    evidence: [{ what: `VolumeAttachment ${object.name} is being deleted`, ...defined({ since: object.deletedAt }) }],
    makeSure: `that the storage system has detached the volume from node ${object.node}`,
    ...(node === undefined && { exception: 'NodeGone' as const }),
    blocked: isMachineOff ? stripObstacle(context) : mayWrite(object.node),
  }
}

/** In use by the word of its node, or on a node that cannot be asked. */
function mayBeMounted(
  context: ClusterContext,
  { object, uniqueName }: Attached,
  node: ClusterNode | undefined,
): boolean {
  if (uniqueName !== undefined && context.actual.isInUse(object.node, uniqueName)) return true
  return node !== undefined && !['NotInUse', 'OutOfService'].includes(rowOnNode(context, node, uniqueName).row)
}

function stripObstacle({ options, state }: ClusterContext): ClusterBlocked | undefined {
  if (options.stripFinalizers === true) {
    if (state.rights.patchAttachments !== false) return undefined
    return blockedBy('Forbidden', 'this credential may not patch VolumeAttachments', credentialFor('patch'))
  }
  return blockedBy(
    'NotAsked',
    'finalizers are taken off only on request: the storage system may still have the volume attached',
    'Detach the volume in the storage system; then: volctl plan --cluster --strip-finalizers',
  )
}

export function stepsOf(context: ClusterContext, { object }: Attached): readonly ClusterStep[] {
  const target = `volumeattachments/${object.name}`
  const finalizers = object.finalizers ?? []
  const strips =
    finalizers.length > 0 && context.options.stripFinalizers === true && isDriverGone(context, object.attacher)
  const isDeleted = object.deletedAt !== undefined
  return [
    ...(isDeleted ? [] : [{ op: 'deleteVolumeAttachment', target } as const]),
    ...(strips || isDeleted ? [{ op: 'removeFinalizers', target, finalizers } as const] : []),
  ]
}

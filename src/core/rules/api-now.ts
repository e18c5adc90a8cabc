/**
 * What the API says right before an attachment is deleted (S21), and before a driver is called to set a volume up (S22, S30): read
 * by the step, judged here.
 */

import { isOutOfService } from '../volumes/node-affinity.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'

/** The plan's own attachment, of a node that is there, which no pod wants. */
export function notToDetach({ operation, attachment, api, plan }: MachineFacts): Verdict | undefined {
  const { attachment: bound, volume } = operation
  if (api === undefined || attachment === undefined) return undefined
  const { metadata, spec } = attachment
  if (bound === undefined || metadata.uid !== bound.uid || spec.nodeName !== plan.node)
    return {
      code: 'Changed',
      message: `VolumeAttachment ${metadata.name} is not the one that the plan was made for`,
    }
  if (api.node === undefined) return { code: 'NodeMissing', message: `node ${plan.node} is not in the API` }
  const name = volume?.uniqueName
  return name === undefined || api.isWanted
    ? { code: 'WantedAgain', message: `a pod of this node wants ${name ?? 'an unidentified volume'}` }
    : undefined
}

/** S30: if the credential may not list the attachments, nothing is mounted. */
export function attachedElsewhere({ api }: MachineFacts): Verdict | undefined {
  const { volume, elsewhere = [] } = api?.toSetUp ?? {}
  if (elsewhere.length === 0) return undefined
  return refused(
    'AccessMode',
    typeof elsewhere === 'string'
      ? `the nodes that ${volume?.specName} is attached to could not be read: ${elsewhere}`
      : `${volume?.specName} is also attached to ${elsewhere.join(', ')}, which its access mode does not allow`,
  )
}

/** Attached here, by an attachment that stays (C37), and reported in use: otherwise the controller may detach it at any moment. */
export function notAttached({ api, attachment, plan }: MachineFacts): Verdict | undefined {
  if (api?.toSetUp === undefined) return undefined
  const { node, toSetUp } = api
  const { volume, attachmentName: name } = toSetUp
  const { uniqueName, attachability, specName } = volume
  if (node === undefined) return refused('NodeMissing', `node ${plan.node} is not in the API`)
  if (isOutOfService(node)) return refused('NodeNotReady', `node ${plan.node} is tainted out-of-service`)
  if (attachability === 'notAttachable') return undefined
  if (attachability === 'unknown')
    return refused(
      'CsiDriverUnknown',
      `the CSIDriver could not be read, so it is not known whether ${specName} must be attached`,
    )
  const { volumesAttached, volumesInUse } = node.status ?? {}
  if (!volumesAttached?.some((each) => each.name === uniqueName))
    return refused('NotAttached', `${uniqueName} is no longer in node.status.volumesAttached`)
  if (!volumesInUse?.includes(uniqueName))
    return refused('NotReportedInUse', `${uniqueName} is no longer in node.status.volumesInUse`)
  if (attachment === undefined) return refused('NotAttached', `VolumeAttachment ${name} no longer exists`)
  if (attachment.metadata.deletionTimestamp !== undefined)
    return refused('AttachmentDeleting', `VolumeAttachment ${name} is being deleted`)
  return attachment.status?.attached === true
    ? undefined
    : refused('NotAttached', `VolumeAttachment ${name} is not attached`)
}

function refused(code: Verdict['code'], message: string): Verdict {
  return { code, message, hint: 'Plan again.' }
}

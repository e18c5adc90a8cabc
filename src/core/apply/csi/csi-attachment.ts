/** Checks S22 and S30 right before a CSI volume is staged or published. */

import { errorMessage } from '../../base/errors.ts'
import { OperationRefused } from '../../base/operation-error.ts'
import { attachmentName } from '../../facts/actual/volume-names.ts'
import type { Node, VolumeAttachment } from '../../kube/api/objects.ts'
import { withDeadline } from '../../linux/deadline.ts'
import type { OutcomeCode } from '../../messages/codes.ts'
import { AttachedElsewhere } from '../../volumes/api-objects.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'
import { allowsSeveralNodes, isOutOfService } from '../../volumes/node-affinity.ts'
import type { StepContext } from '../operation/step-context.ts'
import { type WantedCsi, wantedCsi } from './csi-call.ts'

/**
 * The volume must be attached here, the node must report it in use, and it must not be attached to another node against its
 * access mode.
 *
 * @returns the publish context (C39); empty for a volume that is not attachable
 * @throws OperationRefused, or a failed read
 */
export async function requireAttached(run: StepContext): Promise<Readonly<Record<string, string>>> {
  const wanted = wantedCsi(run)
  const { volume } = wanted
  const attaches = volume.attachability !== 'notAttachable'
  if (volume.attachability === 'unknown')
    throw refused(
      'CsiDriverUnknown',
      `the CSIDriver could not be read, so it is not known whether ${volume.specName} must be attached`,
    )
  const name = attachmentName(wanted.handle, wanted.driver, run.plan.node)
  const { cluster } = run.context
  const [node, attachment] = await run.waiting.spend((ms) => {
    const ask = <T>(answer: Promise<T>): Promise<T> => withDeadline(answer, ms, 'the API server')
    return Promise.all([
      ask(cluster.getNode()),
      attaches ? ask(cluster.getVolumeAttachment(name)) : undefined,
      attaches ? requireNotElsewhere(run, wanted, ask) : undefined,
    ])
  })
  requireNodeInService(node, run.plan.node)
  if (!attaches) return {}
  requireReported(node, volume)
  return metadataOf(attachment, name)
}

function requireNodeInService(node: Node | undefined, name: string): void {
  if (node === undefined) throw refused('NodeMissing', `node ${name} is not in the API`)
  if (isOutOfService(node)) throw refused('NodeNotReady', `node ${name} is tainted out-of-service`)
}

/** The controller may detach at any moment a volume that the node does not report in use. */
function requireReported(node: Node | undefined, { uniqueName }: VolumeToMount): void {
  const { volumesAttached, volumesInUse } = node?.status ?? {}
  if (!volumesAttached?.some(({ name }) => name === uniqueName))
    throw refused('NotAttached', `${uniqueName} is no longer in node.status.volumesAttached`)
  if (!volumesInUse?.includes(uniqueName))
    throw refused('NotReportedInUse', `${uniqueName} is no longer in node.status.volumesInUse`)
}

/** C37. */
function metadataOf(attachment: VolumeAttachment | undefined, name: string): Readonly<Record<string, string>> {
  if (attachment === undefined) throw refused('NotAttached', `VolumeAttachment ${name} no longer exists`)
  if (attachment.metadata.deletionTimestamp !== undefined)
    throw refused('AttachmentDeleting', `VolumeAttachment ${name} is being deleted`)
  if (attachment.status?.attached !== true) throw refused('NotAttached', `VolumeAttachment ${name} is not attached`)
  return attachment.status.attachmentMetadata ?? {}
}

/** S30: if the credential may not list the attachments, nothing is mounted. */
async function requireNotElsewhere(
  { context, plan }: StepContext,
  { volume, driver, handle }: WantedCsi,
  ask: <T>(answer: Promise<T>) => Promise<T>,
): Promise<void> {
  if (allowsSeveralNodes(volume.persistentVolume)) return
  let all: readonly VolumeAttachment[]
  try {
    all = await ask(context.cluster.listVolumeAttachments())
  } catch (error) {
    const message = `the nodes that ${volume.specName} is attached to could not be read: ${errorMessage(error)}`
    throw refused('AccessMode', message, error)
  }
  const others = all.filter(({ spec, status }) => spec.nodeName !== plan.node && status?.attached === true)
  const nodes = new AttachedElsewhere(others, () => undefined).nodesOf({ driver, handle })
  if (nodes.length > 0)
    throw refused(
      'AccessMode',
      `${volume.specName} is also attached to ${nodes.join(', ')}, which its access mode does not allow`,
    )
}

function refused(code: OutcomeCode, message: string, cause?: unknown): OperationRefused {
  return new OperationRefused(code, message, { cause, hint: 'Plan again.' })
}

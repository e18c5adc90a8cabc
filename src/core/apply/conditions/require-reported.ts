/** What the Node must report right before an attached volume is set up (S22). */
import type { OutcomeCode } from '../../codes/codes.ts'
import type { VolumeToMount } from '../../desired/desired-state.ts'
import { isOutOfService } from '../../desired/node-status.ts'
import { errorMessage } from '../../errors/errors.ts'
import { OperationRefused } from '../../errors/operation-error.ts'
import type { Node } from '../../model/objects.ts'
import { withDeadline } from '../../processes/deadline.ts'
import type { StepContext } from '../operation/step-context.ts'

/**
 * For iSCSI, FC and flexVolumes, by a fresh read of the Node. For CSI volumes the Node and the attachment are checked
 * before each call.
 *
 * @throws OperationRefused
 */
export async function requireStillReported(volume: VolumeToMount, run: StepContext): Promise<void> {
  if (volume.attachability !== 'attachable' || volume.driver !== undefined) return
  const node = await freshNode(run)
  requireNodeInService(node, run.plan.node)
  requireReported(node, volume)
}

async function freshNode({ context, plan, waiting }: StepContext): Promise<Node | undefined> {
  try {
    return await waiting.spend((ms) => withDeadline(context.cluster.getNode(), ms, 'the API server'))
  } catch (error) {
    throw refused('NotAttached', `the status of node ${plan.node} could not be read: ${errorMessage(error)}`, error)
  }
}

export function requireNodeInService(node: Node | undefined, name: string): void {
  if (node === undefined) throw refused('NodeMissing', `node ${name} is not in the API`)
  if (isOutOfService(node)) throw refused('NodeNotReady', `node ${name} is tainted out-of-service`)
}

/** The controller may detach at any moment a volume that the node does not report in use. */
export function requireReported(node: Node | undefined, { uniqueName }: VolumeToMount): void {
  const { volumesAttached, volumesInUse } = node?.status ?? {}
  if (!volumesAttached?.some(({ name }) => name === uniqueName))
    throw refused('NotAttached', `${uniqueName} is no longer in node.status.volumesAttached`)
  if (!volumesInUse?.includes(uniqueName))
    throw refused('NotReportedInUse', `${uniqueName} is no longer in node.status.volumesInUse`)
}

export function refused(code: OutcomeCode, message: string, cause?: unknown): OperationRefused {
  return new OperationRefused(code, message, { cause, hint: 'Plan again.' })
}

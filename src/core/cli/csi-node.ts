/** A driver's node service as apply calls it. */
import type { CsiNode } from '../apply/operation/ports.ts'
import type { CsiNodeClient } from '../csi/csi-node-client.ts'
import { type Deadline, deadlineIn } from '../grpc/call-deadline.ts'

/** The port, by a client; the deadline of each call in milliseconds. */
export function csiNodeOf(client: CsiNodeClient): CsiNode {
  const within = (ms: number): { deadline: Deadline } => ({ deadline: deadlineIn(ms) })
  return {
    nodeGetCapabilities: (ms) => client.nodeGetCapabilities(within(ms)),
    nodeStageVolume: (request, ms) => client.nodeStageVolume(request, within(ms)),
    nodePublishVolume: (request, ms) => client.nodePublishVolume(request, within(ms)),
    nodeExpandVolume: (request, ms) => client.nodeExpandVolume(request, within(ms)),
    nodeUnpublishVolume: (request, ms) => client.nodeUnpublishVolume(request, within(ms)),
    nodeUnstageVolume: (request, ms) => client.nodeUnstageVolume(request, within(ms)),
  }
}

import type { DescMessage, DescMethod, DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf'
import { said, VolctlError } from '../messages/findings.ts'
import {
  Node,
  type NodeExpandVolumeRequestSchema,
  type NodePublishVolumeRequestSchema,
  NodeServiceCapability_RPC_Type,
  type NodeStageVolumeRequestSchema,
} from './gen/csi/v1/csi_pb.js'
import { deadlineIn } from './grpc-status.ts'
import { type CallOptions, unaryCall } from './unary-call.ts'

/** One deadline for all calls of one operation, capability calls included (C6). */
const CSI_OPERATION_TIMEOUT_MS = 120_000

export type NodeStageVolume = MessageInitShape<typeof NodeStageVolumeRequestSchema>
export type NodePublishVolume = MessageInitShape<typeof NodePublishVolumeRequestSchema>
export type NodeExpandVolume = MessageInitShape<typeof NodeExpandVolumeRequestSchema>

/**
 * A client of one CSI driver on this node, like the kubelet's: one connection per call, no retries (C5).
 *
 * Every call throws GrpcError if the driver or the transport fails. An empty handle or path never reaches the driver. The
 * caller makes sure that at most one call per volume is in flight (C119).
 *
 * @param socketPath the driver's own socket: an absolute path in this mount namespace
 */
export function csiNodeClient(driver: string, socketPath: string) {
  const unsent = ({ name }: DescMethod, why: string): VolctlError =>
    new VolctlError(said('InvalidVolume.notSent', { name, driver, why }))
  /** @param needed fields that may not be empty */
  const calls =
    <I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      ...needed: readonly (keyof MessageInitShape<I>)[]
    ) =>
    async (request: MessageInitShape<I>, deadlineMs = CSI_OPERATION_TIMEOUT_MS): Promise<unknown> => {
      const empty = needed.find((field) => !request[field])
      if (empty !== undefined) throw unsent(method, `${String(empty)} is empty`)
      const options = { deadline: deadlineIn(deadlineMs), secrets: secretsOf(request as NodePublishVolume) }
      return await unaryCall(socketPath, method, request, options)
    }
  const { nodeStageVolume, nodePublishVolume, nodeExpandVolume, nodeUnpublishVolume, nodeUnstageVolume } = Node.method
  const expandVolume = calls(nodeExpandVolume, 'volumeId', 'volumePath')
  return {
    nodeGetCapabilities: (deadlineMs = CSI_OPERATION_TIMEOUT_MS) =>
      nodeCapabilities(socketPath, { deadline: deadlineIn(deadlineMs) }),
    nodeStageVolume: calls(nodeStageVolume, 'volumeId', 'stagingTargetPath', 'volumeCapability'),
    nodePublishVolume: calls(nodePublishVolume, 'volumeId', 'targetPath', 'volumeCapability'),
    nodeExpandVolume: async (request: NodeExpandVolume, deadlineMs?: number) => {
      // C100.
      if ((request.capacityRange?.requiredBytes ?? 0n) < 0n) throw unsent(nodeExpandVolume, 'the size is negative')
      return await expandVolume(request, deadlineMs)
    },
    nodeUnpublishVolume: calls(nodeUnpublishVolume, 'volumeId', 'targetPath'),
    nodeUnstageVolume: calls(nodeUnstageVolume, 'volumeId', 'stagingTargetPath'),
  }
}

/** Names of the node service's capabilities; entries without one are skipped (C7). */
export async function nodeCapabilities(socketPath: string, options: CallOptions): Promise<readonly string[]> {
  const { capabilities } = await unaryCall(socketPath, Node.method.nodeGetCapabilities, {}, options)
  return capabilities.flatMap(({ type }) => (type.case === 'rpc' ? capabilityName(type.value.type) : []))
}

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

/** The text, and each token in it: a driver's error may quote a single token (C60). */
function tokensIn(text: string): string[] {
  return [text, ...Array.from(text.matchAll(/"token":"([^"\\]+)"/g), ([, token = '']) => token)]
}

/** Every value in a request that must not be shown (C118); no request has more fields with such values than a publish. */
function secretsOf({ volumeContext, secrets = {}, volumeCapability }: NodePublishVolume): readonly string[] {
  const tokens = volumeContext?.[TOKENS] ?? secrets[TOKENS]
  const access = volumeCapability?.accessType
  const mount = access?.case === 'mount' ? access.value : undefined
  return [...Object.values(secrets), ...(tokens ? tokensIn(tokens) : []), ...(mount?.mountFlags ?? [])]
}

/** The specification's name of a node capability; one that this version does not know keeps its number. */
function capabilityName(type: NodeServiceCapability_RPC_Type): string[] {
  if (type === NodeServiceCapability_RPC_Type.UNKNOWN) return []
  return [NodeServiceCapability_RPC_Type[type] ?? `CAPABILITY_${type}`]
}

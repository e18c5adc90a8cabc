import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import { VolctlError } from '../base/errors.ts'
import { omitUndefined } from '../base/omit-undefined.ts'
import {
  Identity,
  Node,
  type NodeExpandVolumeRequestSchema,
  type NodeGetInfoResponse,
  type NodeGetVolumeStatsResponse,
  type NodePublishVolumeRequestSchema,
  NodeServiceCapability_RPC_Type,
  type NodeStageVolumeRequestSchema,
} from './gen/csi/v1/csi_pb.js'
import { type Deadline, deadlineIn } from './grpc-status.ts'
import { unaryCall } from './unary-call.ts'

/** One deadline for all calls of one operation, capability calls included (C6). */
const CSI_OPERATION_TIMEOUT_MS = 120_000

interface CsiCallOptions {
  /** Shared by the calls of one operation; default: two minutes for this call. */
  readonly deadline?: Deadline
  readonly signal?: AbortSignal
  /** Accepted bytes of answer, if below gRPC's default (C5). */
  readonly receiveLimit?: number
}

export type NodeStageVolume = MessageInitShape<typeof NodeStageVolumeRequestSchema>
export type NodePublishVolume = MessageInitShape<typeof NodePublishVolumeRequestSchema>
export type NodeExpandVolume = MessageInitShape<typeof NodeExpandVolumeRequestSchema>

/**
 * A client of one CSI driver on this node, like the kubelet's: one connection per call, no retries (C5).
 *
 * Every method throws GrpcError if the driver or the transport fails. An empty handle or path never reaches the driver. The
 * caller makes sure that at most one call per volume is in flight (C119).
 */
export class CsiNodeClient {
  readonly driver: string
  readonly socketPath: string

  /** @param socketPath the driver's own socket: an absolute path in this mount namespace */
  constructor(driver: string, socketPath: string) {
    this.driver = driver
    this.socketPath = socketPath
  }

  async nodeUnpublishVolume(
    { volumeId, targetPath }: { readonly volumeId: string; readonly targetPath: string },
    options: CsiCallOptions = {},
  ): Promise<void> {
    this.#require('NodeUnpublishVolume', { volumeId, targetPath })
    await this.#call(Node.method.nodeUnpublishVolume, { volumeId, targetPath }, options)
  }

  async nodeUnstageVolume(
    { volumeId, stagingTargetPath }: { readonly volumeId: string; readonly stagingTargetPath: string },
    options: CsiCallOptions = {},
  ): Promise<void> {
    this.#require('NodeUnstageVolume', { volumeId, stagingTargetPath })
    await this.#call(Node.method.nodeUnstageVolume, { volumeId, stagingTargetPath }, options)
  }

  async nodeStageVolume(request: NodeStageVolume, options: CsiCallOptions = {}): Promise<void> {
    const { volumeId, stagingTargetPath, volumeCapability } = request
    this.#require('NodeStageVolume', { volumeId, stagingTargetPath, volumeCapability })
    await this.#call(Node.method.nodeStageVolume, request, options, secretsOf(request))
  }

  async nodePublishVolume(request: NodePublishVolume, options: CsiCallOptions = {}): Promise<void> {
    const { volumeId, targetPath, volumeCapability } = request
    this.#require('NodePublishVolume', { volumeId, targetPath, volumeCapability })
    await this.#call(Node.method.nodePublishVolume, request, options, secretsOf(request))
  }

  /** @returns the capacity that the driver reports; 0 if it reports none */
  async nodeExpandVolume(request: NodeExpandVolume, options: CsiCallOptions = {}): Promise<bigint> {
    const { volumeId, volumePath } = request
    this.#require('NodeExpandVolume', { volumeId, volumePath })
    // C100.
    if ((request.capacityRange?.requiredBytes ?? 0n) < 0n)
      throw this.#unsent('NodeExpandVolume', 'the size is negative')
    const reply = await this.#call(Node.method.nodeExpandVolume, request, options, secretsOf(request))
    return reply.capacityBytes
  }

  async nodeGetVolumeStats(
    request: { readonly volumeId: string; readonly volumePath: string; readonly stagingTargetPath?: string },
    options: CsiCallOptions = {},
  ): Promise<NodeGetVolumeStatsResponse> {
    const { volumeId, volumePath } = request
    this.#require('NodeGetVolumeStats', { volumeId, volumePath })
    return this.#call(Node.method.nodeGetVolumeStats, request, options)
  }

  async nodeGetInfo(options: CsiCallOptions = {}): Promise<NodeGetInfoResponse> {
    return this.#call(Node.method.nodeGetInfo, {}, options)
  }

  /** Names of the node service's capabilities; entries without one are skipped (C7). */
  async nodeGetCapabilities(options: CsiCallOptions = {}): Promise<readonly string[]> {
    const { capabilities } = await this.#call(Node.method.nodeGetCapabilities, {}, options)
    return capabilities.flatMap(({ type }) => (type.case === 'rpc' ? capabilityName(type.value.type) : []))
  }

  async getPluginInfo(
    options: CsiCallOptions = {},
  ): Promise<{ readonly name: string; readonly vendorVersion: string }> {
    const { name, vendorVersion } = await this.#call(Identity.method.getPluginInfo, {}, options)
    return { name, vendorVersion }
  }

  /** True if the driver is ready; an answer without that field means yes (C112). */
  async probe(options: CsiCallOptions = {}): Promise<boolean> {
    const { ready } = await this.#call(Identity.method.probe, {}, options)
    return ready ?? true
  }

  #call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    { deadline = deadlineIn(CSI_OPERATION_TIMEOUT_MS), signal, receiveLimit }: CsiCallOptions,
    secrets: readonly string[] = [],
  ): Promise<MessageShape<O>> {
    return unaryCall(this.socketPath, method, request, {
      deadline,
      secrets,
      ...(signal && { signal }),
      ...omitUndefined({ receiveLimit }),
    })
  }

  #require(method: string, fields: Readonly<Record<string, unknown>>): void {
    for (const [field, value] of Object.entries(fields)) {
      if (value !== undefined && value !== '') continue
      throw this.#unsent(method, `${field} is empty`)
    }
  }

  #unsent(method: string, why: string): VolctlError {
    return new VolctlError('InvalidVolume', `${method} on driver ${this.driver}: ${why}; nothing was sent`)
  }
}

const TOKENS = 'csi.storage.k8s.io/serviceAccount.tokens'

/** The text, and each token in it: a driver's error may quote a single token (C60). */
function tokensIn(text: string): string[] {
  return [text, ...Array.from(text.matchAll(/"token":"([^"\\]+)"/g), ([, token = '']) => token)]
}

/** Every value in a request that must not be shown (C118). */
function secretsOf(request: NodeStageVolume | NodePublishVolume | NodeExpandVolume): readonly string[] {
  const context = 'volumeContext' in request ? request.volumeContext : undefined
  const tokens = context?.[TOKENS] ?? request.secrets?.[TOKENS]
  const access = request.volumeCapability?.accessType
  const mount = access?.case === 'mount' ? access.value : undefined
  return [...Object.values(request.secrets ?? {}), ...(tokens ? tokensIn(tokens) : []), ...(mount?.mountFlags ?? [])]
}

/** The specification's name of a node capability; one that this version does not know keeps its number. */
function capabilityName(type: NodeServiceCapability_RPC_Type): string[] {
  if (type === NodeServiceCapability_RPC_Type.UNKNOWN) return []
  return [NodeServiceCapability_RPC_Type[type] ?? `CAPABILITY_${type}`]
}

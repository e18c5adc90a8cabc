import { NodeServiceCapability_RPC_Type } from '../grpc/gen/csi/v1/csi_pb.js'

/** The specification's name of a node capability; one that this version does not know keeps its number. */
export function capabilityName(type: NodeServiceCapability_RPC_Type): string[] {
  if (type === NodeServiceCapability_RPC_Type.UNKNOWN) return []
  return [NodeServiceCapability_RPC_Type[type] ?? `CAPABILITY_${type}`]
}

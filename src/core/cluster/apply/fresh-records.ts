/** What a look at one operation has read again. */
import type {
  ClusterAttachment,
  ClusterClaim,
  ClusterDriver,
  ClusterNode,
  ClusterPod,
  ClusterState,
  ClusterVolume,
  LeaseEvidence,
} from '../model/cluster-state.ts'

/** Each part takes the place of what was known of the same. */
export interface FreshLook {
  /** The server's clock after it. */
  readonly capturedAt: string
  readonly controller: ClusterState['controller']
  readonly node: FreshNode
  /** `of`: only the one of this name; without it all that there are. */
  readonly attachments: { readonly of?: string; readonly records: readonly ClusterAttachment[] }
  /** All pods of the node and of these namespaces. */
  readonly pods: { readonly namespaces: readonly string[]; readonly records: readonly ClusterPod[] }
  /** Those asked for; one that has no record does not exist. */
  readonly volumes: { readonly asked: readonly string[]; readonly records: readonly ClusterVolume[] }
  readonly claims: { readonly asked: readonly ClaimName[]; readonly records: readonly ClusterClaim[] }
}

export interface FreshNode {
  readonly name: string
  /** Undefined: it does not exist. */
  readonly record: ClusterNode | undefined
  readonly leaseRenewTime: string | undefined
}

/** All that can show a driver. */
export interface FreshDriver {
  readonly name: string
  /** All CSIDrivers. */
  readonly drivers: readonly ClusterDriver[]
  /** Every CSINode, by its node. */
  readonly csi: ReadonlyMap<string, ClusterNode['csi']>
  /** Leases by the name of its external attacher, of any namespace. */
  readonly attachers: readonly LeaseEvidence[]
  /** Nodes of those CSINodes that were not known. */
  readonly nodes: readonly FreshNode[]
}

export interface ClaimName {
  readonly namespace: string
  readonly name: string
}

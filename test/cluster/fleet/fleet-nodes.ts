/** A cluster of nodes a and b with volume x, and snapshots of its nodes. */

import type { NodeLedger } from '../../../src/core/cluster/fleet/node-ledger.ts'
import { nodeLedger } from '../../../src/core/cluster/fleet/node-ledger.ts'
import type { ClusterNode, ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import type { NodeState } from '../../../src/core/model/node-state.ts'
import type { NodeSnapshot } from '../../../src/core/model/snapshot.ts'
import { ago, attachment, claim, cluster, node, volume } from '../../helpers/cluster-builder.ts'
import { DRIVER, node as emptyNode, type NodeBuilder, uid } from '../../helpers/node-builder.ts'

/** A Node that says which machine and boot it is. */
export function machine(name: string, parts: Partial<ClusterNode> = {}): ClusterNode {
  return node(name, { machineID: `machine-${name}`, systemUUID: `system-${name}`, bootID: `boot-${name}`, ...parts })
}

export function attached(on: string): ClusterState['attachments'][number] {
  return attachment('x', on, { attacher: DRIVER })
}

/** Volume x is attached to node a, and no pod wants it. */
export function unwanted(parts: Partial<ClusterState> = {}, onA: Partial<ClusterNode> = {}): ClusterState {
  const csi = { state: 'known', drivers: [{ name: DRIVER, nodeID: 'n' }], migrated: [] } as const
  return cluster({
    nodes: [machine('a', { csi, ...onA }), machine('b', { csi })],
    claims: [claim('x')],
    volumes: [volume('x', { driver: DRIVER })],
    attachments: [attached('a')],
    drivers: [{ name: DRIVER, attachRequired: true }],
    podCount: 3,
    ...parts,
  })
}

/** @param minutes how long before the cluster was read */
export function snapshotOf(
  name: string,
  put: (builder: NodeBuilder) => unknown = () => undefined,
  parts: Partial<NodeSnapshot> = {},
  minutes = 0.5,
): NodeState {
  const builder = emptyNode()
  put(builder)
  const { snapshot, mounts } = builder.build()
  const { api } = snapshot
  return {
    mounts,
    snapshot: {
      ...snapshot,
      capturedAt: ago(minutes),
      nodeName: name,
      ...{ machineID: `machine-${name}`, systemUUID: `system-${name}`, bootID: `boot-${name}` },
      ...(api && {
        api: {
          ...api,
          server: 'https://api.example:6443',
          node: api.node && { ...api.node, metadata: { ...api.node.metadata, name, uid: `node-${name}` } },
        },
      }),
      ...parts,
    },
  }
}

export function ledgerOf(...of: Parameters<typeof snapshotOf>): NodeLedger {
  return nodeLedger(snapshotOf(...of), `${of[0]}.json`)
}

/** What the nodes have of volume x. */
export const STAGED = (builder: NodeBuilder): unknown => builder.staged('h-x', '7:1')
export const PUBLISHED = (builder: NodeBuilder): unknown => builder.published(uid(9), 'pv-x', '7:1', { handle: 'h-x' })

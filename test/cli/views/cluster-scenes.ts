/** Clusters whose plan and status are drawn in tests. */
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { ALIVE, attachment, bound, cluster, node, pod, silentNode, uniqueName } from '../../helpers/cluster-builder.ts'

const LIVING = { lease: ALIVE, leaseAtEnd: ALIVE }
const MANY = Array.from({ length: 12 }, (_, index) => `v${index}`)

const inUse = (name: string, ...volumes: string[]) =>
  node(name, {
    volumesInUse: volumes.map((each) => uniqueName(each)),
    volumesAttached: volumes.map((each) => uniqueName(each)),
  })

const attached = { attachments: [attachment('db', 'a')], ...bound('db') }

export const SCENES: Readonly<Record<string, ClusterState>> = {
  healthy: cluster({
    controller: LIVING,
    nodes: [inUse('a', 'db'), node('b')],
    pods: [pod('db-0', 'a', ['db'])],
    ...attached,
  }),
  'left over, and no controller': cluster({
    attachments: MANY.map((name) => attachment(name, 'a')),
    ...bound(...MANY),
  }),
  'left over, and a controller': cluster({
    controller: LIVING,
    attachments: MANY.map((name) => attachment(name, 'a')),
    ...bound(...MANY),
  }),
  'a node that is gone': cluster({
    nodes: [node('b')],
    pods: [pod('db-0', 'b', ['db'])],
    ...attached,
  }),
  'two pods of one volume': cluster({
    nodes: [inUse('a', 'db'), node('b')],
    pods: [pod('db-0', 'a', ['db']), pod('db-1', 'b', ['db'], { started: false })],
    ...attached,
  }),
  'a node that is silent': cluster({
    nodes: [{ ...silentNode('a', 30), volumesInUse: [uniqueName('db')] }, node('b')],
    ...attached,
  }),
  'pods that cannot be listed': cluster({
    lists: { ...cluster().lists, pods: { state: 'failed', count: 0 } },
    errors: [{ resource: 'pods', status: 403, reason: 'Forbidden', message: 'pods is forbidden' }],
    ...attached,
  }),
}

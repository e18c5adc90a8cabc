/** Clusters whose plan and status are drawn in tests. */
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { ALIVE, attachment, bound, cluster, node, pod, uniqueName, unread } from '../../helpers/cluster-builder.ts'

const LIVING = { lease: ALIVE, leaseAtEnd: ALIVE }
const MANY = Array.from({ length: 12 }, (_, index) => `v${index}`)

const attached = { attachments: [attachment('db', 'a')], ...bound('db') }

export const SCENES: Readonly<Record<string, ClusterState>> = {
  healthy: cluster({
    controller: LIVING,
    nodes: [node('a', { volumesInUse: [uniqueName('db')], volumesAttached: [uniqueName('db')] })],
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
  'pods that cannot be listed': cluster({
    ...unread('pods'),
    errors: [{ resource: 'pods', status: 403, reason: 'Forbidden', message: 'pods is forbidden' }],
    ...attached,
  }),
}

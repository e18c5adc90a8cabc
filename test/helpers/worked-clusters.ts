/** The clusters of docs/cluster.md, in three states that need a person. test/fixtures/clusters has them as files. */
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { ALIVE, ago, attachment, bound, cluster, node, pod, silentNode, uniqueName } from './cluster-builder.ts'

const inShop = { namespace: 'shop' }

const { claims, volumes } = bound('data')
const shop = {
  claims: claims.map((each) => ({ ...each, ...inShop })),
  volumes: volumes.map((each) => ({ ...each, claim: { ...inShop, name: 'data', uid: 'claim-data' } })),
}

/** A kubelet also lists what a pod of its node waits for (R330). */
const data = [uniqueName('data')]
const lease = {
  name: 'csi/external-attacher-leader-disk-csi-example-com',
  holder: 'disk-controller-0',
  renewTime: ago(0.1),
  durationSeconds: 15,
}
const live = { controller: { lease: ALIVE }, attachers: [lease], podCount: 40 }

export const WORKED_CLUSTERS: Readonly<Record<string, ClusterState>> = {
  /** The Node of a machine was deleted, and the controllers do not run: nobody takes the volume from it. */
  'node-gone': cluster({
    ...shop,
    ...{ nodes: [node('node-2', { volumesInUse: data })], attachers: [lease], podCount: 40 },
    pods: [pod('web-0', 'node-2', ['data'], { ...inShop, started: false, createdAt: ago(8) })],
    attachments: [attachment('data', 'node-1')],
  }),
  /** A machine is silent, its pod cannot end, and the new pod waits. */
  'multi-attach': cluster({
    ...shop,
    ...live,
    nodes: [
      silentNode('node-1', 12, { volumesInUse: data, volumesAttached: data }),
      node('node-2', { volumesInUse: data }),
    ],
    pods: [
      pod('web-5d8f-old', 'node-1', ['data'], { ...inShop, deletedAt: ago(7) }),
      pod('web-5d8f-new', 'node-2', ['data'], {
        ...inShop,
        ...{ started: false, createdAt: ago(7) },
      }),
    ],
    attachments: [attachment('data', 'node-1')],
  }),
  /** Its attacher does not run: the attachment is deleted, and never goes away. */
  'stuck-attachment': cluster({
    ...shop,
    ...live,
    attachers: [{ ...lease, renewTime: ago(50) }],
    nodes: [node('node-1', { volumesInUse: data }), node('node-2')],
    pods: [pod('web-0', 'node-1', ['data'], { ...inShop, started: false, createdAt: ago(30) })],
    attachments: [attachment('data', 'node-1', { deletedAt: ago(45) })],
  }),
}

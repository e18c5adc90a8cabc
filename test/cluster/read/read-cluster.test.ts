import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { RecordReader, readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import type { KubeClient } from '../../../src/core/kube/kube-client.ts'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { defaultUsers, rightsFor, rightsOf } from '../../helpers/api-server/users.ts'
import {
  attachmentObject,
  boundVolume,
  csiDriverObject,
  csiNodeObject,
  nodeObject,
  podObject,
  reported,
} from '../../helpers/objects.ts'
import { connect, failureOf } from '../../kube/connect.ts'

const ROLE = new URL('../../../deploy/clusterrole-cluster-plan.yaml', import.meta.url).pathname
const DRIVER = 'ebs.csi.aws.com'
// The controller goes by its presence, whatever it says.
const MANAGED = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'false' }

const lease = (namespace: string, name: string, minute: number, spec: object = {}) => ({
  kind: 'Lease',
  metadata: { name, namespace, uid: `lease-${name}` },
  spec: { renewTime: `2026-11-22T00:0${minute}:00.000000Z`, ...spec },
})
const disk = boundVolume('pv-1', { awsElasticBlockStore: { volumeID: 'vol-1' } }, { name: 'data-1', namespace: 'shop' })
const csiNode = csiNodeObject('node-1', [])
const attached = attachmentObject(DRIVER, 'vol-1', 'pv-1')
const waiting = { phase: 'Pending', containerStatuses: [{ name: 'main', state: { waiting: {} } }] }
const objects = [
  ...['node-1', 'node-2'].map((name) => ({
    ...nodeObject(
      {
        conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-11-22T00:00:00Z' }],
        ...reported([csiUniqueName(DRIVER, 'vol-1')]),
      },
      { name, uid: `uid-${name}`, annotations: MANAGED },
    ),
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
  })),
  {
    ...csiNode,
    spec: { drivers: [{ name: DRIVER, nodeID: 'i-1', allocatable: { count: 25 } }] },
  },
  csiDriverObject(DRIVER),
  ...[1, 2, 3, 4].map((index) =>
    podObject(
      { name: `web-${index}`, namespace: 'shop', uid: `pod-${index}` },
      [
        { name: 'data', persistentVolumeClaim: { claimName: `data-${index}` } },
        { name: 'token', projected: { sources: [] } },
        { name: 'lun', iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.x', lun: 1 } },
      ],
      { spec: { nodeName: 'node-1' }, status: waiting },
    ),
  ),
  podObject({ name: 'web-5', namespace: 'shop', uid: 'pod-5' }, [{ name: 'config', configMap: { name: 'web' } }]),
  { ...disk.claim, metadata: { ...disk.claim.metadata, annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } } },
  disk.volume,
  { ...attached, status: { attached: true, detachError: { message: 'busy', time: '2026-11-22T00:00:00Z' } } },
  lease('kube-system', 'kube-controller-manager', 0, { holderIdentity: 'cp-1', leaseDurationSeconds: 15 }),
  lease('kube-node-lease', 'node-1', 1),
  lease('storage', 'external-attacher-leader-ebs-csi-aws-com', 2, { holderIdentity: 'attacher-0' }),
]

let server: TestApiServer

beforeAll(async () => {
  const reader = { name: 'cluster-plan', user: 'cluster-plan', login: 'token', roles: [ROLE] } as const
  server = await startApiServer({ objects, nodeName: 'node-1', users: [...defaultUsers('node-1'), reader] })
})

afterAll(async () => await server.stop())

beforeEach(() => server.setFaults())

async function read(user = 'admin') {
  const client = connect(server, user, { pageSize: 2 })
  try {
    return await readCluster({ client })
  } finally {
    client.close()
  }
}

/** Reads, and does something while the list of pods is on its way. */
async function readWhile(change: () => void) {
  server.setFaults({ path: '/api/v1/pods?', times: 1, action: { type: 'hold' } })
  const reading = read()
  await vi.waitFor(() => expect(server.held()).toBe(1), 20_000)
  change()
  server.setFaults()
  return await reading
}

it('S28: of clocks of servers that differ the one that is behind counts', () => {
  const client = { clockSkewMs: 0 }
  const reader = new RecordReader(client as KubeClient, {})
  for (const skew of [60_000, -60_000, 0]) {
    client.clockSkewMs = skew
    reader.noteClock()
  }
  expect(Date.parse(reader.byServer())).toBeLessThan(Date.now() - 50_000)
})

describe('a cluster', () => {
  it('is read as records', async () => {
    const state = await read()
    expect(state.errors).toEqual([])
    expect(state.podCount).toBe(5)
    expect(state.pods.map(({ name }) => name)).toEqual(['web-1', 'web-2', 'web-3', 'web-4'])
    expect(state.pods[0]).toMatchObject({
      namespace: 'shop',
      node: 'node-1',
      terminated: false,
      started: false,
      volumes: [
        { name: 'data', claim: 'data-1' },
        { name: 'lun', source: { name: 'lun', iscsi: { iqn: 'iqn.x' } } },
      ],
    })
    const { uid } = disk.claim.metadata
    expect(state.claims).toEqual([
      { namespace: 'shop', name: 'data-1', uid, wasBound: true, volumeName: 'pv-1', phase: 'Bound' },
    ])
    expect(state.volumes).toEqual([
      expect.objectContaining({
        name: 'pv-1',
        driver: DRIVER,
        handle: 'vol-1',
        uniqueName: `kubernetes.io/csi/${DRIVER}^vol-1`,
        attachability: 'attachable',
        claim: { namespace: 'shop', name: 'data-1', uid },
      }),
    ])
    expect(state.attachments).toMatchObject([
      { node: 'node-1', persistentVolume: 'pv-1', attached: true, detachError: { message: 'busy' } },
    ])
    expect(state.nodes.map(({ name, csi }) => [name, csi.state])).toEqual([
      ['node-1', 'known'],
      ['node-2', 'absent'],
    ])
    expect(state.nodes[0]).toMatchObject({
      managed: true,
      outOfService: true,
      ready: 'Unknown',
      leaseRenewTime: '2026-11-22T00:01:00.000000Z',
      csi: {
        drivers: [{ name: DRIVER, limit: 25 }],
      },
    })
    expect(state.controller.lease?.holder).toBe('cp-1')
    expect(state.controller.leaseAtEnd).toEqual(state.controller.lease)
    expect(state.lostNodes).toEqual([])
    expect(state.attachers.map(({ name }) => name)).toEqual(['storage/external-attacher-leader-ebs-csi-aws-com'])
    expect(state.rights).toEqual({ createAttachments: true, deleteAttachments: true })
  })

  it('has no UID where what is answered is no namespace', async () => {
    server.setFaults({ path: '/namespaces/kube-system', times: 1, action: { type: 'body', body: '{}' } })
    expect((await read()).clusterUID).toBeUndefined()
  })

  it('keeps when a controller manager wrote last, and what other controller managers and clocks their leases show', async () => {
    const name = 'hosted-kube-controller-manager'
    const extra = [
      {
        kind: 'Pod',
        metadata: {
          ...{ name: 'plain', namespace: 'shop', uid: 'plain' },
          managedFields: [{ manager: 'kube-controller-manager', operation: 'Update', time: '2026-11-22T00:05:00Z' }],
        },
        spec: {},
      },
      ...[name, 'kube-controller-manager-operator', 'cloud-controller-manager'].map((each) =>
        lease('kube-system', each, 3),
      ),
      {
        kind: 'Lease',
        metadata: {
          ...{ name: 'node-2', namespace: 'kube-node-lease', uid: 'l9' },
          managedFields: [{ manager: 'kubelet', operation: 'Update', time: '2026-11-22T01:00:00Z' }],
        },
        spec: { renewTime: '2026-11-22T00:00:00.000000Z' },
      },
    ]
    server.put(...extra)
    try {
      const { controller, nodes } = await read()
      expect(controller.writes).toEqual([
        { manager: 'kube-controller-manager', object: 'pods/shop/plain', time: '2026-11-22T00:05:00Z' },
      ])
      expect(controller.otherLeases).toEqual([
        { name: `kube-system/${name}`, renewTime: '2026-11-22T00:03:00.000000Z' },
      ])
      expect(nodes.map(({ leaseWrittenAt }) => leaseWrittenAt)).toEqual([undefined, '2026-11-22T01:00:00Z'])
    } finally {
      for (const { kind, metadata } of extra) server.remove(kind, metadata.name, metadata.namespace)
    }
  })

  it('asks for attachments and Nodes before pods, and for pods before claims', async () => {
    server.clearRequests()
    await read()
    const asked = server.requests().map(({ path }) => path.replace(/\?.*/, ''))
    const first = (path: string): number => asked.indexOf(path)
    const last = (path: string): number => asked.lastIndexOf(path)
    expect(last('/apis/storage.k8s.io/v1/volumeattachments')).toBeLessThan(first('/api/v1/pods'))
    expect(last('/api/v1/nodes')).toBeLessThan(first('/api/v1/pods'))
    expect(last('/api/v1/pods')).toBeLessThan(first('/api/v1/persistentvolumeclaims'))
  })

  it('is read with exactly the rights of the ClusterRole of plan --cluster, and each of them is used', async () => {
    server.clearRequests()
    const { errors, lists, lostNodes, controller } = await read('cluster-plan')
    expect([errors, lostNodes, controller.leaseAtEnd]).toEqual([[], [], controller.lease])
    expect(Object.values(lists).filter(({ state }) => state !== 'whole')).toEqual([])
    expect(rightsFor(server.requests())).toEqual(rightsOf(ROLE))
    expect(server.requests().filter(({ status }) => status === 403)).toEqual([])
  })

  describe('an attachment whose PersistentVolume is not in the list', () => {
    const of = (name: string) => ({
      ...attachmentObject(DRIVER, name, `pv-${name}`),
      metadata: { name: `csi-${name}`, uid: `va-${name}` },
    })
    const namesOf = ({ attachments }: Awaited<ReturnType<typeof read>>) => attachments.map(({ uid }) => uid).toSorted()

    afterEach(() => {
      for (const name of ['csi-passing', 'csi-left']) server.remove('VolumeAttachment', name)
    })

    it('is left out if it went with the volume while the pods were read, and stays if not', async () => {
      server.put(of('passing'), of('left'))
      const state = await readWhile(() => server.remove('VolumeAttachment', 'csi-passing'))
      expect(namesOf(state)).toEqual(['va-left', attached.metadata.uid])
    })

    it('stays where the second look is refused', async () => {
      server.put(of('passing'))
      server.setFaults({ path: 'fieldSelector=metadata.name', action: { type: 'status', status: 403 } })
      expect(namesOf(await read())).toEqual(['va-passing', attached.metadata.uid])
    })
  })

  it('tells a list that was refused from an empty one', async () => {
    server.setFaults({ path: '/api/v1/pods', action: { type: 'status', status: 403 } })
    const state = await read()
    expect(state.lists.pods).toEqual({ state: 'failed', count: 0 })
    expect(state.errors).toMatchObject([{ resource: 'pods', status: 403 }])
    expect(state.volumes).toHaveLength(1)
  })

  it.each([
    { status: 403, code: 'Forbidden' },
    { status: 503, code: 'ApiFailed' },
  ])('is no cluster where everything is answered with $status', async ({ status, code }) => {
    server.setFaults({ action: { type: 'status', status, retryAfter: 0 } })
    expect(await failureOf(read())).toMatchObject({ code, exit: 1 })
  })
})

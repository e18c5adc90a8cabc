import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { RecordReader, readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { attachmentName } from '../../../src/core/facts/actual/volume-names.ts'
import type { KubeClient } from '../../../src/core/kube/kube-client.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { connect, failureOf } from '../../kube/connect.ts'

const DRIVER = 'ebs.csi.aws.com'
const MANAGED = { 'volumes.kubernetes.io/controller-managed-attach-detach': 'false' }

const objects = [
  { kind: 'Namespace', metadata: { name: 'kube-system', uid: 'cluster-1' } },
  ...['node-1', 'node-2'].map((name) => ({
    kind: 'Node',
    metadata: { name, uid: `uid-${name}`, annotations: MANAGED },
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }] },
    status: {
      conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime: '2026-11-22T00:00:00Z' }],
      volumesInUse: [`kubernetes.io/csi/${DRIVER}^vol-1`],
      volumesAttached: [{ name: `kubernetes.io/csi/${DRIVER}^vol-1`, devicePath: '' }],
    },
  })),
  {
    kind: 'CSINode',
    metadata: {
      name: 'node-1',
      uid: 'c1',
      annotations: { 'storage.alpha.kubernetes.io/migrated-plugins': 'kubernetes.io/aws-ebs,kubernetes.io/gce-pd' },
    },
    spec: { drivers: [{ name: DRIVER, nodeID: 'i-1', allocatable: { count: 25 } }] },
  },
  { kind: 'CSIDriver', metadata: { name: DRIVER, uid: 'd1' }, spec: { attachRequired: true } },
  ...[1, 2, 3, 4, 5].map((index) => ({
    kind: 'Pod',
    metadata: { name: `web-${index}`, namespace: 'shop', uid: `pod-${index}` },
    spec: {
      nodeName: 'node-1',
      volumes:
        index === 5
          ? [{ name: 'config', configMap: { name: 'web' } }]
          : [
              { name: 'data', persistentVolumeClaim: { claimName: `data-${index}` } },
              { name: 'token', projected: { sources: [] } },
              { name: 'lun', iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.x', lun: 1 } },
            ],
    },
    status: {
      phase: 'Pending',
      containerStatuses: [{ name: 'main', state: { waiting: { reason: 'ContainerCreating' } } }],
    },
  })),
  {
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'data-1',
      namespace: 'shop',
      uid: 'claim-1',
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
    },
    spec: { volumeName: 'pv-1', storageClassName: 'fast' },
    status: { phase: 'Bound' },
  },
  {
    kind: 'PersistentVolume',
    metadata: { name: 'pv-1', uid: 'pv-uid-1' },
    spec: {
      awsElasticBlockStore: { volumeID: 'vol-1' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'shop', name: 'data-1', uid: 'claim-1' },
      persistentVolumeReclaimPolicy: 'Delete',
    },
    status: { phase: 'Bound' },
  },
  {
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName('vol-1', DRIVER, 'node-1'), uid: 'va-1', finalizers: ['external-attacher/x'] },
    spec: { attacher: DRIVER, nodeName: 'node-1', source: { persistentVolumeName: 'pv-1' } },
    status: { attached: true, detachError: { message: 'busy', time: '2026-11-22T00:00:00Z' } },
  },
  {
    kind: 'Lease',
    metadata: { name: 'kube-controller-manager', namespace: 'kube-system', uid: 'l1' },
    spec: { holderIdentity: 'cp-1', leaseDurationSeconds: 15, renewTime: '2026-11-22T00:00:00.000000Z' },
  },
  {
    kind: 'Lease',
    metadata: { name: 'node-1', namespace: 'kube-node-lease', uid: 'l2' },
    spec: { renewTime: '2026-11-22T00:01:00.000000Z' },
  },
  {
    kind: 'Lease',
    metadata: { name: 'external-attacher-leader-ebs-csi-aws-com', namespace: 'storage', uid: 'l3' },
    spec: { holderIdentity: 'attacher-0', renewTime: '2026-11-22T00:02:00.000000Z' },
  },
]

let server: TestApiServer

beforeAll(async () => {
  server = await startApiServer({ objects: objects.filter(({ kind }) => kind !== 'Namespace'), nodeName: 'node-1' })
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
    expect(state.claims).toEqual([
      {
        namespace: 'shop',
        name: 'data-1',
        uid: 'claim-1',
        wasBound: true,
        volumeName: 'pv-1',
        phase: 'Bound',
      },
    ])
    expect(state.volumes).toEqual([
      expect.objectContaining({
        name: 'pv-1',
        driver: DRIVER,
        handle: 'vol-1',
        uniqueName: `kubernetes.io/csi/${DRIVER}^vol-1`,
        attachability: 'attachable',
        migratedFrom: 'kubernetes.io/aws-ebs',
        claim: { namespace: 'shop', name: 'data-1', uid: 'claim-1' },
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
        migrated: ['kubernetes.io/aws-ebs', 'kubernetes.io/gce-pd'],
      },
    })
    expect(state.controller.lease?.holder).toBe('cp-1')
    expect(state.serverVersion).toBe('v1.36.2')
    expect(state.controller.leaseAtEnd).toEqual(state.controller.lease)
    expect(state.lostNodes).toEqual([])
    expect(state.attachers.map(({ name }) => name)).toEqual(['storage/external-attacher-leader-ebs-csi-aws-com'])
    expect(state.rights).toEqual({ createAttachments: true, deleteAttachments: true, patchAttachments: true })
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
      ...[name, 'kube-controller-manager-operator', 'cloud-controller-manager'].map((each) => ({
        kind: 'Lease',
        metadata: { name: each, namespace: 'kube-system', uid: each },
        spec: { renewTime: '2026-11-22T00:03:00.000000Z' },
      })),
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

  describe('an attachment whose PersistentVolume is not in the list', () => {
    const of = (name: string) => ({
      kind: 'VolumeAttachment',
      metadata: { name: `csi-${name}`, uid: `va-${name}` },
      spec: { attacher: DRIVER, nodeName: 'node-1', source: { persistentVolumeName: `pv-${name}` } },
      status: { attached: true },
    })
    const namesOf = ({ attachments }: Awaited<ReturnType<typeof read>>) => attachments.map(({ uid }) => uid).toSorted()

    afterEach(() => {
      for (const name of ['csi-passing', 'csi-left']) server.remove('VolumeAttachment', name)
    })

    it('is left out if it went with the volume while the pods were read, and stays if not', async () => {
      server.put(of('passing'), of('left'))
      const state = await readWhile(() => server.remove('VolumeAttachment', 'csi-passing'))
      expect(namesOf(state)).toEqual(['va-1', 'va-left'])
    })

    it('stays where the second look is refused', async () => {
      server.put(of('passing'))
      server.setFaults({ path: 'fieldSelector=metadata.name', action: { type: 'status', status: 403 } })
      expect(namesOf(await read())).toEqual(['va-1', 'va-passing'])
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

/** Objects of a volume over the wire: who may have them, what is written of them, and what another writer makes of it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ATTACHMENTS,
  CLAIMS,
  CONFIG_MAPS,
  type ObjectMeta,
  PODS,
  type Pod,
  SECRETS,
} from '../../src/core/kube/api/objects.ts'
import { type AttachmentVersion, deleteVolumeAttachment, patchClaimStatus } from '../../src/core/kube/writes.ts'
import { clusterTrustBundles, getNode, listNodePods, requestToken } from '../../src/core/node/api/node-objects.ts'
import { readApi } from '../../src/core/node/api/read-api.ts'
import { withFreshVolumes } from '../../src/core/node/api/read-volumes.ts'
import { finishedPatch, inProgressPatch } from '../../src/core/volumes/expansion.ts'
import { controllerWantedVolumes } from '../../src/core/volumes/populate.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import {
  attachedTo,
  attachmentObject,
  boundVolume,
  csiDriverObject,
  nodeObject,
  podObject,
} from '../helpers/objects.ts'
import { connect, failureOf } from './connect.ts'

const NODE = 'node-1'
const named = (name: string) => ({ name, namespace: 'ns' })
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const sources = [{ serviceAccountToken: { path: 't', audience: 'vault' } }]
const volumes = [
  { name: 'c', configMap: { name: 'cm' } },
  { name: 's', secret: { secretName: 's' } },
  { name: 'p', projected: { sources } },
  { name: 'v', persistentVolumeClaim: { claimName: 'data' } },
]
const bundle = (name: string, signerName: string) => ({
  kind: 'ClusterTrustBundle',
  metadata: { name },
  spec: { signerName, trustBundle: 'pem' },
})

let server: TestApiServer
beforeAll(async () => {
  server = await startApiServer({
    nodeName: NODE,
    detachDelayMs: 300,
    objects: [
      nodeObject({}),
      csiDriverObject('disk.test'),
      {
        kind: 'Pod',
        metadata: { ...named('app'), uid: 'app-uid', annotations: { [LAST_APPLIED]: '{}' } },
        spec: { nodeName: NODE, serviceAccountName: 'sa', volumes },
      },
      {
        kind: 'Pod',
        metadata: { ...named('far'), uid: 'far-uid' },
        spec: { nodeName: 'node-2', serviceAccountName: 'far' },
      },
      { kind: 'ConfigMap', metadata: named('cm'), data: { a: '1' } },
      { kind: 'Secret', metadata: named('s'), data: { pass: 'cHc=' } },
      { kind: 'Secret', metadata: named('other'), data: {} },
      { kind: 'ServiceAccount', metadata: named('sa') },
      { kind: 'ServiceAccount', metadata: named('far') },
      { kind: 'PersistentVolumeClaim', metadata: named('data'), spec: {}, status: { capacity: { storage: '1Gi' } } },
      { kind: 'PersistentVolumeClaim', metadata: named('other'), spec: {}, status: {} },
      bundle('one', 'example.com/a'),
      bundle('two', 'example.com/b'),
    ],
  })
})
afterAll(() => server.stop())
beforeEach(() => server.setFaults())

let counter = 0

/** A VolumeAttachment, and what was known of it when a plan was made. @param change of its metadata */
async function attached(change: Partial<ObjectMeta> = {}): Promise<AttachmentVersion> {
  const [name, handle] = [`pv-${++counter}`, `vol-${counter}`]
  const attachment = attachmentObject('driver', handle, name)
  server.put(
    boundVolume(name, { csi: { driver: 'driver', volumeHandle: handle } }).volume,
    nodeObject(attachedTo([`kubernetes.io/csi/driver^${handle}`])),
    { ...attachment, metadata: { ...attachment.metadata, ...change } },
  )
  const { metadata } = await connect(server, 'admin').get(ATTACHMENTS, attachment.metadata)
  const { name: made, uid, resourceVersion = '' } = metadata
  return { name: made, uid, resourceVersion }
}

/** Nobody waits for its volume to be detached. */
const FREE = { finalizers: [] }

describe('deleting a VolumeAttachment', () => {
  it('takes as long as the attacher takes (N59)', async () => {
    const version = await attached()
    const client = connect(server, 'apply')
    await deleteVolumeAttachment(client, version)
    expect(await client.find(ATTACHMENTS, { name: version.name })).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
    })
    await expect.poll(() => client.find(ATTACHMENTS, { name: version.name }), { timeout: 10_000 }).toBeUndefined()
    expect((await getNode(client, NODE)).status?.volumesAttached).toEqual([])
    // What is gone already is done.
    await deleteVolumeAttachment(client, version)
  })

  it.each([
    { name: 'recreated', change: (version: AttachmentVersion) => ({ ...version, uid: 'another' }) },
    { name: 'changed', change: (version: AttachmentVersion) => ({ ...version, resourceVersion: '1' }) },
  ])('is not done to one that was $name since (N60)', async ({ change }) => {
    const version = await attached(FREE)
    const client = connect(server, 'apply')
    expect(await failureOf(deleteVolumeAttachment(client, change(version)))).toMatchObject({
      status: 409,
      message: expect.stringContaining('Precondition failed'),
    })
    expect(await client.find(ATTACHMENTS, { name: version.name })).toBeDefined()
  })

  it('whose answer was lost is looked at, not repeated', async () => {
    const version = await attached(FREE)
    const client = connect(server, 'apply')
    server.clearRequests()
    server.setFaults({ method: 'DELETE', action: { type: 'drop' } })
    expect(await failureOf(deleteVolumeAttachment(client, version))).toMatchObject({ code: 'ApiUnreachable' })
    server.remove('VolumeAttachment', version.name)
    await deleteVolumeAttachment(client, version)
    expect(server.requests().filter(({ method }) => method === 'DELETE')).toHaveLength(2)
  })
})

it('the status of a claim is written, and a change in between is a conflict', async () => {
  const client = connect(server, 'kubelet')
  const claim = await client.find(CLAIMS, named('data'))
  if (claim === undefined) throw new Error('no claim')
  const begun = await patchClaimStatus(client, named('data'), inProgressPatch(claim))
  expect(begun.status?.allocatedResourceStatuses).toEqual({ storage: 'NodeResizeInProgress' })
  expect((await failureOf(patchClaimStatus(client, named('data'), finishedPatch(claim, '2Gi')))).code).toBe('Conflict')
  await patchClaimStatus(client, named('data'), finishedPatch(begun, '2Gi'))
  expect((await client.find(CLAIMS, named('data')))?.status).toEqual({ capacity: { storage: '2Gi' } })
})

describe('what is written into volumes', () => {
  it('is read with its values', async () => {
    const client = connect(server, 'kubelet')
    expect((await client.find(CONFIG_MAPS, named('cm')))?.data).toEqual({ a: '1' })
    expect((await client.find(SECRETS, named('s')))?.data).toEqual({ pass: 'cHc=' })
    expect((await client.find(PODS, named('app'), { whole: true }))?.metadata.annotations).toEqual({
      [LAST_APPLIED]: '{}',
    })
    const bundles = await clusterTrustBundles(client, { name: 'one' })
    expect(bundles?.map(({ spec }) => spec.signerName)).toEqual(['example.com/a'])
    const ofSigner = await clusterTrustBundles(client, { signerName: 'example.com/b' })
    expect(ofSigner?.map(({ metadata }) => metadata.name)).toEqual(['two'])
    expect(await clusterTrustBundles(client, { name: 'none' })).toBeUndefined()
    expect(await clusterTrustBundles(client, {})).toEqual([])
  })

  it('and tokens are made for it, of a pod by its UID (P53, N33)', async () => {
    const client = connect(server, 'kubelet')
    const ofPod = (uid: string): Pod => ({ metadata: { ...named('app'), uid }, spec: { serviceAccountName: 'sa' } })
    const pod = ofPod('app-uid')
    expect(await requestToken(client, pod, { audience: 'vault' })).toEqual({
      token: 'token.ns.sa.vault.3600.app-uid',
      expirationTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(await requestToken(client, pod, { audience: '', expirationSeconds: 700 })).toMatchObject({
      token: 'token.ns.sa..700.app-uid',
    })
    const stale = requestToken(client, ofPod('before'), { audience: 'vault' })
    expect((await failureOf(stale)).code).toBe('Conflict')
  })
})

it('what may not be read is no absence (S3): a node asks for an object that none of its pods names', async () => {
  const client = connect(server, 'kubelet')
  expect((await failureOf(client.find(SECRETS, named('other')))).code).toBe('Forbidden')
  expect((await failureOf(client.find(SECRETS, named('none')))).code).toBe('Forbidden')
  expect(await connect(server, 'apply').find(SECRETS, named('none'))).toBeUndefined()
})

it('a server without any version of trust bundles says so', async () => {
  server.setFaults({ path: 'clustertrustbundles', action: { type: 'status', status: 404, reason: 'NotFound' } })
  const failure = await failureOf(clusterTrustBundles(connect(server, 'apply'), { name: 'one' }))
  expect(failure.code).toBe('NotFound')
  const asked = server.requests().flatMap(({ path }) => (path.includes('clustertrust') ? path : []))
  expect(asked.slice(-3)).toEqual([
    '/apis/certificates.k8s.io/v1/clustertrustbundles/one',
    '/apis/certificates.k8s.io/v1beta1/clustertrustbundles/one',
    '/apis/certificates.k8s.io/v1alpha1/clustertrustbundles/one',
  ])
})

const NAME = 'kubernetes.io/csi/disk.test^vol-1'
const admin = () => connect(server, 'admin')

const POD = podObject({ name: 'web', namespace: 'shop', uid: 'pod-uid' }, [
  { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
])
const { claim: CLAIM, volume: VOLUME } = boundVolume(
  'pv',
  { csi: { driver: 'disk.test', volumeHandle: 'vol-1' } },
  { name: 'data', namespace: 'shop' },
)

let before: ApiSnapshot

/** By the last look alone, and as it is done. */
async function wanted() {
  const { items } = await listNodePods(admin(), NODE)
  const pods = items.filter(({ metadata }) => metadata.name === 'web')
  const resolve = (from: ApiSnapshot) => {
    const { names, unresolved } = controllerWantedVolumes(pods, from, NODE)
    return { wants: names.has(NAME), unresolved: unresolved.map(({ cause }) => cause) }
  }
  return { old: resolve(before), fresh: resolve(await withFreshVolumes(admin(), before, pods, NODE)) }
}

describe('pod, claim and volume that were made after the last look (S21)', () => {
  beforeAll(async () => {
    before = await readApi({ client: admin(), nodeName: NODE })
  })
  beforeEach(() => {
    server.remove('Pod', 'web', 'shop')
    server.remove('PersistentVolumeClaim', 'data', 'shop')
    server.remove('PersistentVolume', 'pv')
  })

  it('are seen, where the last look would have called the claim absent', async () => {
    server.put(VOLUME, CLAIM, POD)
    expect(await wanted()).toEqual({
      old: { wants: false, unresolved: ['Absent'] },
      fresh: { wants: true, unresolved: [] },
    })
  })

  it('a claim that does not exist now is absent', async () => {
    server.put(POD)
    expect((await wanted()).fresh).toEqual({ wants: false, unresolved: ['Absent'] })
  })

  it.each(['persistentvolumeclaims', 'persistentvolumes'])('what cannot be read of %s is unknown', async (resource) => {
    server.put(VOLUME, CLAIM, POD)
    server.setFaults({ path: `/${resource}/`, action: { type: 'status', status: 403, reason: 'Forbidden' } })
    expect((await wanted()).fresh).toEqual({ wants: false, unresolved: ['Unknown'] })
  })
})

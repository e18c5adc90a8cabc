/** What an API server says with a wrong type is no answer: one clear line with the place of it, and what follows from that. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mayI, whoAmI } from '../../src/core/api/access-reviews.ts'
import { ApiError } from '../../src/core/api/api-error.ts'
import { getClaim, patchClaimStatus } from '../../src/core/api/fresh-volumes.ts'
import { getNode } from '../../src/core/api/node-objects.ts'
import { readApi } from '../../src/core/api/read-api.ts'
import { getVolumeAttachment } from '../../src/core/api/volume-attachments.ts'
import {
  getClusterTrustBundle,
  getConfigMap,
  getPod,
  getSecret,
  listClusterTrustBundles,
  requestToken,
} from '../../src/core/api/volume-content.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { CapturedClient } from '../helpers/captured-client.ts'
import { node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { connect, failureOf } from './connect.ts'

const SERVER = 'https://api.test:6443'

/** A node with a pod, its claim and volume, and a config map; one thing of it said otherwise. */
function clientSaying(path: string, place: string, value: unknown): CapturedClient {
  const { snapshot } = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [
      { name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } },
      { name: 'c', configMap: { name: 'cm' } },
    ])
    .build()
  const api = structuredClone(snapshot.api) as NonNullable<typeof snapshot.api>
  const configMaps = [{ metadata: { name: 'cm', namespace: 'default', uid: 'cm' }, digests: { key: 'd' } }]
  const answers = CapturedClient.answersOf({ ...api, configMaps }, 'node-1')
  const keys = place.split('.')
  const last = keys.pop() as string
  const parent = keys.reduce((at, key) => at[key] as Record<string, unknown>, {
    '': answers[path],
  } as Record<string, unknown>)
  parent[last] = value
  return new CapturedClient(answers)
}

const pods = (place: string, value: unknown): CapturedClient => clientSaying('/api/v1/pods', `.${place}`, value)
const read = (client: CapturedClient) => readApi({ client, nodeName: 'node-1' })

describe('of a pod: nothing can be planned', () => {
  it.each<[place: string, value: unknown, says: string]>([
    ['1.metadata.labels', { app: 7 }, 'items[1].metadata.labels.app is not text'],
    ['1.metadata.annotations', ['x'], 'items[1].metadata.annotations is not an object'],
    ['0.metadata.deletionTimestamp', 0, 'items[0].metadata.deletionTimestamp is not text'],
    ['1.spec.volumes', {}, 'items[1].spec.volumes is not a list'],
    ['1.spec.volumes.0', null, 'items[1].spec.volumes[0] is not an object'],
    ['1.spec.volumes.0.name', undefined, 'items[1].spec.volumes[0].name is missing'],
    ['1.spec.volumes.1.configMap', 'cm', 'items[1].spec.volumes[1].configMap is not an object'],
    ['1.spec.containers.0', 'x', 'items[1].spec.containers[0] is not an object'],
    ['1.spec.securityContext', { fsGroup: '1' }, 'items[1].spec.securityContext.fsGroup is not a whole number'],
    ['1.status.phase', {}, 'items[1].status.phase is not text'],
  ])('%s = %j', async (place, value, says) => {
    const error = await failureOf(read(pods(place, value)))
    expect(error).toBeInstanceOf(ApiError)
    expect(error).toMatchObject({ code: 'ApiFailed', status: 0, hint: expect.stringContaining('proxy') })
    expect(error.message).toBe(`${SERVER}: in the answer to GET /api/v1/pods, ${says}.`)
  })

  it('null is none where Go writes it so', async () => {
    const api = await read(pods('1.spec.containers', null))
    expect(api.errors).toEqual([])
  })
})

describe('of anything else: it is unknown (S3)', () => {
  it.each<[path: string, place: string, value: unknown, error: object]>([
    [
      '/api/v1/persistentvolumes',
      '.0.spec.accessModes',
      'ReadWriteOnce',
      { resource: 'persistentvolumes', message: expect.stringContaining('items[0].spec.accessModes is not a list') },
    ],
    [
      '/api/v1/persistentvolumes',
      '.0.metadata.labels',
      { zone: 1 },
      { resource: 'persistentvolumes', message: expect.stringContaining('items[0].metadata.labels.zone is not text') },
    ],
    ['/apis/storage.k8s.io/v1/volumeattachments', '.0.spec.source', null, { resource: 'volumeattachments' }],
    ['/apis/storage.k8s.io/v1/csinodes/node-1', '.spec.drivers', {}, { resource: 'csinodes', name: 'node-1' }],
    ['/apis/storage.k8s.io/v1/csidrivers', '.0.spec.attachRequired', 'yes', { resource: 'csidrivers' }],
    ['/api/v1/nodes/node-1', '.status.volumesInUse', 'none', { resource: 'nodes' }],
    [
      '/api/v1/namespaces/default/configmaps/cm',
      '.data',
      { key: 7 },
      {
        resource: 'configmaps',
        namespace: 'default',
        name: 'cm',
        message: `${SERVER}: in the answer to GET /api/v1/namespaces/default/configmaps/cm, data.key is not text.`,
      },
    ],
  ])('%s %s = %j', async (path, place, value, error) => {
    const api = await read(clientSaying(path, place, value))
    const wanted = expect.objectContaining({ status: 0, reason: 'BadAnswer', ...error })
    expect(api.errors).toContainEqual(wanted)
    // Whoever is asked for by name says it again.
    expect(api.errors.map(({ reason }) => reason)).not.toContain('NotFound')
    const state = node().build()
    const plan = planNode({ ...state, snapshot: { ...state.snapshot, api } }, planOptions())
    expect(plan.problems.map(({ code }) => code)).toContain('ReadFailed')
  })

  it('a claim is asked for by its name as well', async () => {
    const api = await read(clientSaying('/api/v1/persistentvolumeclaims', '.0.spec', []))
    expect(api.errors.map(({ resource, name, reason }) => [resource, name, reason])).toEqual([
      ['persistentvolumeclaims', undefined, 'BadAnswer'],
      ['persistentvolumeclaims', 'claim-pv-1', 'BadAnswer'],
    ])
  })

  it('who we are, what we may, and the lease', async () => {
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    expect(await whoAmI(clientSaying(review, '.status.userInfo.username', 7))).toBeUndefined()
    const access = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    expect(
      await mayI(clientSaying(access, '.status.allowed', 'true'), { verb: 'get', resource: 'pods' }),
    ).toBeUndefined()
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'
    expect(await read(clientSaying(lease, '.spec.renewTime', 7))).not.toHaveProperty('leaseRenewTime')
  })
})

describe('what an apply asks for', () => {
  const answering = (path: string, answer: unknown): CapturedClient => new CapturedClient({ [path]: answer })
  const metadata = { name: 'x', namespace: 'ns', uid: 'x' }
  const key = { name: 'x', namespace: 'ns' }
  const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'
  const token = '/api/v1/namespaces/ns/serviceaccounts/x/token'
  const request = { namespace: 'ns', serviceAccount: 'x', audiences: [], pod: { name: 'x', uid: 'x' } }

  it.each<{ name: string; ask: () => Promise<unknown>; says: string }>([
    {
      name: 'a pod',
      ask: () => getPod(answering('/api/v1/namespaces/ns/pods/x', { metadata, spec: [] }), 'ns', 'x'),
      says: 'spec is not an object',
    },
    {
      name: 'a config map',
      ask: () => getConfigMap(answering('/api/v1/namespaces/ns/configmaps/x', { metadata, binaryData: [] }), key),
      says: 'binaryData is not an object',
    },
    {
      name: 'a secret, whose values are not shown',
      ask: () => getSecret(answering('/api/v1/namespaces/ns/secrets/x', { metadata, data: { pass: ['s3cret'] } }), key),
      says: 'data.pass is not text',
    },
    {
      name: 'a claim',
      ask: () => getClaim(answering('/api/v1/namespaces/ns/persistentvolumeclaims/x', { metadata }), key),
      says: 'spec is missing',
    },
    {
      name: 'a claim that was changed',
      ask: () =>
        patchClaimStatus(
          answering('/api/v1/namespaces/ns/persistentvolumeclaims/x/status', {
            metadata,
            spec: {},
            status: { capacity: [] },
          }),
          key,
          { status: {} } as never,
        ),
      says: 'status.capacity is not an object',
    },
    {
      name: 'an attachment',
      ask: () =>
        getVolumeAttachment(answering('/apis/storage.k8s.io/v1/volumeattachments/x', { metadata, spec: 'x' }), 'x'),
      says: 'spec is not an object',
    },
    {
      name: 'the node',
      ask: () => getNode(answering('/api/v1/nodes/x', { metadata: { ...metadata, name: 7 } }), 'x'),
      says: 'metadata.name is not text',
    },
    {
      name: 'a trust bundle',
      ask: () => getClusterTrustBundle(answering(`${bundles}/x`, { metadata, spec: { trustBundle: 7 } }), 'x'),
      says: 'spec.trustBundle is not text',
    },
    {
      name: 'trust bundles',
      ask: () => listClusterTrustBundles(answering(bundles, [{ metadata, spec: {} }, { metadata }]), 'signer'),
      says: 'items[1].spec is missing',
    },
    {
      name: 'a token',
      ask: () => requestToken(answering(token, { status: { token: 7 } }), request),
      says: 'status.token is not text',
    },
  ])('$name', async ({ ask, says }) => {
    const error = await failureOf(ask())
    expect(error.code).toBe('ApiFailed')
    expect(error.message).toMatch(/^https:\/\/api\.test:6443: in the answer to (?:GET|POST|PATCH) \/\S+, /)
    expect(error.message).toContain(says)
    expect(error.message).not.toContain('s3cret')
  })
})

describe('from a server', () => {
  let server: TestApiServer
  beforeAll(async () => {
    const metadata = { name: 'odd', namespace: 'ns', uid: 'odd', labels: { app: 7 } }
    const pod = { kind: 'Pod', metadata, spec: { nodeName: 'node-1', containers: [] } }
    const itself = { kind: 'Node', metadata: { name: 'node-1', uid: 'node' } }
    server = await startApiServer({ nodeName: 'node-1', objects: [itself, pod] })
  })
  afterAll(async () => await server.stop())

  it('a label that is a number', async () => {
    const error = await failureOf(readApi({ client: connect(server, 'admin'), nodeName: 'node-1' }))
    expect(error).toMatchObject({
      code: 'ApiFailed',
      message: `${server.url}: in the answer to GET /api/v1/pods, items[0].metadata.labels.app is not text.`,
    })
  })
})

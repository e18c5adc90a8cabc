/** What an API server says with a wrong type is no answer: one clear line with the place of it, and what follows from that. */
import { describe, expect, it } from 'vitest'
import { mayI } from '../../src/core/kube/access-reviews.ts'
import { SECRETS } from '../../src/core/kube/api/objects.ts'
import { ApiError } from '../../src/core/kube/api-error.ts'
import { patchClaimStatus } from '../../src/core/kube/writes.ts'
import { requestToken } from '../../src/core/node/api/node-objects.ts'
import { readApi } from '../../src/core/node/api/read-api.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { claimOf, node, uid } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { CapturedClient } from './captured-client.ts'
import { failureOf } from './connect.ts'

const SERVER = 'https://api.test:6443'

/** A node with a pod, its claim and volume, and a config map; one thing of it said otherwise. */
function clientSaying(path: string, place: string, value: unknown): CapturedClient {
  const { snapshot } = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [claimOf(), { name: 'c', configMap: { name: 'cm' } }])
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

const read = (client: CapturedClient) => readApi({ client, nodeName: 'node-1' })

it.each<[place: string, value: unknown, says: string]>([
  ['1.metadata.labels', { app: 7 }, 'items[1].metadata.labels.app is not text'],
  ['0.metadata.deletionTimestamp', 0, 'items[0].metadata.deletionTimestamp is not text'],
  ['1.spec.volumes', {}, 'items[1].spec.volumes is not a list'],
  ['1.spec.volumes.0.name', undefined, 'items[1].spec.volumes[0].name is missing'],
  ['1.spec.containers.0', 'x', 'items[1].spec.containers[0] is not an object'],
  ['1.spec.securityContext', { fsGroup: '1' }, 'items[1].spec.securityContext.fsGroup is not a whole number'],
])('of a pod: nothing can be planned: %s = %j', async (place, value, says) => {
  const error = await failureOf(read(clientSaying('/api/v1/pods', `.${place}`, value)))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ code: 'ApiFailed', status: 0, hint: expect.stringContaining('proxy') })
  expect(error.message).toBe(`${SERVER}: in the answer to GET /api/v1/pods, ${says}.`)
})

describe('of anything else: it is unknown (S3)', () => {
  it.each<[path: string, place: string, value: unknown, error: object]>([
    [
      '/api/v1/persistentvolumes',
      '.0.spec.accessModes',
      'ReadWriteOnce',
      { resource: 'persistentvolumes', message: expect.stringContaining('items[0].spec.accessModes is not a list') },
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

  it('who we are, what we may, and the lease', async () => {
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    expect((await read(clientSaying(review, '.status.userInfo.username', 7))).user).toBeUndefined()
    const access = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    expect(await mayI(clientSaying(access, '.status.allowed', 'true'), 'get')).toBeUndefined()
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1'
    expect((await read(clientSaying(lease, '.spec.renewTime', 7))).leaseRenewTime).toBeUndefined()
  })
})

describe('what an apply asks for', () => {
  const answering = (path: string, answer: unknown): CapturedClient => new CapturedClient({ [path]: answer })
  const key = { name: 'x', namespace: 'ns' }
  const metadata = { ...key, uid: 'x' }
  const token = '/api/v1/namespaces/ns/serviceaccounts/x/token'
  const pod = { metadata, spec: { serviceAccountName: 'x' } }

  it.each<{ name: string; ask: () => Promise<unknown>; says: string }>([
    {
      name: 'a secret, whose values are not shown',
      ask: () =>
        answering('/api/v1/namespaces/ns/secrets/x', { metadata, data: { pass: ['s3cret'] } }).find(SECRETS, key),
      says: 'data.pass is not text',
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
      name: 'a token',
      ask: () => requestToken(answering(token, { status: { token: 7 } }), pod, {}),
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

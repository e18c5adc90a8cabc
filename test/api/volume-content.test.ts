import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  getClusterTrustBundle,
  getConfigMap,
  getPod,
  getSecret,
  listClusterTrustBundles,
  requestToken,
  type TokenRequest,
} from '../../src/core/api/volume-content.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect, failureOf } from './connect.ts'

let server: TestApiServer

const named = (name: string) => ({ name, namespace: 'ns' })
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const sources = [{ serviceAccountToken: { path: 't', audience: 'vault' } }]
const volumes = [
  { name: 'c', configMap: { name: 'cm' } },
  { name: 's', secret: { secretName: 's' } },
  { name: 'p', projected: { sources } },
]

beforeAll(async () => {
  const bundle = (name: string, signerName: string) => ({
    kind: 'ClusterTrustBundle',
    metadata: { name },
    spec: { signerName, trustBundle: 'pem' },
  })
  server = await startApiServer({
    nodeName: 'node-1',
    objects: [
      {
        kind: 'Pod',
        metadata: { ...named('app'), uid: 'app-uid', annotations: { [LAST_APPLIED]: '{}' } },
        spec: { nodeName: 'node-1', serviceAccountName: 'sa', volumes },
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
      bundle('one', 'example.com/a'),
      bundle('two', 'example.com/b'),
    ],
  })
})

afterAll(async () => await server.stop())

const request = (given: Partial<TokenRequest> = {}): TokenRequest => ({
  namespace: 'ns',
  serviceAccount: 'sa',
  audiences: ['vault'],
  pod: { name: 'app', uid: 'app-uid' },
  ...given,
})

describe.each(['apply', 'kubelet'])('what is written into volumes, with the credential of %s', (user) => {
  it('is read with its values', async () => {
    const client = connect(server, user)
    expect((await getConfigMap(client, named('cm')))?.data).toEqual({ a: '1' })
    expect((await getSecret(client, named('s')))?.data).toEqual({ pass: 'cHc=' })
    expect((await getPod(client, 'ns', 'app'))?.metadata.annotations).toEqual({ [LAST_APPLIED]: '{}' })
    expect((await getClusterTrustBundle(client, 'one'))?.spec.signerName).toBe('example.com/a')
    expect((await listClusterTrustBundles(client, 'example.com/b')).map(({ metadata }) => metadata.name)).toEqual([
      'two',
    ])
    expect(await getClusterTrustBundle(client, 'none')).toBeUndefined()
  })

  it('and tokens are made for it (P53)', async () => {
    const client = connect(server, user)
    expect(await requestToken(client, request())).toEqual({
      token: 'token.ns.sa.vault.3600.app-uid',
      expirationTimestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(await requestToken(client, request({ audiences: [], expirationSeconds: 700 }))).toMatchObject({
      token: 'token.ns.sa..700.app-uid',
    })
    const stale = requestToken(client, request({ pod: { name: 'app', uid: 'before' } }))
    expect((await failureOf(stale)).code).toBe('Conflict')
  })
})

describe('what may not be read is no absence (S3)', () => {
  it('a node asks for an object that none of its pods names', async () => {
    const client = connect(server, 'kubelet')
    expect((await failureOf(getSecret(client, named('other')))).code).toBe('Forbidden')
    expect((await failureOf(getSecret(client, named('none')))).code).toBe('Forbidden')
    expect(await getSecret(connect(server, 'apply'), named('none'))).toBeUndefined()
  })

  it('a node asks for a token that is not its pod’s (N33)', async () => {
    const client = connect(server, 'kubelet')
    const far = { serviceAccount: 'far', pod: { name: 'far', uid: 'far-uid' } }
    expect((await failureOf(requestToken(client, request(far)))).code).toBe('Forbidden')
    expect((await failureOf(requestToken(client, request({ audiences: ['other'] })))).code).toBe('Forbidden')
  })
})

it('a server without any version of trust bundles says so', async () => {
  await server.setFaults({ path: 'clustertrustbundles', action: { type: 'status', status: 404, reason: 'NotFound' } })
  const failure = await failureOf(getClusterTrustBundle(connect(server, 'apply'), 'one'))
  expect(failure.code).toBe('NotFound')
  const asked = (await server.requests()).map(({ path }) => path).filter((path) => path.includes('clustertrust'))
  expect(asked.slice(-3)).toEqual([
    '/apis/certificates.k8s.io/v1/clustertrustbundles/one',
    '/apis/certificates.k8s.io/v1beta1/clustertrustbundles/one',
    '/apis/certificates.k8s.io/v1alpha1/clustertrustbundles/one',
  ])
})

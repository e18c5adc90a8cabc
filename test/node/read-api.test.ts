import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { NODES, VOLUMES } from '../../src/core/kube/api/objects.ts'
import { createKubeClient, type KubeClient } from '../../src/core/kube/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/kube/kubeconfig/kube-config.ts'
import { objectReader } from '../../src/core/kube/object-reader.ts'
import { readApi } from '../../src/core/node/api/read-api.ts'
import { Budget } from '../../src/core/trust/bytes.ts'
import type { ApiSnapshot, NodeSnapshot } from '../../src/core/volumes/snapshot.ts'
import { startApiServer, type TestApiServer } from '../helpers/api-server/start.ts'
import { connect, failureOf, temporaryDirectory, writeKubeconfig } from '../kube/connect.ts'

const CAPTURE = new URL('../fixtures/captures/recreate/before.json', import.meta.url).pathname
const NODE = 'pg-node'

const capture = JSON.parse(readFileSync(CAPTURE, 'utf8')) as NodeSnapshot & { api: ApiSnapshot }
const SECRET_VALUE = 'never-to-be-seen'

/** What a server has besides what was captured: a secret with its value, another node's pod, a lease. */
const extra = [
  {
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      name: 'sec',
      namespace: 'pg',
      managedFields: [{ manager: 'kubectl' }],
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': SECRET_VALUE, kept: 'yes' },
    },
    data: { password: Buffer.from(SECRET_VALUE).toString('base64'), empty: '' },
  },
  { kind: 'Secret', metadata: { name: 'unrelated', namespace: 'pg' }, data: {} },
  { kind: 'Pod', metadata: { name: 'elsewhere', namespace: 'pg' }, spec: { nodeName: 'other-node' } },
  {
    kind: 'VolumeAttachment',
    metadata: { name: 'csi-of-another-node' },
    spec: { attacher: 'x', nodeName: 'other-node', source: {} },
  },
  {
    kind: 'Lease',
    metadata: { name: NODE, namespace: 'kube-node-lease' },
    spec: { renewTime: '2026-11-21T02:00:00.000000Z' },
  },
]

let server: TestApiServer

beforeAll(async () => {
  server = await startApiServer({ data: [CAPTURE], objects: extra, nodeName: NODE })
})

afterAll(async () => await server.stop())

beforeEach(() => server.reset())

/** By a user of the server, or by another credential. */
async function read(by: string | KubeClient, given: Partial<Parameters<typeof readApi>[0]> = {}): Promise<ApiSnapshot> {
  const client = typeof by === 'string' ? connect(server, by) : by
  try {
    return await readApi({ client, nodeName: NODE, ...given })
  } finally {
    for (const each of [client, given.kubeletClient]) each?.close()
  }
}

function names(objects: readonly { metadata: { name: string } }[]): string[] {
  return objects.map(({ metadata }) => metadata.name).sort()
}

/** `resource namespace/name reason` of each error. */
function errors({ errors: list }: ApiSnapshot): string[] {
  return list.map(({ resource, namespace, name, reason }) => `${resource} ${namespace ?? ''}/${name ?? ''} ${reason}`)
}

describe('with a credential that may list', () => {
  it('has what the recorded node has, and the attachments of other nodes (S30)', async () => {
    const api = await read('admin')
    expect(names(api.pods)).toEqual(names(capture.api.pods))
    expect(names(api.persistentVolumeClaims)).toEqual(names(capture.api.persistentVolumeClaims))
    expect(names(api.persistentVolumes)).toEqual(names(capture.api.persistentVolumes))
    expect(names(api.volumeAttachments)).toEqual(
      [...names(capture.api.volumeAttachments), 'csi-of-another-node'].sort(),
    )
    expect(names(api.csiDrivers)).toEqual(names(capture.api.csiDrivers))
    expect(api.node?.metadata.name).toBe(NODE)
    expect(api.csiNode?.metadata.name).toBe(NODE)
    expect(api.user).toBe('kubernetes-admin')
    expect(api.credential).toBe('kubeconfig')
    expect(api.mayDeleteVolumeAttachments).toBe(true)
    expect(api.leaseRenewTime).toBe('2026-11-21T02:00:00.000000Z')
    expect(api.resourceVersion).toMatch(/^\d+$/)
    expect(Math.abs(api.clockSkewMs ?? Number.NaN)).toBeLessThan(5_000)
  })

  it('says of what does not exist that it does not', async () => {
    expect(errors(await read('admin'))).toEqual([
      'configmaps pg/missing NotFound',
      'persistentvolumeclaims pg/pvc-n4 NotFound',
    ])
  })

  it('reads a claim again by name that the list shows unbound (N48)', async () => {
    const items = capture.api.persistentVolumeClaims.map((claim) => ({ ...claim, spec: {} }))
    const body = JSON.stringify({ kind: 'PersistentVolumeClaimList', metadata: {}, items })
    server.setFaults({ path: '/persistentvolumeclaims?', times: 1, action: { type: 'body', body } })
    const { persistentVolumeClaims: claims } = await read('admin')
    expect(claims.some(({ spec }) => spec.volumeName !== undefined)).toBe(true)
  })

  it('keeps of config maps and secrets those that pods use, and of secrets no value', async () => {
    const api = await read('admin')
    expect(names(api.secrets)).toEqual(['sec'])
    expect(api.secrets[0]).toMatchObject({
      kind: 'Secret',
      type: 'Opaque',
      metadata: { annotations: { kept: 'yes' } },
      digests: {
        password: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
        empty: expect.stringMatching(/^hmac-/),
      },
    })
    const text = JSON.stringify(api)
    expect(text).not.toContain(SECRET_VALUE)
    expect(text).not.toContain(Buffer.from(SECRET_VALUE).toString('base64'))
    expect(text).not.toMatch(/managedFields|last-applied/)
    const cfg = api.configMaps.find(({ metadata }) => metadata.name === 'cfg')
    expect(Object.keys(cfg?.digests ?? {}).sort()).toEqual(['added', 'app.conf', 'bin', 'extra.txt'])
    expect(cfg?.data?.['app.conf']).toBeDefined()
  })
})

/** What it finds object by object: e2e/rights.test.ts. */
describe("with the kubelet's own credential", () => {
  it('says whose it is and which views are partial, and takes 403 for unknown', async () => {
    const api = await read('kubelet')
    expect(api).toMatchObject({ credential: 'kubelet', user: `system:node:${NODE}` })
    const found = errors(api)
    expect(found).toContain('volumeattachments / Forbidden')
    expect(found).toContain('persistentvolumes / Forbidden')
    expect(found).toContain('persistentvolumeclaims / Forbidden')
    // Named by a pod, so the Node authorizer lets it be asked for: this 404 is true.
    expect(found).toContain('persistentvolumeclaims pg/pvc-n4 NotFound')
  })
})

it("the node's lease (S11): is read with the kubelet's own credential where the other may not", async () => {
  server.setFaults({ times: 1, path: '/leases/', action: { type: 'status', status: 403, reason: 'Forbidden' } })
  const api = await read('admin', { kubeletClient: connect(server, 'kubelet') })
  expect(api.lease).toBeDefined()
  expect(api.leaseRenewTime).toBeDefined()
})

describe('what cannot be read', () => {
  it.each([
    'nodes',
    'csinodes',
    'persistentvolumeclaims',
    'persistentvolumes',
    'volumeattachments',
    'csidrivers',
    'configmaps',
    'secrets',
  ])('%s: stands in errors, and the rest is there', async (resource) => {
    server.setFaults({ path: `/${resource}`, action: { type: 'status', status: 418, reason: 'Teapot' } })
    const api = await read('admin')
    expect(api.pods).toHaveLength(capture.api.pods.length)
    expect(api.errors).toContainEqual(expect.objectContaining({ resource, status: 418, reason: 'Teapot' }))
  })

  it('pods: nothing to plan from', async () => {
    server.setFaults({ path: '/pods', action: { type: 'status', status: 401, reason: 'Unauthorized' } })
    expect(await failureOf(read('admin'))).toMatchObject({ code: 'Unauthorized', exit: 1 })
  })

  it('refuses a pod list that is not of this node alone', async () => {
    const pod = { metadata: { name: 'x', uid: 'x' }, spec: { nodeName: 'other-node' } }
    const body = JSON.stringify({ kind: 'PodList', metadata: {}, items: [pod] })
    server.setFaults({ path: '/pods', action: { type: 'body', body } })
    expect(await failureOf(read('admin'))).toMatchObject({
      code: 'ApiFailed',
      message: expect.stringMatching(/answer|list of/),
    })
  })
})

const listed = () => server.requests().filter(({ path }) => path.startsWith('/api/v1/pods?')).length
/** One pod's claim does not exist: is the pod still there? */
const FOR_MISSING_CLAIM = 1

it('a pod list asked for before the disk has been read (R804): is asked for again, after all else, if it does not: the pod may be younger than the list', async () => {
  const young = { metadata: { name: 'young', namespace: 'pg', uid: 'young' }, spec: { nodeName: NODE } }
  const disk = {
    podUids: async () => {
      // The list is old by now.
      await vi.waitFor(() => expect(listed()).toBe(1))
      return [capture.api.pods[0]?.metadata.uid ?? '', 'young']
    },
    read: async () => server.put({ kind: 'Pod', ...young }),
  }
  try {
    const api = await read('admin', { disk })
    expect(names(api.pods)).toContain('young')
    expect(listed()).toBe(2 + FOR_MISSING_CLAIM)
  } finally {
    server.remove('Pod', 'young', 'pg')
  }
})

describe('a pod that is deleted between the list of pods and the GET of its claim', () => {
  const claim = { name: 'short-data', namespace: 'pg', uid: 'short-data' }
  const objects = [
    {
      kind: 'Pod',
      metadata: { name: 'short', namespace: 'pg', uid: 'short' },
      spec: { nodeName: NODE, volumes: [{ name: 'v', persistentVolumeClaim: { claimName: claim.name } }] },
    },
    { kind: 'PersistentVolumeClaim', metadata: claim, spec: { volumeName: 'short-pv' }, status: { phase: 'Bound' } },
  ]
  const aboutIt = ({ errors }: ApiSnapshot) => errors.filter(({ name = '' }) => name.startsWith('short'))

  async function readWhile(user: string, deleted: () => void): Promise<ApiSnapshot> {
    server.put(...objects)
    server.setFaults({ times: 1, path: `/persistentvolumeclaims/${claim.name}`, action: { type: 'hold' } })
    try {
      const api = read(user)
      await vi.waitFor(() => expect(server.held()).toBe(1), 20_000)
      deleted()
      server.setFaults()
      return await api
    } finally {
      server.remove('Pod', 'short', 'pg')
      server.remove('PersistentVolumeClaim', claim.name, 'pg')
    }
  }

  it('is not in the look, and leaves no volume unknown: the Node authorizer answers 403 (N32)', async () => {
    const api = await readWhile('kubelet', () => server.remove('Pod', 'short', 'pg'))
    expect(names(api.pods)).not.toContain('short')
    expect(aboutIt(api)).toEqual([])
  })

  it('as long as the pod is there, what could not be read of it stays unknown (S4)', async () => {
    const api = await readWhile('kubelet', () => server.remove('PersistentVolumeClaim', claim.name, 'pg'))
    expect(names(api.pods)).toContain('short')
    expect(aboutIt(api)).toMatchObject([{ resource: 'persistentvolumeclaims', name: claim.name }])
  })
})

describe('the second look at the pod list (S2)', () => {
  it('refuses where pods are hidden, or the cluster is another', async () => {
    const fewer = { ...capture, api: { ...capture.api, pods: capture.api.pods.slice(1) } }
    await using other = await startApiServer({ objects: [fewer], nodeName: NODE })
    const error = await failureOf(read('admin', { kubeletClient: connect(other, 'kubelet') }))
    expect(error).toMatchObject({
      code: 'PodListIncomplete',
      message: expect.stringMatching(/pods/),
      rule: 'S2',
      exit: 4,
    })
    expect(error.message).toContain(capture.api.pods[0]?.metadata.uid)
  })

  it("says why the kubelet's credential is there and is not used, but not to the kubelet itself", async () => {
    const kubeletUnused = { source: '/etc/kubernetes/kubelet.conf', problem: 'it starts a program' }
    expect((await read('admin', { kubeletUnused })).podListCheck).toEqual(kubeletUnused)
    expect((await read('kubelet', { kubeletUnused })).podListCheck).toBeUndefined()
  })

  it('S34: says which of the two connections is not verified', async () => {
    const directory = temporaryDirectory()
    const { user } = JSON.parse(readFileSync(server.kubeconfig('admin'), 'utf8')).users[0] as { user: object }
    const cluster = { 'certificate-authority': undefined, 'insecure-skip-tls-verify': true }
    const kubeconfig = writeKubeconfig(directory, server, user, cluster)
    const careless = createKubeClient(discoverKubeConfig({ kubeconfig }))
    expect(await read(careless)).toMatchObject({ insecure: 'TlsNotVerified' })
    const second = await read('admin', { kubeletClient: careless })
    expect(second.insecure).toBeUndefined()
    expect(second.podListCheck).toEqual({ source: kubeconfig, insecure: 'TlsNotVerified' })
  })
})

it('S34: one look at the API: takes no more memory than it may, whatever is listed: the rest is unknown, not absent', async () => {
  const client = connect(server, 'admin')
  const reader = objectReader(client, { kept: new Budget(200) })
  expect(await reader.list(VOLUMES)).toBeUndefined()
  expect(await reader.get(NODES, { name: NODE })).toBeUndefined()
  const tooLarge = { reason: 'AnswerTooLarge', status: 0 }
  expect(reader.sortedErrors()).toMatchObject([
    { resource: 'nodes', name: NODE, ...tooLarge },
    { resource: 'persistentvolumes', ...tooLarge },
  ])
  client.close()
})

it('needs few round trips: the number of requests does not grow with what lists hold', async () => {
  await read('admin')
  const requests = server.requests()
  const single = requests.filter(({ path }) =>
    /\/(persistentvolumes|persistentvolumeclaims|volumeattachments|csidrivers)\/./.test(path),
  )
  expect(single.map(({ path }) => path)).toEqual(['/api/v1/namespaces/pg/persistentvolumeclaims/pvc-n4'])
  expect(requests.length).toBeLessThan(20)
})

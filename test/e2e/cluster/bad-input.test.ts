/** What a server may answer, over HTTPS, page by page: clear findings, and never an operation that rests on what was not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKubeClient, type KubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import type { ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { apply, attached, claimed, node, planOf, pod } from '../../cluster/apply/scene.ts'
import type { Fault } from '../../helpers/api-server/faults.ts'
import { LiveCluster, operationsOf, waitsOf } from './live-cluster.ts'

/** Nobody wants volume free. Web-1 and web-2 keep theirs: they are on later pages of the list of pods. */
const SCENE = [
  ...node('here'),
  ...['free', 'one', 'two'].flatMap(claimed),
  ...[attached('free', 'here'), attached('one', 'here'), attached('two', 'here')],
  ...[pod('idle-1', 'here', 'one'), pod('idle-2', 'here', 'one')],
  ...[pod('web-1', 'here', 'one'), pod('web-2', 'here', 'two')],
]
const FREE = 'DetachVolume pv-free@here'

let cluster: LiveCluster
let client: KubeClient
/** Problems of the scene itself. */
let usual: readonly string[]
beforeAll(async () => {
  cluster = await LiveCluster.start(SCENE)
  const credentials = discoverKubeConfig({ kubeconfig: cluster.api.kubeconfig('volctl') })
  client = createKubeClient(credentials, { pageSize: 2 })
  usual = codesOf(await planOf(client))
})
afterAll(() => {
  client.close()
  return cluster[Symbol.asyncDispose]()
})

function codesOf({ problems }: ClusterPlan): string[] {
  return [...new Set(problems.map(({ code }) => code))].toSorted()
}

/** What a plan has beyond the scene's own problems. */
/** Of what could not be read, with a word of what it says. */
async function planned(): Promise<{ operations: string[]; codes: string[]; complete: boolean }> {
  const plan = await planOf(client)
  const unread = (code: string): string[] =>
    plan.problems.filter((each) => each.code === code).map(({ message }) => SHADES.exec(message)?.[0] ?? '')
  const codes = codesOf(plan)
    .filter((code) => !usual.includes(code))
    .flatMap((code) => (code === 'ReadFailed' ? [...new Set(unread(code))].map((word) => `${code}: ${word}`) : code))
  return { operations: operationsOf(plan), codes, complete: plan.complete }
}

const SHADES = /could not be read(?! as a whole)|as a whole|twice|no node/

const PAGE = { path: '/api/v1/pods?', skip: 1 }
const BUSY = { type: 'status', status: 429, retryAfter: 0 } as const

describe('a list that fails half-way', () => {
  it.each<{ name: string; fault: Fault }>([
    { name: 'a token that has expired (410)', fault: { ...PAGE, times: 1, action: { type: 'expire' } } },
    { name: 'a busy server (429)', fault: { ...PAGE, times: 2, action: BUSY } },
    { name: 'a connection that ends', fault: { ...PAGE, times: 1, action: { type: 'drop' } } },
  ])('$name, once: the plan is the same', async ({ fault }) => {
    await cluster.api.setFaults(fault)
    expect(await planned()).toEqual({ operations: [FREE], codes: [], complete: true })
  })

  const page = (items: string): Fault => ({
    ...PAGE,
    action: { type: 'body', body: `{"kind":"PodList","items":[${items}` },
  })
  it.each<{ name: string; fault: Fault }>([
    { name: 'tokens that expire (410)', fault: { ...PAGE, action: { type: 'expire' } } },
    { name: 'a busy server (429)', fault: { ...PAGE, action: BUSY } },
    { name: 'connections that end', fault: { ...PAGE, action: { type: 'drop' } } },
    { name: 'no right any more (403)', fault: { ...PAGE, action: { type: 'status', status: 403 } } },
    { name: 'a page that ends in its middle', fault: page('') },
    { name: 'a page of something else', fault: page('7]}') },
  ])('$name, always: nothing is an operation, and it is said', async ({ fault }) => {
    await cluster.api.setFaults(fault)
    expect(await planned()).toEqual({
      operations: [],
      codes: ['ReadFailed: as a whole', 'ReadFailed: could not be read'],
      complete: false,
    })
  })

  it('a pod that comes between two pages: the look right before the DELETE sees it', async () => {
    await cluster.api.setFaults()
    const plan = await planOf(client)
    await cluster.api.setFaults({ ...PAGE, times: 1, action: { type: 'hold' } })
    const applied = apply(client, plan)
    await expect.poll(() => cluster.api.held()).toBe(1)
    await cluster.api.put(pod('late-0', 'here', 'free'))
    await cluster.api.setFaults()
    expect((await applied).result.outcomes).toMatchObject([
      { state: 'refused', code: 'Changed', message: expect.stringMatching(/no longer/) },
    ])
    expect(await cluster.changes()).toEqual([])
    await cluster.api.remove('Pod', 'late-0', 'shop')
  })
})

describe('objects that do not fit together', () => {
  it('an attachment twice: it is not touched, and it is said', async () => {
    const items = ['free', 'free', 'one', 'two'].map((volume) => attached(volume, 'here'))
    const body = JSON.stringify({ kind: 'VolumeAttachmentList', apiVersion: 'storage.k8s.io/v1', items })
    await cluster.api.setFaults({ path: '/volumeattachments', action: { type: 'body', body } })
    expect(await planned()).toEqual({
      operations: [],
      codes: ['AttachmentUnclear', 'ReadFailed: twice'],
      complete: false,
    })
  })

  it.each<{ name: string; objects: object[]; operations: string[]; codes: string[] }>([
    {
      name: 'an attachment of a PersistentVolume that does not exist',
      objects: [attached('nothing', 'here')],
      operations: ['DetachVolume pv-nothing@here', FREE],
      codes: ['AttachmentDangling'],
    },
    {
      name: 'an attachment of a node that does not exist',
      objects: [attached('free', 'nowhere')],
      operations: [FREE, 'DetachVolume pv-free@nowhere MachineMayWrite'],
      codes: ['AttachmentDangling', 'TwoWriters'],
    },
    {
      name: 'a pod whose claim does not exist',
      objects: [pod('lost', 'here', 'nothing')],
      operations: [FREE],
      codes: [],
    },
    {
      name: 'a pod whose claim is of a PersistentVolume that does not exist',
      objects: [...claimed('half').slice(0, 1), pod('lost', 'here', 'half')],
      operations: [FREE],
      codes: [],
    },
    {
      name: 'a pod of a node that does not exist',
      objects: [pod('lost', 'nowhere', 'free')],
      operations: [FREE],
      codes: ['NodeMissing'],
    },
  ])('$name', async ({ objects, operations, codes }) => {
    await cluster.api.setFaults()
    await cluster.api.put(...objects)
    expect(await planned()).toEqual({ operations, codes, complete: true })
    for (const { kind, metadata } of objects as { kind: string; metadata: { name: string; namespace?: string } }[])
      await cluster.api.remove(kind, metadata.name, metadata.namespace)
  })

  it('no nodes: every machine may still write', async () => {
    await cluster.api.setFaults()
    await cluster.api.remove('Node', 'here')
    const { operations, codes, complete } = await planned()
    expect([operations, complete]).toEqual([[`${FREE} MachineMayWrite`], false])
    expect(codes).toContain('ReadFailed: no node')
    await cluster.api.put(...node('here'))
  })

  it.each([
    { name: 'an hour behind', skew: -3_600_000 },
    { name: 'an hour ahead', skew: 3_600_000 },
  ])(
    'S28: a server whose clock is $name of its controllers and kubelets: none of them counts as dead',
    async ({ skew }) => {
      await cluster.api.setFaults()
      await cluster.api.set({ clockSkewMs: skew })
      const plan = await planOf(client)
      await cluster.api.set({ clockSkewMs: 0 })
      expect([plan.inputs.controller.state, operationsOf(plan), waitsOf(plan)]).toEqual([
        'mayLive',
        [],
        ['ControllerActs pv-free@here'],
      ])
    },
  )
})

/** An answer that breaks off or is too large shows nothing: neither its objects nor their absence. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ClusterState } from '../../../src/core/cluster/model/cluster-state.ts'
import { readCluster } from '../../../src/core/cluster/read/read-cluster.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { planOf } from '../../helpers/cluster-plan.ts'
import { connect } from '../../kube/connect.ts'
import { startBigCluster } from '../big-cluster/start.ts'

const run = promisify(execFile)

describe('a server that sends each list as one answer, whatever limit it is asked for', () => {
  it('of 80 MB is refused with the memory of one page, and shows no object', { timeout: 300_000 }, async () => {
    await using server = await startBigCluster({ nodes: 400, ignoresLimit: true })
    const worker = new URL('./large-answer.worker.ts', import.meta.url).pathname
    const { stdout } = await run(process.execPath, ['--no-warnings', worker, server.kubeconfig('admin')])
    const { lists, errors, pods, maxRss } = JSON.parse(stdout)
    expect(errors).toContainEqual(expect.objectContaining({ resource: 'pods', reason: 'AnswerTooLarge' }))
    expect(pods).toBe(0)
    expect(lists.pods).toEqual({ state: 'failed', count: 0 })
    expect(maxRss / 1024).toBeLessThan(700)
  })

  it('gives the same objects as one that sends pages: of a healthy cluster, where nothing is to be done', async () => {
    const seen: unknown[] = []
    for (const ignoresLimit of [false, true]) {
      await using server = await startBigCluster({ nodes: 30, ignoresLimit })
      const client = connect(server, 'admin', { pageSize: 7 })
      const state = await readCluster({ client })
      client.close()
      const { operations, waiting, problems, inputs } = planOf(state)
      expect([state.errors, operations, waiting, problems, inputs.controller.state]).toEqual([[], [], [], [], 'lives'])
      const { pods, claims, volumes, attachments, nodes } = state
      seen.push([pods, claims, volumes, attachments, nodes].map((list) => list.map(({ name, uid }) => [name, uid])))
    }
    expect(seen[1]).toEqual(seen[0])
  })
})

describe('an answer to a list', () => {
  const PODS = 40
  let server: TestApiServer
  beforeAll(async () => {
    const objects = Array.from({ length: PODS }, (_, index) => ({
      kind: 'Pod',
      metadata: { name: `web-${index}`, namespace: 'shop', uid: `pod-${index}`, labels: { text: 'ä€'.repeat(50) } },
      spec: { nodeName: 'node-1', volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `data-${index}` } }] },
      status: { phase: 'Running' },
    }))
    server = await startApiServer({ objects, nodeName: 'node-1' })
  })
  afterAll(async () => await server.stop())
  beforeEach(() => server.reset())

  async function read(onProgress?: (resource: string, objects: number) => void): Promise<ClusterState> {
    const client = connect(server, 'admin', { pageSize: 10 })
    try {
      return await readCluster({ client, ...(onProgress && { onProgress }) })
    } finally {
      client.close()
    }
  }

  const uids = ({ pods }: ClusterState): string[] => pods.map(({ uid }) => uid).toSorted()
  const all = Array.from({ length: PODS }, (_, index) => `pod-${index}`).toSorted()
  const retries = () => server.requests().filter(({ path }) => path.startsWith('/api/v1/pods?')).length - PODS / 10

  it('that breaks off in the middle of an object is asked for again, and each object counts once', async () => {
    for (const skip of [0, 3]) {
      server.setFaults({ path: '/api/v1/pods?', skip, times: 1, action: { type: 'cut', bytes: 1500 } })
      server.clearRequests()
      const state = await read()
      expect(uids(state)).toEqual(all)
      expect(state.lists.pods).toMatchObject({ state: 'whole', count: PODS })
      expect(retries()).toBe(1)
    }
  })

  it('that breaks off every time shows no object, and none as absent', async () => {
    server.setFaults({ path: '/api/v1/pods?', skip: 2, action: { type: 'cut', bytes: 1500 } })
    const state = await read()
    expect(state.pods).toEqual([])
    expect(state.lists.pods).toEqual({ state: 'failed', count: 0 })
    expect(state.errors).toMatchObject([{ resource: 'pods', status: 0 }])
  })

  it('is told of page by page, and begins again where the list has expired', async () => {
    server.setFaults({ path: '/api/v1/pods?', skip: 2, times: 1, action: { type: 'expire' } })
    const told: number[] = []
    const state = await read((resource, objects) => resource === 'pods' && told.push(objects))
    expect(uids(state)).toEqual(all)
    expect(told.slice(-4)).toEqual([10, 20, 30, 40])
    expect(told.length).toBeGreaterThan(4)
  })
})

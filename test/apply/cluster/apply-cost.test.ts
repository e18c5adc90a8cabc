/** What an operation costs does not grow with the cluster: counted, not timed. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { partOf } from '../../../src/core/apply/cluster/recheck.ts'
import { planCluster, planPart } from '../../../src/core/cluster/pass/plan-cluster.ts'
import { startAttacher } from '../../cluster/attacher.ts'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import {
  attachment,
  bound,
  cluster,
  clusterOptions,
  node as nodeRecord,
  pod as podRecord,
} from '../../helpers/cluster-builder.ts'
import { apply, attached, base, claimed, clientOf, DRIVER, node, planOf, pod } from './scene.ts'

vi.mock(import('../../../src/core/cluster/pass/plan-cluster.ts'), { spy: true })

const names = (count: number, of: string): string[] => Array.from({ length: count }, (_, n) => `${of}${n}`)
const OPERATIONS = 12
const GONE = { nodeGone: ['gone'], acceptOutage: OPERATIONS }

let api: TestApiServer
beforeAll(async () => {
  api = await startApiServer({ detachDelayMs: -1 })
  const volumes = names(OPERATIONS, 'data-')
  api.put(...base(), ...node('here'), ...claimed('other'), pod('other-0', 'here', 'other'), attached('other', 'here'))
  api.put(...volumes.flatMap(claimed), ...volumes.map((each) => attached(each, 'gone')))
})
afterAll(() => api.stop())

it('an apply computes the pass over the whole cluster before its first operation and after its last one alone', async () => {
  await using _ = await startAttacher(api, { driver: DRIVER })
  const plan = await planOf(clientOf(api), GONE)
  vi.mocked(planCluster).mockClear()
  api.clearRequests()
  const { result } = await apply(clientOf(api), plan, { options: GONE })
  expect(result.outcomes.map(({ state }) => state)).toEqual(plan.operations.map(() => 'done'))
  expect(result.outcomes).toHaveLength(OPERATIONS)
  expect(vi.mocked(planCluster)).toHaveBeenCalledTimes(2)
  expect(vi.mocked(planPart)).toHaveBeenCalledTimes(OPERATIONS)
  const paths = api
    .requests()
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path)
  // Before each delete, and after it.
  expect(paths.filter((path) => path.includes('fieldSelector=spec.nodeName'))).toHaveLength(2 * OPERATIONS)
  // Each list of the cluster at the beginning, and at the end.
  expect(paths.filter((path) => path.startsWith('/api/v1/persistentvolumes?'))).toHaveLength(2)
})

it('begins the next operations while the external attachers work, ten at once', async () => {
  const volumes = names(OPERATIONS, 'slow-')
  api.put(...volumes.flatMap(claimed), ...volumes.map((each) => attached(each, 'gone')))
  const plan = await planOf(clientOf(api), GONE)
  expect(plan.operations).toHaveLength(OPERATIONS)
  const attachers: ReturnType<typeof startAttacher>[] = []
  let begun = 0
  // Nobody detaches before ten have begun: one after the other, the first would wait for ever.
  const { result, events } = await apply(
    clientOf(api),
    plan,
    { options: GONE, timeoutMs: 60_000 },
    ({ type }) => void (type === 'start' && ++begun === 10 && attachers.push(startAttacher(api, { driver: DRIVER }))),
  )
  for (const each of attachers) await (await each)[Symbol.asyncDispose]()
  expect(result.outcomes.map(({ state }) => state)).toEqual(plan.operations.map(() => 'done'))
  const types = events.map(({ type }) => type).filter((type) => type === 'start' || type === 'done')
  expect(types.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 'start'))
  expect(types[10]).toBe('done')
})

it('a detach is judged by one node, however large the cluster', () => {
  /** Each node has a pod with a volume, and one a volume that it does not need any more. */
  const partsOf = (nodes: number): number[][] => {
    const all = names(nodes, 'n')
    const volumes = [...all.map((each) => `v-${each}`), 'left']
    const state = cluster({
      ...bound(...volumes),
      nodes: all.map((each) => nodeRecord(each)),
      pods: all.map((each) => podRecord(`p-${each}`, each, [`v-${each}`])),
      attachments: [...all.map((each) => attachment(`v-${each}`, each)), attachment('left', 'n0')],
    })
    return planCluster(state, clusterOptions()).operations.map((operation) => {
      const part = partOf(state, operation)
      return [part.nodes, part.pods, part.attachments].map((list) => list.length)
    })
  }
  expect(partsOf(10)).toEqual([[1, 1, 2]])
  expect(partsOf(300)).toEqual(partsOf(10))
})

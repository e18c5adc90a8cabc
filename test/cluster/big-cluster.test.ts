import { describe, expect, it } from 'vitest'
import { createKubeClient } from '../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../src/core/api/kubeconfig/kube-config.ts'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import { readCluster } from '../../src/core/cluster/read/read-cluster.ts'
import type { ClusterOptions } from '../../src/core/plan/cluster-plan.ts'
import { temporaryDirectory } from '../api/connect.ts'
import type { BigClusterSize } from '../helpers/big-cluster/objects.ts'
import { startBigCluster } from '../helpers/big-cluster/start.ts'
import { apply, clientOf, planOf } from './apply/scene.ts'

it('plans nothing for a big, healthy cluster in which volumes come and go', async () => {
  using directory = temporaryDirectory()
  await using server = await startBigCluster(directory.path, { nodes: 30 })
  const client = createKubeClient(discoverKubeConfig({ kubeconfig: server.kubeconfig }))
  try {
    const state = await readCluster({ client })
    expect(state.errors).toEqual([])
    expect([state.podCount, state.pods.length, state.attachments.length]).toEqual([900, 300, 300])
    const plan = planCluster(state, { settleMs: 120_000, volctlVersion: 'test' })
    expect(plan.operations).toEqual([])
    expect(plan.complete).toBe(true)
    expect(plan.inputs.controller.state).toBe('lives')
    expect(plan.problems.filter(({ severity }) => severity !== 'info')).toEqual([])
    // Those on their way to a node, and those on their way off one.
    expect(plan.waiting.length).toBeGreaterThan(3)
    expect(new Set(plan.waiting.map(({ code }) => code))).toEqual(new Set(['ControllerActs', 'AttachmentDeleting']))
  } finally {
    client.close()
  }
})

/** What one look at the whole cluster asks for. */
const LISTS = ['csidrivers', 'csinodes', 'leases', 'nodes', 'persistentvolumeclaims', 'persistentvolumes', 'pods']

/** How many requests of each form an apply of everything that is planned sends, and how many operations it carries out. */
async function costOf(size: BigClusterSize, options: Partial<ClusterOptions>) {
  using directory = temporaryDirectory()
  await using server = await startBigCluster(directory.path, size)
  const client = clientOf({ kubeconfig: () => server.kubeconfig })
  const plan = await planOf(client, options)
  const before = await server.counted()
  const { result } = await apply(client, plan, { options })
  client.close()
  const counted = Object.entries(await server.counted()).map(
    ([form, count]) => [form, count - (before[form] ?? 0)] as const,
  )
  return {
    states: [...new Set(result.outcomes.map(({ state }) => state))],
    operations: result.outcomes.length,
    requests: new Map(counted.filter(([form]) => !form.includes('next page'))),
  }
}

describe('an apply in a cluster of 40 nodes', () => {
  const nodes = 40

  it('looks at everything twice, and twice at what each detach rests on', async () => {
    const gone = [nodes - 1, nodes - 2].map((node) => `node-${String(node).padStart(5, '0')}`)
    const { states, operations, requests } = await costOf({ nodes, goneNodes: 2 }, { nodeGone: gone })
    expect(states).toEqual(['done'])
    expect(operations).toBe(20)
    for (const list of [...LISTS, 'volumeattachments'])
      expect([list, requests.get(`GET all ${list}`)]).toEqual([list, 2])
    expect(requests.get('DELETE one of volumeattachments')).toBe(operations)
    const perOperation = ['nodes', 'csinodes', 'persistentvolumes', 'persistentvolumeclaims'].map(
      (each) => `one of ${each}`,
    )
    for (const form of [...perOperation, 'pods by spec.nodeName'])
      expect([form, requests.get(`GET ${form}`)]).toEqual([form, 2 * operations])
  })

  it('looks at everything twice, and at all attachments once more for each attach', async () => {
    const { states, operations, requests } = await costOf({ nodes, lacking: 8, withoutController: true }, {})
    expect(states).toEqual(['done'])
    expect(operations).toBe(8)
    for (const list of LISTS) expect([list, requests.get(`GET all ${list}`)]).toEqual([list, 2])
    expect(requests.get('GET all volumeattachments')).toBe(2 + operations)
    expect(requests.get('POST all volumeattachments')).toBe(operations)
    for (const form of ['one of nodes', 'pods by spec.nodeName', 'namespace pods'])
      expect([form, requests.get(`GET ${form}`)]).toEqual([form, operations])
  })
})

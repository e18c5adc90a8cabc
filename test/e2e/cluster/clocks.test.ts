/** Clocks apart, over HTTPS: of the server, of those who write objects, of two servers at one address, and of this machine (S28). */
import { describe, expect, it } from 'vitest'
import { createKubeClient } from '../../../src/core/api/kube-client.ts'
import { discoverKubeConfig } from '../../../src/core/api/kubeconfig/kube-config.ts'
import type { ClusterPlan } from '../../../src/core/plan/cluster-plan.ts'
import { ago, attached, claimed, node, planOf } from '../../cluster/apply/scene.ts'
import { LiveCluster, operationsOf } from './live-cluster.ts'

/** Nobody wants the volume; the controller is dead. */
const SCENE = [...node('here'), ...claimed('free'), attached('free', 'here')]
const FREE = 'DetachVolume pv-free@here'
const HOUR = 3_600_000

async function planFrom(cluster: LiveCluster): Promise<ClusterPlan> {
  const client = createKubeClient(discoverKubeConfig({ kubeconfig: cluster.api.kubeconfig('volctl') }))
  try {
    return await planOf(client)
  } finally {
    client.close()
  }
}

function clocksOf({ problems }: ClusterPlan): string[] {
  return problems.filter(({ code }) => code === 'ClocksApart').map(({ message }) => message)
}

describe('the clock of this machine', () => {
  it.each([
    { name: 'an hour behind', skew: HOUR },
    { name: 'an hour ahead of', skew: -HOUR },
  ])('$name that of the whole cluster counts nowhere, and nothing is said of it', async ({ skew }) => {
    await using cluster = await LiveCluster.start(SCENE)
    await cluster.api.elapse(-skew)
    await cluster.api.set({ clockSkewMs: skew })
    const plan = await planFrom(cluster)
    expect([plan.inputs.controller.state, operationsOf(plan), clocksOf(plan)]).toEqual(['dead', [FREE], []])
    expect(Math.abs(Date.parse(plan.createdAt) - Date.now() - skew)).toBeLessThan(60_000)
  })
})

describe('the clock of the API server', () => {
  it('an hour behind that of all others: what they wrote is in the future', async () => {
    await using cluster = await LiveCluster.start(SCENE)
    await cluster.api.set({ clockSkewMs: -HOUR })
    const plan = await planFrom(cluster)
    expect([plan.inputs.controller.state, operationsOf(plan)]).toEqual(['mayLive', []])
    expect(clocksOf(plan)).toEqual([expect.stringContaining('the controller manager, node here are in the future')])
  })

  it('an hour ahead of that of all others: no kubelet seems to live', async () => {
    await using cluster = await LiveCluster.start(SCENE)
    await cluster.api.set({ clockSkewMs: HOUR })
    const plan = await planFrom(cluster)
    expect([plan.inputs.controller.state, operationsOf(plan)]).toEqual(['mayLive', []])
    expect(clocksOf(plan)).toEqual([expect.stringMatching(/^no kubelet has renewed its lease for (1h|59m)/)])
  })

  it('that is not told: everything counts as just now, and it is said', async () => {
    await using cluster = await LiveCluster.start(SCENE)
    await cluster.api.set({ clockSkewMs: null })
    const plan = await planFrom(cluster)
    expect([plan.inputs.controller.state, operationsOf(plan), plan.complete]).toEqual(['mayLive', [], false])
    expect(plan.problems.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('the clock of the API server is not known'),
    )
  })

  it('is that of two servers at one address, an hour apart: the one that is behind counts', async () => {
    await using cluster = await LiveCluster.start(SCENE)
    await cluster.api.setFaults({ path: '/api/v1/pods?', times: 1, action: { type: 'hold' } })
    const plan = planFrom(cluster)
    await expect.poll(() => cluster.api.held()).toBe(1)
    await cluster.api.set({ clockSkewMs: HOUR })
    await cluster.api.setFaults()
    const { createdAt, ...made } = await plan
    expect(clocksOf({ createdAt, ...made })).toEqual([expect.stringContaining('have clocks that are 1h apart')])
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(60_000)
  })
})

describe('the clock of a node', () => {
  /** The lease of a kubelet, written at this moment, by a clock that is so many minutes behind. */
  const leaseOf = (name: string, minutes: number): object => ({
    kind: 'Lease',
    metadata: {
      ...{ namespace: 'kube-node-lease', name },
      managedFields: [{ manager: 'kubelet', operation: 'Update', time: ago(0).replace(/\.\d+/, '') }],
    },
    spec: { leaseDurationSeconds: 40, renewTime: ago(minutes) },
  })

  it('an hour behind: its kubelet lives, and its volumes are not detached by force', async () => {
    const inUse = { inUse: ['free'] }
    await using cluster = await LiveCluster.start([...SCENE, ...node('here', inUse), ...node('other')])
    await cluster.api.put(...node('here', inUse), leaseOf('here', 60), leaseOf('other', 0))
    const [made] = node('here', inUse) as [{ status: { conditions: object[] } }]
    const conditions = made.status.conditions.map((each) => ({ ...each, lastHeartbeatTime: ago(60) }))
    await cluster.api.put({ ...made, status: { ...made.status, conditions } })
    const plan = await planFrom(cluster)
    expect([plan.inputs.controller.state, operationsOf(plan)]).toEqual(['dead', []])
    expect(plan.waiting.map(({ code }) => code)).toEqual(['StillInUse'])
    expect(clocksOf(plan)).toEqual([
      expect.stringContaining('times of node here are behind the clock of the API server'),
    ])
  })
})

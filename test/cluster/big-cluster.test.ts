import { expect, it } from 'vitest'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import { readCluster } from '../../src/core/cluster/read/read-cluster.ts'
import { connect } from '../kube/connect.ts'
import { startBigCluster } from './big-cluster/start.ts'

it('plans nothing for a big, healthy cluster in which volumes come and go', async () => {
  await using server = await startBigCluster({ nodes: 30 })
  const client = connect(server, 'admin')
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

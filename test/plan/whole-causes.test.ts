/** A cause about a node or cluster as a whole has one sentence: nothing that is wrong hides behind another. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planCluster } from '../../src/core/cluster/pass/plan-cluster.ts'
import type { NodeSnapshot, NodeState } from '../../src/core/facts/actual/snapshot.ts'
import type { Cause } from '../../src/core/plan/cause.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { captureFiles, recorded } from '../helpers/captures.ts'
import { clusterOptions } from '../helpers/cluster-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'
import { buildNode, randomNode } from '../helpers/random-node.ts'

interface Judged {
  readonly problems: readonly { readonly message: string; readonly severity: string; readonly cause?: string }[]
  readonly summary: { readonly causes?: readonly Cause[] }
}

function hidden({ problems, summary: { causes = [] } }: Judged): string[][] {
  const whole = new Set(causes.flatMap(({ key, subject }) => (Object.keys(subject).length === 0 ? key : [])))
  const said = Map.groupBy(
    problems.filter(({ severity, cause = '' }) => severity !== 'info' && whole.has(cause)),
    ({ cause }) => cause,
  )
  return [...said.values()]
    .map((all) => [...new Set(all.map(({ message }) => message))])
    .filter(({ length }) => length > 1)
}

const hiddenOnNode = (state: NodeState): string[][] => hidden(planNode(state, planOptions()))

describe('of all that is wrong each has its sentence', () => {
  it.each(captureFiles())('%s', async (path) => {
    expect(hiddenOnNode(await recorded(path))).toEqual([])
  })

  it('on any node', () =>
    fc.assert(
      fc.property(randomNode, (random) => {
        expect(hiddenOnNode(buildNode(random))).toEqual([])
      }),
      { numRuns: 100, seed: 34 },
    ))

  it.each(Array.from({ length: 40 }, (_, seed) => seed))('in any cluster, seed %i', (seed) => {
    expect(hidden(planCluster(anyCluster(randomFrom(seed)), clusterOptions()))).toEqual([])
  })

  it('objects that could not be read, and sections that a snapshot has not', async () => {
    const state = await recorded(captureFiles()[0] ?? '')
    const errors = ['persistentvolumes', 'volumeattachments', 'csidrivers'].map((resource) => ({
      ...{ resource, name: 'x', status: 500, reason: 'InternalError', message: 'etcdserver: request timed out' },
    }))
    const snapshot: NodeSnapshot = {
      ...state.snapshot,
      ...(state.snapshot.api && { api: { ...state.snapshot.api, errors } }),
    }
    const { summary } = planNode({ ...state, snapshot }, planOptions())
    const said = summary.causes?.map(({ message }) => message).filter((each) => each.includes('could not be read'))
    expect(said).toHaveLength(3)
    const { kubelet: _, processes: __, ...rest } = snapshot
    const parts = planNode({ ...state, snapshot: rest }, planOptions()).summary.causes?.map(({ message }) => message)
    for (const section of ['kubelet', 'processes'])
      expect(parts).toContain(`section ${section} is missing; what it would show is unknown`)
  })
})

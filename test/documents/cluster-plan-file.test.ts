/** Saved plans of clusters: what was written is read, and no plan is carried out in the other scope. */
import { describe, expect, it } from 'vitest'
import { parsePlanFile, planFileText } from '../../src/core/plan/documents/plan-file.ts'
import { planId } from '../../src/core/plan/plan-id.ts'
import { aPlan } from '../cli/plan-builder.ts'
import { clusterOptions, DRIVER } from '../helpers/cluster-builder.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

const VERSION = '0.1.0'
const OPTIONS = clusterOptions({
  nodes: ['a', 'b', 'c'],
  nodeGone: ['gone'],
  only: ['DetachVolume'],
})

const planned = Array.from({ length: 60 }, (_, seed) => planOf(anyCluster(randomFrom(seed))))
const [plan = expect.unreachable()] = planned

describe('a saved plan of a cluster', () => {
  it('comes back as it was', () => {
    for (const plan of planned) {
      const read = parsePlanFile('cluster', Buffer.from(planFileText(plan, OPTIONS)), VERSION, 'x.plan')
      const { scope, cluster, createdAt, volctlVersion, operations, refused } = plan
      expect(read).toEqual({
        ...{ scope, cluster, createdAt, volctlVersion, operations, options: OPTIONS },
        ...(refused && { refused }),
      })
      expect(planId(read)).toBe(planId(plan))
    }
    const all = planned.flatMap(({ operations }) => operations)
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['AttachVolume', 'DetachVolume']))
    expect(all.some(({ creates }) => creates?.attacher === DRIVER)).toBe(true)
    expect(all.some(({ blocked }) => blocked !== undefined)).toBe(true)
  })

  it('is not carried out by an apply on a node, nor a plan of a node by an apply of a cluster', () => {
    const ofCluster = Buffer.from(planFileText(plan, OPTIONS))
    const ofNode = Buffer.from(planFileText({ ...aPlan({}), volctlVersion: VERSION }, planOptions({})))
    const wrong = (message: string, hint: string): object =>
      expect.objectContaining({
        code: 'Usage',
        message: expect.stringContaining(message),
        hint: expect.stringContaining(hint),
      })
    expect(() => parsePlanFile('node', ofCluster, VERSION, 'x')).toThrow(
      wrong('cluster', 'volctl apply --cluster makes its own plan'),
    )
    expect(() => parsePlanFile('cluster', ofNode, VERSION, 'x')).toThrow(
      wrong('node', 'volctl plan --cluster --out FILE'),
    )
  })
})

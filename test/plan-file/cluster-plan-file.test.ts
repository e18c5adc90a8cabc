/** Saved plans of clusters: what was written is read, and no plan is carried out in the other scope. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { savedClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { clusterPlanId } from '../../src/core/plan/plan-id.ts'
import { NODE_PLAN, parsePlanFile, readPlanFile } from '../../src/core/plan-file/read-plan-file.ts'
import { planFileText, writePlanFile } from '../../src/core/plan-file/write-plan-file.ts'
import { aPlan } from '../cli/plan-builder.ts'
import {
  ALIVE,
  attachment,
  bound,
  cluster,
  clusterOptions,
  DRIVER,
  node,
  pod,
  silentNode,
  uniqueName,
} from '../helpers/cluster-builder.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { planOptions } from '../helpers/plan-options.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const VERSION = '0.1.0'
const OPTIONS = clusterOptions({
  nodes: ['a', 'b', 'c'],
  nodeGone: ['gone'],
  stripFinalizers: true,
  only: ['DetachVolume'],
})

/** Something of everything that a plan can hold. */
const CLUSTERS: Readonly<Record<string, ClusterState>> = {
  'nothing wrong': cluster({ ...bound('x'), pods: [pod('p', 'a', ['x'])], attachments: [attachment('x', 'a')] }),
  'to attach and to detach': cluster({
    ...bound('x', 'y', 'z'),
    pods: [pod('p', 'a', ['x']), pod('q', 'b', ['z'])],
    attachments: [attachment('y', 'b'), attachment('z', 'a')],
  }),
  'controller alive': cluster({
    ...bound('x'),
    controller: { lease: ALIVE },
    pods: [pod('p', 'a', ['x'])],
  }),
  'out of service': cluster({
    ...bound('x'),
    nodes: [silentNode('a', 9, { outOfService: true, volumesInUse: [uniqueName('x')] }), node('b')],
    attachments: [attachment('x', 'a')],
  }),
  'node and driver gone': cluster({
    ...bound('x'),
    drivers: [],
    attachments: [attachment('x', 'gone', { deletedAt: '2026-03-01T11:00:00Z' }), attachment('w', 'a')],
  }),
  'lists forbidden': {
    ...cluster(bound('x')),
    lists: { ...cluster().lists, pods: { state: 'failed', count: 0 } },
    errors: [{ resource: 'pods', status: 403, reason: 'Forbidden', message: 'no' }],
  },
}

const CLUSTER_PLAN = { scope: 'cluster', shape: savedClusterPlan } as const

const planned = Object.entries(CLUSTERS).map(([name, state]) => ({ name, plan: planOf(state) }))

describe('a saved plan of a cluster', () => {
  it.each(planned)('$name: comes back as it was', ({ plan }) => {
    const read = parsePlanFile(CLUSTER_PLAN, Buffer.from(planFileText(plan, OPTIONS)), VERSION, 'x.plan')
    const { scope, cluster: of, createdAt, volctlVersion, operations, refused } = plan
    expect(read).toEqual({
      ...{ scope, cluster: of, createdAt, volctlVersion, operations, options: OPTIONS },
      ...(refused && { refused }),
    })
    expect(clusterPlanId(read)).toBe(clusterPlanId(plan))
  })

  it('these plans have operations of both kinds, blocked ones, waits and problems', () => {
    const all = planned.flatMap(({ plan }) => plan.operations)
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['AttachVolume', 'DetachVolume']))
    expect(planned.some(({ plan }) => plan.waiting.length > 0)).toBe(true)
    expect(planned.some(({ plan }) => plan.problems.length > 0)).toBe(true)
    expect(all.some(({ creates }) => creates?.attacher === DRIVER)).toBe(true)
  })

  it('is read from a file of its owner, and refused when it is damaged', () => {
    const path = join(temporaryDirectory(), 'cluster.plan')
    const [, { plan } = { plan: undefined }] = planned
    if (plan === undefined) throw new Error('no plan')
    writePlanFile(plan, OPTIONS, path)
    expect(readPlanFile(CLUSTER_PLAN, path, VERSION).operations).toEqual(plan.operations)
    const damaged = JSON.stringify({ ...plan, options: OPTIONS, operations: [{ id: 1 }] })
    expect(() => parsePlanFile(CLUSTER_PLAN, Buffer.from(damaged), VERSION, 'x')).toThrow(
      expect.objectContaining({ code: 'FileDamaged' }),
    )
  })

  it('is not carried out by an apply on a node, nor a plan of a node by an apply of a cluster', () => {
    const [{ plan } = { plan: undefined }] = planned
    if (plan === undefined) throw new Error('no plan')
    const ofCluster = Buffer.from(planFileText(plan, OPTIONS))
    const ofNode = Buffer.from(planFileText({ ...aPlan({}), volctlVersion: VERSION }, planOptions({})))
    for (const [read, bytes, next] of [
      [
        (bytes: Buffer) => parsePlanFile(NODE_PLAN, bytes, VERSION, 'x'),
        ofCluster,
        'volctl apply --cluster makes its own plan',
      ],
      [(bytes: Buffer) => parsePlanFile(CLUSTER_PLAN, bytes, VERSION, 'x'), ofNode, 'volctl plan --cluster --out FILE'],
    ] as const) {
      const wrong = expect.objectContaining({
        code: 'Usage',
        message: expect.stringMatching(/cluster|node/),
        hint: expect.stringContaining(next),
      })
      expect(() => read(bytes)).toThrow(wrong)
    }
  })
})

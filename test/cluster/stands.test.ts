/** `plan --cluster NAME`: how stands what was named, also where nothing is to be done. */
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import type { ClusterOptions, ClusterPlan, ClusterStand } from '../../src/core/plan/cluster-plan.ts'
import { clusterAnswerOf } from '../../src/core/views/answer/cluster-answer.ts'
import { rowsOf } from '../../src/core/volumes/finding.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import {
  ALIVE,
  attachment,
  bound,
  claim,
  cluster,
  DRIVER,
  node,
  pod,
  uniqueName,
  volume,
} from '../helpers/cluster-builder.ts'
import { planOf } from '../helpers/cluster-plan.ts'
import { anyCluster } from '../helpers/random-cluster.ts'
import { randomFrom } from '../helpers/random-from.ts'

function named(state: ClusterState, options: Partial<ClusterOptions>) {
  const plan = planOf(state, options)
  return { plan, stands: plan.stands }
}

const messages = (state: ClusterState, options: Partial<ClusterOptions>) =>
  named(state, options).stands?.map(({ message }) => message)

const using = (name: string, ...volumes: readonly string[]) =>
  node(name, {
    volumesAttached: volumes.map((each) => uniqueName(each)),
    volumesInUse: volumes.map((each) => uniqueName(each)),
  })

const LIVING = { controller: { lease: ALIVE } }
const PODS = [pod('web-0', 'a', ['data'])]
const ATTACHED = cluster({
  ...bound('data'),
  ...LIVING,
  nodes: [using('a', 'data'), node('b')],
  pods: PODS,
  attachments: [attachment('data', 'a')],
})
const VA = attachmentName('h-data', DRIVER, 'a')

describe('a volume by each of its names', () => {
  it.each<Partial<ClusterOptions>>([
    { pods: ['default/web-0'] },
    { volumes: ['default/data'] },
    { volumes: ['pv-data'] },
    { volumes: ['h-data'] },
    { volumes: [uniqueName('data')] },
    { volumes: [VA] },
    { nodes: ['a'] },
    { pods: ['default/web-0'], volumes: ['pv-data'], nodes: ['a'] },
  ])('%j', (options) => {
    const { stands = [] } = named(ATTACHED, options)
    expect(stands.map(({ message }) => message)).toEqual(['attached to a, wanted by default/web-0: nothing to do'])
    expect(stands[0]).toMatchObject({
      about: { nodes: ['a'], attachment: VA, pods: [{ name: 'web-0' }], volume: { persistentVolume: 'pv-data' } },
      subject: { row: `a ${uniqueName('data')}` },
    })
  })

  it('nothing where nothing is named', () => {
    expect(messages(ATTACHED, {})).toBeUndefined()
    expect(messages(ATTACHED, { namespaces: ['default'] })).toBeUndefined()
  })

  it('no other volume, and a name that nothing bears is still an error', () => {
    expect(messages(ATTACHED, { nodes: ['b'] })).toEqual([])
    const { plan, stands } = named(ATTACHED, { volumes: ['typo'] })
    expect([stands, plan.problems.map(({ code }) => code)]).toEqual([[], ['NothingNamed']])
  })
})

describe('what is said of it', () => {
  const DATA = { volumes: ['default/data'] }
  const OLD = { ...bound('data'), attachments: [attachment('data', 'b')] }

  it.each<{ about: string; state: ClusterState; says: readonly string[] }>([
    {
      about: 'attached, and not wanted: volctl detaches it',
      state: cluster(OLD),
      says: ['attached to b, wanted by no pod: its detach is ready'],
    },
    {
      about: 'waits for another node',
      state: cluster({ ...OLD, nodes: [node('a')], pods: PODS }),
      says: [
        'not attached to a, but to b, wanted by default/web-0: its attach is blocked (Predecessor)',
        'attached to b, wanted by no pod: its detach is blocked (MachineMayWrite)',
      ],
    },
    {
      about: 'its driver needs no attachment',
      state: cluster({
        claims: [claim('data')],
        volumes: [volume('data', { attachability: 'notAttachable' })],
        pods: PODS,
      }),
      says: ['not attached to a, of default/web-0 (the driver needs no attachment): nothing to do'],
    },
  ])('$about', ({ state, says }) => expect(messages(state, DATA)).toEqual(says))

  it('a pod has what only one node may have wherever that is, and a shared volume on its own node', () => {
    const two = (modes: readonly string[]): ClusterState =>
      cluster({ ...OLD, volumes: [volume('data', { accessModes: modes })], nodes: [node('a'), node('b')], pods: PODS })
    const nodesOf = (modes: readonly string[]) =>
      named(two(modes), { pods: ['default/web-0'] }).stands?.flatMap(({ about }) => about.nodes)
    expect(nodesOf(['ReadWriteMany'])).toEqual(['a'])
    expect(nodesOf(['ReadWriteOnce'])).toEqual(['a', 'b'])
  })
})

it('a pod without a node, in a snapshot of before, is none that is known', () => {
  const state = cluster({ nodes: [node('a')], pods: [pod('p', undefined, ['x'])], ...bound('x') })
  expect(named(state, { pods: ['default/p'] }).plan.problems).toMatchObject([
    { message: expect.stringContaining('default/p matches no scheduled pod') },
  ])
})

describe('clusters as no one would think of them', () => {
  const said = ({ operations, waiting, problems }: ClusterPlan, { subject }: ClusterStand): boolean =>
    [...operations, ...waiting, ...problems.filter(({ severity }) => severity !== 'info')].some((each) =>
      rowsOf(each.subject).some((key) => rowsOf(subject).includes(key)),
    )

  it('nothing is to be done only where the plan says nothing', () => {
    for (let seed = 0; seed < 60; seed++) {
      const state = anyCluster(randomFrom(seed))
      const pods = state.pods.slice(0, 1).map(({ uid }) => uid)
      for (const options of [{ nodes: state.nodes.map(({ name }) => name) }, { pods }]) {
        const { plan, stands = [] } = named(state, options)
        for (const stand of stands)
          expect(/: nothing (?:to do|is known)/.test(stand.message) && said(plan, stand), stand.message).toBe(false)
        const { parts } = clusterAnswerOf(plan, { applyFlags: [] })
        expect(parts.find(({ name }) => name === 'As it stands')?.rows.length ?? 0).toBe(stands.length)
      }
    }
  })
})

/** The outage guard, filters, nodes that are gone, and finalizers of drivers that are. */
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { type OutageCounts, refuseOutage } from '../../src/core/cluster/pass/plan-cluster.ts'
import type { ClusterOptions, ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  claim,
  cluster,
  node,
  pod,
  uniqueName,
  unread,
} from '../helpers/cluster-builder.ts'
import { planOf } from '../helpers/cluster-plan.ts'

function plan(parts: Partial<ClusterState>, options: Partial<ClusterOptions> = {}): ClusterPlan {
  return planOf(cluster({ podCount: 9, ...parts }), options)
}

const shown = ({ operations }: ClusterPlan): string[] =>
  operations.map(
    ({ kind, node: on, volume, blocked }) => `${kind} ${volume.name} ${on}${blocked ? ` ${blocked.code}` : ''}`,
  )

describe('S29: the outage guard of a cluster', () => {
  const counts: OutageCounts = { pods: 500, attachments: 100, inUse: 90, inUseWithoutPod: 0, detaches: 1 }
  it.each<{ name: string; with: Partial<OutageCounts>; refused: boolean }>([
    { name: 'one detach', with: {}, refused: false },
    { name: 'no pod, and volumes in use', with: { pods: 0 }, refused: true },
    { name: 'no pod, and nothing in use', with: { pods: 0, inUse: 0 }, refused: false },
    { name: 'no pod, and nothing to detach', with: { pods: 0, detaches: 0 }, refused: false },
    { name: 'more than half in use without a pod', with: { inUseWithoutPod: 46 }, refused: true },
    { name: 'few in use without a pod', with: { inUse: 12, inUseWithoutPod: 10 }, refused: false },
    { name: 'more than a fifth of few detached at once', with: { attachments: 40, detaches: 11 }, refused: true },
    { name: 'a fifth detached at once', with: { detaches: 20 }, refused: false },
    { name: 'more than a fifth detached at once', with: { detaches: 21 }, refused: true },
    { name: 'all of few detached at once', with: { attachments: 10, detaches: 10 }, refused: false },
  ])('$name: refused $refused', ({ with: parts, refused }) => {
    const found = refuseOutage({ ...counts, ...parts }, undefined)
    expect(found !== undefined).toBe(refused)
    expect(refuseOutage({ ...counts, ...parts }, { ...counts, ...parts }.detaches)).toBeUndefined()
  })

  it('blocks every operation, and names the number to repeat', () => {
    const names = Array.from({ length: 12 }, (_, n) => `v${n}`)
    const state = { ...bound(...names), attachments: names.map((name) => attachment(name, 'a')) }
    const refused = plan(state)
    expect(refused.refused).toMatchObject({
      code: 'OutageSuspected',
      rule: 'S29',
      hint: expect.stringContaining('--accept-outage 12'),
    })
    expect(new Set(refused.operations.map(({ blocked }) => blocked?.code))).toEqual(new Set(['OutageSuspected']))
    expect(plan(state, { acceptOutage: 11 }).refused).toBeDefined()
    expect(plan(state, { acceptOutage: 12 })).toMatchObject({ summary: { ready: 12 } })
  })
})

const gone = { ...bound('x'), attachments: [attachment('x', 'gone')] }
const heard = (minutes: number): Partial<ClusterState> => ({
  lostNodes: [{ name: 'gone', leaseRenewTime: ago(minutes) }],
})

const FREE = ['DetachVolume pv-x gone']
const HELD = ['DetachVolume pv-x gone MachineMayWrite']
const LIVES = { controller: { lease: ALIVE } }

it.each<[name: string, given: boolean, state: Partial<ClusterState>, is: string[]]>([
  ['nothing else is known', false, {}, HELD],
  ['somebody says that its machine is off', true, {}, FREE],
  ['its lease is old: its kubelet is silent, and its machine may still write', false, heard(30), HELD],
  ['its lease is fresh, and somebody says that its machine is off', true, heard(0.1), HELD],
  ['its lease is a minute old, and somebody says it', true, heard(1), FREE],
  ['a pod is left there', true, { pods: [pod('p', 'gone', ['x'])] }, []],
  ['the controller lives', false, LIVES, []],
  ['the controller lives, and somebody says that its machine is off', true, LIVES, FREE],
])('a node that does not exist: where %s', (_, given, state, is) => {
  const made = plan({ ...gone, ...state }, given ? { nodeGone: ['gone'] } : {})
  expect(shown(made)).toEqual(is)
  for (const { makeSure, basis } of made.operations) {
    expect(makeSure).toContain('machine of node gone')
    expect(basis.exception).toBe('NodeGone')
  }
})

describe('an attachment that is being deleted', () => {
  const drivers = { drivers: [], nodes: [node('a', { csi: { state: 'known' } })] } as const
  const stuck = { ...bound('x'), ...drivers, attachments: [attachment('x', 'a', { deletedAt: ago(9) })] }

  /** What is said of the wait for who detaches the volume; volctl never takes a finalizer off (N59, R834). */
  function waitsFor(state: Partial<ClusterState>): string {
    const made = plan({ ...stuck, ...state })
    expect(shown(made)).toEqual([])
    expect(made.waiting).toMatchObject([{ code: 'AttachmentDeleting' }])
    return made.waiting[0]?.message ?? ''
  }

  it('of a driver shown to be gone waits, and says so', () => expect(waitsFor({})).toMatch(/its driver .* is gone$/))

  const renewed = (namespace: string, minutes: number) => ({
    name: `${namespace}/external-attacher-leader-disk-csi-example-com`,
    renewTime: ago(minutes),
  })

  it.each<[name: string, state: Partial<ClusterState>]>([
    ['the driver is known', { drivers: cluster().drivers }],
    ['a node has the driver', { nodes: [node('a')] }],
    ['its attacher renews its lease', { attachers: [renewed('csi', 0.1)] }],
    [
      'its attacher renews its lease, and old ones of other namespaces are left',
      { attachers: [renewed('ns-0', 9000), renewed('ns-1', 0.1), renewed('ns-2', 9000)] },
    ],
    ['not all drivers could be read', unread('csidrivers')],
    ['the CSINode of a node is not known', { nodes: [node('a', { csi: { state: 'unknown' } })] }],
  ])('its driver is not called gone where %s', (_, state) => expect(waitsFor(state)).not.toContain('is gone'))
})

describe('what a plan is narrowed to', () => {
  /** x moves from b to a for pod p; y is to be detached from b. */
  const state = {
    ...bound('x', 'y'),
    pods: [pod('p', 'a', ['x'])],
    attachments: [attachment('x', 'b'), attachment('y', 'b')],
  }
  const [detachX, detachY, attachX] = ['DetachVolume pv-x b', 'DetachVolume pv-y b', 'AttachVolume pv-x a'] as const

  it.each<[name: string, options: Partial<ClusterOptions>, filtered: number, is: string[]]>([
    ['nothing', {}, 0, [detachY, detachX, attachX]],
    ['--only detach', { only: ['DetachVolume'] }, 1, [detachY, detachX]],
    ['--skip detach leaves out what comes after one', { skip: ['DetachVolume'] }, 3, []],
    ['--pod, with the detach that makes room for it', { pods: ['default/p'] }, 1, [detachX, attachX]],
    ['--volume by its claim', { volumes: ['default/y'] }, 2, [detachY]],
    ['--namespace', { namespaces: ['default'] }, 0, [detachY, detachX, attachX]],
    ['--namespace of others', { namespaces: ['shop'] }, 3, []],
    ['--node', { nodes: ['b'] }, 1, [detachY, detachX]],
  ])('%s', (_, options, filtered, is) => {
    const made = plan(state, options)
    expect(shown(made).toSorted()).toEqual(is.toSorted())
    expect(made.summary.filtered).toBe(filtered)
  })

  it('--pod, with the detach of what only one node may have, though its node is not ready for it', () => {
    const nodes = [node('a', { ready: 'False' }), node('b')]
    expect(shown(plan({ ...state, nodes }, { pods: ['default/p'] }))).toEqual([detachX])
  })

  it.each<[name: string, parts: Partial<ClusterState>, options: Partial<ClusterOptions>]>([
    [
      '--pod, not with the detach of what a pod of another node wants, too',
      { nodes: [node('a'), node('b'), node('c')], pods: [...state.pods, pod('q', 'c', ['x'])] },
      { pods: ['default/p'] },
    ],
    ['--pod, not with the detach of a volume that is bound to the claim of others', theirs(), { pods: ['shop/p'] }],
    ['--namespace, not with the detach of a volume of another one', theirs(), { namespaces: ['shop'] }],
  ])('%s', (_, parts, options) => {
    expect(shown(plan({ ...state, ...parts }))).toContain(detachX)
    expect(shown(plan({ ...state, ...parts }, options))).toEqual([])
  })

  /** Whoever may create a claim may name any PersistentVolume in it. */
  function theirs(): Partial<ClusterState> {
    const claims = [...state.claims, claim('mine', { namespace: 'shop', volumeName: 'pv-x', phase: 'Pending' })]
    return { claims, pods: [pod('p', 'a', ['mine'], { namespace: 'shop' })] }
  }

  it.each<{ options: Partial<ClusterOptions>; is: string[] }>([
    { options: {}, is: ['a', 'b'] },
    { options: { pods: ['default/q'] }, is: ['a'] },
    { options: { nodes: ['a'] }, is: ['a'] },
  ])('waits and problems of other things are left out, and counted: $options', ({ options, is }) => {
    const pods = [pod('q', 'a', ['x']), pod('p', 'b', ['y'])]
    // No pod has z.
    const attachments = ['x a', 'y b', 'z b'].map((each) => {
      const [name = '', on = ''] = each.split(' ')
      return attachment(name, on, { deletedAt: ago(9) })
    })
    const found = ({ waiting, problems }: ClusterPlan): string[] => [
      ...waiting.map(({ node }) => node),
      ...problems.flatMap(({ about }) => about.nodes ?? []),
    ]
    const [whole, made] = [
      plan({ ...bound('x', 'y', 'z'), pods, attachments }),
      plan({ ...bound('x', 'y', 'z'), pods, attachments }, options),
    ]
    expect([...new Set(found(made))].toSorted()).toEqual(is)
    expect(made.summary.filtered).toBe(found(whole).length - found(made).length)
  })

  it.each<{ options: Partial<ClusterOptions>; code: string; hint?: RegExp }>([
    { options: { pods: ['default/nobody'] }, code: 'NothingNamed' },
    { options: { nodes: ['nowhere'] }, code: 'NothingNamed' },
    { options: { volumes: ['nothing'] }, code: 'NothingNamed' },
    { options: { namespaces: ['none'] }, code: 'NothingNamed' },
    { options: { volumes: ['pv-xx'] }, code: 'NothingNamed', hint: /^Did you mean pv-x\?/ },
    // S3: a name that is like it is that of a machine which may run.
    { options: { nodeGone: ['a-'] }, code: 'NothingNamed', hint: /^Check the name/ },
    { options: { nodeGone: ['a'] }, code: 'FlagWithoutEffect' },
  ])('a name that is none is said: $options', ({ options, code, hint = /^/ }) => {
    expect(plan(state, options).problems).toMatchObject([{ code, hint: expect.stringMatching(hint) }])
  })

  it('a name of two pods is said, and neither is taken', () => {
    const pods = [pod('p', 'a', ['x']), { ...pod('p', 'a', ['x']), namespace: 'shop', uid: 'other' }]
    const made = plan({ ...state, pods }, { pods: ['p'] })
    expect(made.problems.map(({ code }) => code)).toContain('AmbiguousName')
    expect(shown(made)).toEqual([])
  })
})

it('T113: a plan counts nodes, pods, attachments, and what is in use with and without a pod', () => {
  const nodes = [node('a', { volumesInUse: [uniqueName('x'), uniqueName('y')] }), node('b')]
  const { inputs } = plan({
    ...bound('x', 'y'),
    nodes,
    pods: [pod('p', 'a', ['x'])],
    attachments: [attachment('x', 'a'), attachment('y', 'b'), attachment('y', 'a', { deletedAt: ago(9) })],
  })
  expect(inputs.counts).toEqual({ nodes: 2, pods: 9, attachments: 2, inUse: 2, inUseWithoutPod: 1, detaches: 1 })
})

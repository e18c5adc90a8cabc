/** Who acts: unknown counts as alive, and only a stale lease in a cluster that has one shows that the controller is dead. */
import { expect, it } from 'vitest'
import type { ClusterState, LeaseEvidence } from '../../src/core/cluster/model/cluster-state.ts'
import { changesBetween, controllerState, lookedAt } from '../../src/core/cluster/model/controller-state.ts'
import { ALIVE, ago, attachment, cluster, DEAD, node, silentNode } from '../helpers/cluster-builder.ts'

const SETTLE_MS = 120_000

function lease(parts: Partial<LeaseEvidence>): LeaseEvidence {
  return { ...DEAD, ...parts }
}

const STALE = { lease: DEAD, leaseAtEnd: DEAD }
const BEHIND = lease({ renewTime: ago(60), writtenAt: ago(0.05) })
const OTHER = { otherLeases: [lease({ name: 'kube-system/hosted-kube-controller-manager', renewTime: ago(0.1) })] }

function wrote(object: string, minutes: number): ClusterState['controller'] {
  return { writes: [{ manager: 'kube-controller-manager', object, time: ago(minutes) }] }
}

function created(minutes: number, more: Parameters<typeof attachment>[2] = {}): Partial<ClusterState> {
  return { attachments: [attachment('x', 'a', { createdAt: ago(minutes), ...more })] }
}

it.each<[name: string, is: string, controller: ClusterState['controller'], others?: Partial<ClusterState>]>([
  ['a fresh lease', 'lives', { lease: ALIVE }],
  ['a lease that ran out a minute ago', 'mayLive', { lease: lease({ renewTime: ago(1) }) }],
  ['a lease that is stale for the settle time', 'dead', STALE],
  ['a lease in the future', 'mayLive', { lease: lease({ renewTime: ago(-20) }) }],
  ['a lease with an impossible time', 'mayLive', { lease: lease({ renewTime: '0001-01-01T00:00:00Z' }) }],
  ['a stale lease that was renewed in the meantime', 'lives', { ...STALE, leaseAtEnd: lease({ renewTime: ago(3) }) }],
  [
    'a stale lease, and a Node whose Ready became Unknown since',
    'lives',
    STALE,
    { nodes: [silentNode('a', 2), node('b')] },
  ],
  [
    'a stale lease, and a Node whose Ready became Unknown before',
    'dead',
    STALE,
    { nodes: [silentNode('a', 9), node('b')] },
  ],
  ['a stale lease, and an attachment created since', 'lives', STALE, created(2)],
  ['a stale lease, and an attachment that volctl created since', 'dead', STALE, created(2, { byVolctl: true })],
  ['a stale lease, and no kubelet that renews its own', 'mayLive', STALE, { nodes: [silentNode('a', 9)] }],
  ['a stale lease that could not be read again', 'mayLive', { lease: DEAD }],
  [
    'a lease whose holder has a clock that is behind, and that was written just now',
    'lives',
    { lease: BEHIND, leaseAtEnd: BEHIND },
  ],
  [
    'a stale lease, and something that a controller manager wrote since',
    'lives',
    { ...STALE, ...wrote('pods/shop/web-0', 2) },
  ],
  ['a stale lease, and one of another name that was renewed since', 'lives', { ...STALE, ...OTHER }],
  [
    'a stale lease, and a change that only a controller makes while volctl runs',
    'lives',
    { ...STALE, changes: ['volumesAttached of node a changed while volctl ran'] },
  ],
  ['no lease', 'mayLive', {}],
  ['no lease, and one of another name that was renewed lately', 'mayLive', OTHER],
  ['a lease that may not be read', 'mayLive', { leaseProblem: 'Forbidden' }],
])('the attach/detach controller: %s: %s', (_, is, controller, others) => {
  const found = controllerState(cluster({ controller, ...others }), SETTLE_MS)
  expect(found.state).toBe(is)
  expect(found.note).not.toBe('')
})

type Look = Pick<ClusterState, 'nodes' | 'attachments'>
const nodes = (...all: Look['nodes']): Look => ({ nodes: all, attachments: [] })
const attachments = (...all: Look['attachments']): Look => ({ nodes: [], attachments: all })
const reports = (...names: string[]) => node('a', { volumesAttached: names })
const mine = (...names: string[]) => nodes({ ...reports(...names), managed: false })
const X = attachment('x', 'a')
const CAME = ['created while volctl ran']

it.each<[name: string, before: Look, after: Look, is?: readonly string[]]>([
  ['one was made anew under the same name', attachments(X), attachments({ ...X, uid: 'two' }), CAME],
  ['volctl made one', attachments(), attachments({ ...X, byVolctl: true })],
  ['an attachment went', attachments(X), attachments()],
  ['a Node reports others', nodes(reports('v1')), nodes(reports('v2')), ['volumesAttached of node a changed']],
  ['a Node reports the same in another order', nodes(reports('v1', 'v2')), nodes(reports('v2', 'v1'))],
  [
    'a Node came, another was made anew',
    nodes(reports('v1')),
    nodes({ ...reports(), uid: 'other' }, node('b', { volumesAttached: ['v'] })),
  ],
  ['a kubelet attaches by itself', mine('v1'), mine()],
])('between two looks: %s', (_, before, after, is = []) => {
  expect(changesBetween(lookedAt(before), after)).toEqual(is.map((part) => expect.stringContaining(part)))
})

/** Who acts: unknown counts as alive, and only a stale lease in a cluster that has one shows that the controller is dead. */
import { expect, it } from 'vitest'
import type { ClusterState, ControllerWrite, LeaseEvidence } from '../../src/core/cluster/model/cluster-state.ts'
import { changesBetween, controllerState, lookedAt } from '../../src/core/cluster/model/controller-state.ts'
import { ALIVE, ago, attachment, cluster, DEAD, node, silentNode } from '../helpers/cluster-builder.ts'

const SETTLE_MS = 120_000

function lease(parts: Partial<LeaseEvidence>): LeaseEvidence {
  return { ...DEAD, ...parts }
}

const STALE = { lease: DEAD, leaseAtEnd: DEAD }
const OTHER = 'kube-system/hosted-kube-controller-manager'

function write(object: string, minutes: number): ControllerWrite {
  return { manager: 'kube-controller-manager', object, time: ago(minutes) }
}

it.each<{ name: string; state: Partial<ClusterState>; is: string }>([
  { name: 'a fresh lease', state: { controller: { lease: ALIVE } }, is: 'lives' },
  {
    name: 'a lease that ran out a minute ago',
    state: { controller: { lease: lease({ renewTime: ago(1) }) } },
    is: 'mayLive',
  },
  {
    name: 'a lease that is stale for the settle time',
    state: { controller: { lease: DEAD, leaseAtEnd: DEAD } },
    is: 'dead',
  },
  { name: 'a lease in the future', state: { controller: { lease: lease({ renewTime: ago(-20) }) } }, is: 'mayLive' },
  {
    name: 'a lease with an impossible time',
    state: { controller: { lease: lease({ renewTime: '0001-01-01T00:00:00Z' }) } },
    is: 'mayLive',
  },
  {
    name: 'a stale lease that was renewed in the meantime',
    state: { controller: { lease: DEAD, leaseAtEnd: lease({ renewTime: ago(3) }) } },
    is: 'lives',
  },
  {
    name: 'a stale lease, and a Node whose Ready became Unknown since',
    state: { nodes: [silentNode('a', 2), node('b')] },
    is: 'lives',
  },
  {
    name: 'a stale lease, and a Node whose Ready became Unknown before',
    state: { nodes: [silentNode('a', 9), node('b')] },
    is: 'dead',
  },
  {
    name: 'a stale lease, and an attachment created since',
    state: { attachments: [attachment('x', 'a', { createdAt: ago(2) })] },
    is: 'lives',
  },
  {
    name: 'a stale lease, and an attachment that volctl created since',
    state: { attachments: [attachment('x', 'a', { createdAt: ago(2), byVolctl: true })] },
    is: 'dead',
  },
  {
    name: 'a stale lease, and no kubelet that renews its own',
    state: { nodes: [silentNode('a', 9)] },
    is: 'mayLive',
  },
  { name: 'a stale lease that could not be read again', state: { controller: { lease: DEAD } }, is: 'mayLive' },
  {
    name: 'a lease whose holder has a clock that is behind, and that was written just now',
    state: {
      controller: {
        lease: lease({ renewTime: ago(60), writtenAt: ago(0.05) }),
        leaseAtEnd: lease({ renewTime: ago(60), writtenAt: ago(0.05) }),
      },
    },
    is: 'lives',
  },
  {
    name: 'a stale lease, and something that a controller manager wrote since',
    state: { controller: { ...STALE, writes: [write('pods/shop/web-0', 2)] } },
    is: 'lives',
  },
  {
    name: 'a stale lease, and one of another name that was renewed since',
    state: { controller: { ...STALE, otherLeases: [lease({ name: OTHER, renewTime: ago(0.1) })] } },
    is: 'lives',
  },
  {
    name: 'a stale lease, and a change that only a controller makes while volctl runs',
    state: { controller: { ...STALE, changes: ['volumesAttached of node a changed while volctl ran'] } },
    is: 'lives',
  },
  { name: 'no lease', state: { controller: {} }, is: 'mayLive' },
  {
    name: 'no lease, and something that a controller manager wrote lately',
    state: { controller: { writes: [write('nodes/a', 5)] } },
    is: 'lives',
  },
  {
    name: 'no lease, and one of another name that was renewed lately',
    state: { controller: { otherLeases: [lease({ name: OTHER, renewTime: ago(0.1) })] } },
    is: 'lives',
  },
  { name: 'a lease that may not be read', state: { controller: { leaseProblem: 'Forbidden' } }, is: 'mayLive' },
  {
    name: 'no lease, and an attachment created lately',
    state: { controller: {}, attachments: [attachment('x', 'a', { createdAt: ago(5) })] },
    is: 'lives',
  },
])('the attach/detach controller: $name: $is', ({ state, is }) => {
  const found = controllerState(cluster(state), SETTLE_MS)
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

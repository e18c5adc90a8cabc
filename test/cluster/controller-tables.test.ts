/** The controller's two tables, R731 and R740, row by row through the whole pass; and what volctl does otherwise, said beside each. */
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import { ago, attachment, bound, cluster, DRIVER, node, pod, uniqueName, volume } from '../helpers/cluster-builder.ts'
import { operationsOf, planOf, waitsOf } from '../helpers/cluster-plan.ts'

/** Operations, and what waits: `DetachVolume a MachineMayWrite`, `StillInUse a`. */
function shown(plan: ClusterPlan): string[] {
  return [...operationsOf(plan), ...waitsOf(plan)]
}

type Upstream = 'detached, verified' | 'detached, unverified' | 'detached by force' | 'waits'

interface Row {
  readonly inUse: boolean
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly minutes: 5 | 7
  readonly tainted: boolean
  readonly upstream: Upstream
  readonly volctl: string
}

/** Every combination of the four columns of R731, with the row that it is in. */
const COMBINATIONS: readonly Row[] = [true, false].flatMap((tainted) =>
  [true, false].flatMap((inUse) =>
    (['True', 'False', 'Unknown'] as const).flatMap((ready) =>
      ([5, 7] as const).map((minutes) => {
        const facts = { inUse, ready, minutes, tainted }
        return { ...facts, upstream: upstreamOf(facts), volctl: volctlOf(facts) }
      }),
    ),
  ),
)

type Facts = Pick<Row, 'inUse' | 'ready' | 'minutes' | 'tainted'>

function upstreamOf({ inUse, ready, minutes, tainted }: Facts): Upstream {
  if (tainted) return 'detached, unverified'
  if (!inUse) return minutes > 6 ? 'detached, unverified' : 'detached, verified'
  return ready !== 'True' && minutes > 6 ? 'detached by force' : 'waits'
}

/** As upstream, but: verified always (R733 is not copied); by force only on a person's word; a taint on a ready node is a question. */
function volctlOf(facts: Facts): string {
  if (facts.tainted && facts.ready === 'True') return 'DetachVolume a TaintedButReady'
  switch (upstreamOf(facts)) {
    case 'detached, verified':
    case 'detached, unverified':
      return 'DetachVolume a'
    case 'detached by force':
      return 'DetachVolume a MachineMayWrite'
    default:
      return 'StillInUse a'
  }
}

/** Volume x is attached to node a, which no pod wants. */
function unwanted({ inUse, ready, minutes, tainted }: Facts): Partial<ClusterState> {
  const heard = ready === 'True' ? ago(0.1) : ago(minutes)
  const a = node('a', {
    ...{ ready, readySince: ago(minutes), heartbeat: heard, leaseRenewTime: heard, outOfService: tainted },
    volumesInUse: inUse ? [uniqueName('x')] : [],
  })
  return { nodes: [a, node('b')], ...bound('x'), attachments: [attachment('x', 'a')], podCount: 3 }
}

describe('R731', () => {
  it.each(COMBINATIONS)(
    'in use: $inUse, ready: $ready, for $minutes minutes, tainted: $tainted: $upstream; volctl: $volctl',
    (row) => expect(shown(planOf(cluster(unwanted(row))))).toEqual([row.volctl]),
  )

  it.each(COMBINATIONS.filter(({ volctl }) => volctl.includes('MachineMayWrite')))(
    'ready: $ready, for $minutes minutes: detached by force, once a person says that the machine is off',
    (row) => expect(shown(planOf(cluster(unwanted(row)), { nodeGone: ['a'] }))).toEqual(['DetachVolume a']),
  )

  it.each(COMBINATIONS.filter(({ upstream }) => upstream === 'waits'))(
    'ready: $ready, for $minutes minutes: no word of a person frees what is in use',
    (row) => expect(shown(planOf(cluster(unwanted(row)), { nodeGone: ['a'] }))).toEqual(['StillInUse a']),
  )
})

/** Pods on nodes a and b want the volume, which is attached to neither. */
function byTwo(source: 'claim' | object, accessModes: readonly string[] = []): Partial<ClusterState> {
  const of = (name: string, on: string) =>
    source === 'claim'
      ? pod(name, on, ['x'])
      : pod(name, on, [], { volumes: [{ name: 'disk', source: { name: 'disk', ...source } }] })
  const migrated = ['aws-ebs', 'azure-disk', 'azure-file', 'cinder', 'gce-pd'].map((name) => `kubernetes.io/${name}`)
  const own = ['disk.csi.azure.com', 'cinder.csi.openstack.org', 'ebs.csi.aws.com', 'pd.csi.storage.gke.io']
  const drivers = [DRIVER, ...own].map((name) => ({ name }))
  const csi = { state: 'known', drivers, migrated } as const
  return {
    nodes: [node('a', { csi }), node('b', { csi })],
    ...bound('x'),
    volumes: [volume('x', { accessModes })],
    pods: [of('p', 'a'), of('q', 'b')],
  }
}

const BOTH = ['AttachVolume a', 'AttachVolume b']
const AZURE = { azureDisk: { diskName: 'd', diskURI: '/subscriptions/s/d', kind: 'Managed' } }
const AWS = { awsElasticBlockStore: { volumeID: 'd' } }
const GCE = { gcePersistentDisk: { pdName: 'd', readOnly: true } }
it.each<[name: string, state: Partial<ClusterState>, is: string[]]>([
  ['no access modes: several', byTwo('claim'), BOTH],
  ['ReadWriteMany: several', byTwo('claim', ['ReadWriteMany']), BOTH],
  ['one of several modes is Many: several', byTwo('claim', ['ReadWriteOnce', 'ReadOnlyMany']), BOTH],
  ['ReadWriteOnce: one', byTwo('claim', ['ReadWriteOnce']), []],
  ['an Azure disk in the spec of a pod: one', byTwo(AZURE), []],
  ['an AWS disk in the spec of a pod, by its synthetic mode: one', byTwo(AWS), []],
  ['a read-only GCE disk in the spec of a pod, by its synthetic mode: several', byTwo(GCE), BOTH],
])('R740: %s', (_, state, is) => {
  const made = planOf(cluster(state))
  expect(shown(made)).toEqual(is)
  expect(made.problems.map(({ code }) => code)).toEqual(is.length === 0 ? ['MultiAttach'] : [])
})

const SHARED = { ...bound('x'), volumes: [volume('x', { accessModes: ['ReadWriteMany'] })] }
const ON_BOTH = { ...SHARED, attachments: [attachment('x', 'a'), attachment('x', 'b')], podCount: 3 }
const LISTED = [node('a', { volumesAttached: [uniqueName('x')] }), node('b')]
const BUSY = { detachError: { message: 'busy', time: ago(4) } }
const [P, Q] = [pod('p', 'a', ['x']), pod('q', 'b', ['x'])]

it.each<[name: string, is: string[], state: Partial<ClusterState>]>([
  ['T94: a shared volume goes from the node alone whose pod is gone', ['DetachVolume a'], { ...ON_BOTH, pods: [Q] }],
  [
    'T98: a detach that failed is waited for, wanted again or not, and a pod on a third node changes nothing',
    ['AttachmentDeleting a'],
    { ...bound('x'), pods: [P, Q], attachments: [attachment('x', 'a', { deletedAt: ago(5), ...BUSY })] },
  ],
  [
    'T98: a detach that failed and was given up is attached again by the attacher',
    ['ControllerActs a'],
    { ...bound('x'), pods: [P], attachments: [attachment('x', 'a', { attached: false, ...BUSY })] },
  ],
  [
    'T103: a pod that was replaced by one of its name elsewhere wants nothing here any more',
    ['DetachVolume a', 'AttachVolume b'],
    { ...bound('x'), pods: [pod('p', 'b', ['x'], { uid: 'new' })], attachments: [attachment('x', 'a')] },
  ],
  ['T106: what the status of a node alone lists has no object to delete', [], { ...bound('x'), nodes: LISTED }],
])('upstream’s tests of the controller that are in no other table: %s', (_, is, state) =>
  expect(shown(planOf(cluster(state)))).toEqual(is),
)

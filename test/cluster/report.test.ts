/** What no controller reports: each finding with its code, its words and a next step on a workstation. */
import { describe, expect, it } from 'vitest'
import type { ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import type { ClusterPlan } from '../../src/core/plan/cluster-plan.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  claim,
  cluster,
  DEAD,
  DRIVER,
  node,
  pod,
  silentNode,
  uniqueName,
  unread,
} from '../helpers/cluster-builder.ts'
import { planOf } from '../helpers/cluster-plan.ts'

function plan(parts: Partial<ClusterState>): ClusterPlan {
  return planOf(cluster({ controller: { lease: ALIVE }, podCount: 9, ...parts }))
}

const X = uniqueName('x')
const WANTED: Partial<ClusterState> = {
  ...bound('x'),
  pods: [pod('p', 'a', ['x'])],
  attachments: [attachment('x', 'a')],
}
const IN_ORDER = { volumesAttached: [X], volumesInUse: [X] }
const WAITING = pod('p', 'a', ['x'], { started: false })

describe('findings', () => {
  it.each<{ name: string; state: Partial<ClusterState>; code: string; says: string }>([
    {
      name: 'an attachment of a node that is gone',
      state: { ...bound('x'), attachments: [attachment('x', 'gone')] },
      code: 'AttachmentDangling',
      says: 'node gone',
    },
    {
      name: 'attachments of a driver that is gone',
      state: {
        ...bound('x'),
        drivers: [],
        nodes: [node('a', { csi: { state: 'known' } })],
        attachments: [attachment('x', 'a')],
      },
      code: 'NobodyDetaches',
      says: DRIVER,
    },
    {
      name: 'two attachments where there may be one',
      state: { ...bound('x'), pods: [pod('p', 'a', ['x'])], attachments: [attachment('x', 'a'), attachment('x', 'b')] },
      code: 'TwoWriters',
      says: 'a, b',
    },
    {
      name: 'in use without a pod',
      state: { ...bound('x'), nodes: [node('a', { volumesInUse: [X] })] },
      code: 'ReportedUnused',
      says: 'pv-x',
    },
    {
      name: 'attached by the status alone, a CSI volume',
      state: { ...WANTED, nodes: [node('a', IN_ORDER)], attachments: [] },
      code: 'AttachedMismatch',
      says: 'there is no VolumeAttachment',
    },
    {
      name: 'a claim that is being deleted, with a pod',
      state: {
        ...WANTED,
        nodes: [node('a', IN_ORDER)],
        claims: [claim('x', { deletedAt: ago(30), finalizers: ['kubernetes.io/pvc-protection'] })],
      },
      code: 'BeingDeleted',
      says: 'used by pod default/p',
    },
    {
      name: 'a pod of a node that is gone',
      state: { ...bound('x'), pods: [pod('p', 'gone', ['x'])], attachments: [attachment('x', 'gone')] },
      code: 'NodeMissing',
      says: 'default/p',
    },
    {
      name: 'an attacher that fails to attach',
      state: {
        ...bound('x'),
        pods: [pod('p', 'a', ['x'])],
        attachments: [attachment('x', 'a', { attached: false, attachError: { message: 'no quota' } })],
      },
      code: 'AttachmentFailing',
      says: 'no quota',
    },
    {
      name: 'a deletion that does not end',
      state: { ...bound('x'), attachments: [attachment('x', 'a', { deletedAt: ago(9) })] },
      code: 'AttachmentDeleting',
      says: 'external-attacher/disk-csi-example-com',
    },
    {
      name: 'no attacher that runs',
      state: {
        ...bound('x'),
        attachments: [attachment('x', 'a', { deletedAt: ago(9) })],
        attachers: [
          { name: 'csi/external-attacher-leader-disk-csi-example-com', renewTime: ago(9), durationSeconds: 15 },
        ],
      },
      code: 'AttacherSilent',
      says: DRIVER,
    },
    {
      name: 'clocks apart',
      state: { nodes: [node('a', { leaseRenewTime: ago(-10) })] },
      code: 'ClocksApart',
      says: 'node a',
    },
    {
      name: 'a node whose clock is behind',
      state: { nodes: [node('a', { leaseRenewTime: ago(60), leaseWrittenAt: ago(0.1) })] },
      code: 'ClocksApart',
      says: 'node a are behind',
    },
    {
      name: 'leases that are all old',
      state: { nodes: [node('a', { leaseRenewTime: ago(60) })], controller: {} },
      code: 'ClocksApart',
      says: 'for 1h',
    },
    {
      name: 'a server that is not verified',
      state: { insecure: 'TlsNotVerified' },
      code: 'InsecureApi',
      says: 'api.example',
    },
  ])('$name: $code', ({ state, code, says }) => {
    const found = plan(state).problems.find((each) => each.code === code && each.message.includes(says))
    expect(found).toBeDefined()
  })

  it('clocks that differ by less than a minute, and silent kubelets beside one that is heard, are no clocks apart', () => {
    const nodes = [
      node('a', { leaseRenewTime: ago(0.5), leaseWrittenAt: ago(0) }),
      node('b', { leaseRenewTime: ago(-0.5) }),
      silentNode('c', 60),
    ]
    const controller = { lease: { ...DEAD, renewTime: ago(9), writtenAt: ago(8.5) } }
    expect(plan({ nodes, controller }).problems.map(({ code }) => code)).not.toContain('ClocksApart')
  })

  const noQuota = [attachment('x', 'a', { attached: false, attachError: { message: 'no quota' } })]
  const unbound = claim('x', { phase: 'Pending', wasBound: false, volumeName: '' })
  const affinity = '0/3 nodes: 3 node(s) had volume node affinity conflict'
  it.each<{ name: string; state: Partial<ClusterState>; says: string; cause?: string }>([
    { name: 'its claim does not exist', state: { claims: [], volumes: [] }, says: 'default/x does not exist' },
    { name: 'its claim is not bound', state: { claims: [unbound], volumes: [] }, says: 'not bound' },
    {
      name: 'its volume is attached to another node',
      state: { attachments: [attachment('x', 'b')] },
      says: 'attached to node b',
    },
    {
      name: 'its attachment fails',
      state: { attachments: noQuota },
      says: 'no quota',
      cause: 'AttachmentFailing',
    },
    {
      name: 'another node has the volume',
      state: {
        nodes: [node('a'), node('b', IN_ORDER)],
        pods: [WAITING, pod('q', 'b', ['x'])],
        attachments: [attachment('x', 'b')],
      },
      says: 'node b has the volume',
      cause: 'MultiAttach',
    },
    {
      name: 'the driver is not on the node',
      state: { nodes: [node('a', { csi: { state: 'known' } })] },
      says: 'not registered',
    },
    {
      name: 'the scheduler finds no node',
      state: { pods: [pod('p', undefined, ['x'], { started: false, unschedulable: affinity })] },
      says: 'volume node affinity conflict',
    },
  ])('a pod does not start because $name, and is no cause of its own where that is said', (row) => {
    const { state, says, cause = 'PodWaitsForVolume' } = row
    const { problems, summary } = plan({ pods: [WAITING], ...bound('x'), ...state })
    const [found, ...others] = problems.filter(({ code }) => code === 'PodWaitsForVolume')
    expect([found?.about.pods?.map(({ name }) => name), others]).toEqual([['p'], []])
    expect(found?.message).toContain(says)
    expect(found?.hint).not.toBe('')
    const said = summary.causes?.find(({ key }) => key === found?.cause)
    expect(said?.code).toBe(cause)
    if (cause === 'PodWaitsForVolume') return
    expect(summary.causes?.some(({ code }) => code === 'PodWaitsForVolume')).toBe(false)
    expect(said?.affects.pods).toMatchObject([{ name: 'p' }])
  })

  it('nothing is said of a pod that was created a moment ago, that runs, or that a mount keeps', () => {
    const pods = [pod('new', 'a', ['x'], { started: false, createdAt: ago(1) }), pod('runs', 'a', ['x'])]
    expect(plan({ ...WANTED, nodes: [node('a', IN_ORDER)], pods }).problems).toEqual([])
    expect(plan({ ...WANTED, nodes: [node('a', IN_ORDER)], pods: [WAITING] }).problems).toEqual([])
  })

  it.each([
    'nodes',
    'pods',
    'persistentvolumeclaims',
    'persistentvolumes',
    'volumeattachments',
    'csidrivers',
    'csinodes',
  ] as const)('a list of %s that is not whole makes the plan incomplete, and says what it hides', (list) => {
    const { complete, problems } = plan(unread(list))
    expect(complete).toBe(false)
    expect(problems).toMatchObject([
      {
        code: 'ReadFailed',
        message: expect.stringContaining(`the list of ${list}`),
        about: { list },
        hint: expect.stringContaining(`kubectl auth can-i list ${list} -A`),
      },
    ])
  })
})

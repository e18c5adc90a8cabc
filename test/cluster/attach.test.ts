/** Attach: who may have a volume (R740, R742), the exact object (R745), and what a node needs for it. */
import { describe, expect, it } from 'vitest'
import type { ClusterNode, ClusterState } from '../../src/core/cluster/model/cluster-state.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import {
  ago,
  attachment,
  bound,
  cluster,
  DRIVER,
  node,
  pod,
  silentNode,
  uniqueName,
  unread,
  volume,
} from '../helpers/cluster-builder.ts'
import { operationsOf, planOf, waitsOf } from '../helpers/cluster-plan.ts'

/** A pod on node a wants volume x, and nothing is attached. */
function wanted(more: Partial<ClusterState> = {}): ClusterState {
  return cluster({ ...bound('x'), pods: [pod('p', 'a', ['x'], { started: false })], ...more })
}

describe('a volume that a pod wants', () => {
  it('T90: gets the attachment that the controller would have created', () => {
    const { operations, complete } = planOf(wanted())
    const name = attachmentName('h-x', DRIVER, 'a')
    expect(operations).toMatchObject([
      {
        kind: 'AttachVolume',
        reason: 'WantedNotAttached',
        node: 'a',
        pods: [{ namespace: 'default', name: 'p', uid: 'uid-p' }],
        steps: [{ op: 'createVolumeAttachment', target: `volumeattachments/${name}` }],
        creates: { name, attacher: DRIVER, nodeName: 'a', source: { persistentVolumeName: 'pv-x' } },
        after: [],
      },
    ])
    expect(operations[0]?.blocked).toBeUndefined()
    expect(complete).toBe(true)
  })

  it('R745: of a translated volume in the spec of a pod names no PersistentVolume', () => {
    const source = { name: 'disk', awsElasticBlockStore: { volumeID: 'vol-1' } }
    const drivers = [{ name: 'ebs.csi.aws.com' }]
    const nodes = [node('a', { csi: { state: 'known', drivers } })]
    const pods = [pod('p', 'a', [], { volumes: [{ name: 'disk', source }] })]
    expect(planOf(cluster({ nodes, pods })).operations).toMatchObject([
      { creates: { attacher: 'ebs.csi.aws.com', source: { inlineVolumeSpec: { csi: { volumeHandle: 'vol-1' } } } } },
    ])
  })

  it.each<[name: string, code: string, on: Partial<ClusterNode>]>([
    ['not ready', 'NodeNotReady a', { ready: 'False' }],
    ['said to be ready, and silent', 'NodeNotReady a', { heartbeat: ago(9), leaseRenewTime: ago(9) }],
    ['without the driver', 'DriverUnavailable a', { csi: { state: 'known' } }],
    ['without a CSINode', 'DriverUnavailable a', { csi: { state: 'absent' } }],
    ['with an unread CSINode', 'NodeUnknown a', { csi: { state: 'unknown' } }],
  ])('waits on a node %s', (_, code, on) => {
    const made = planOf(wanted({ nodes: [node('a', on), node('b')] }))
    expect([operationsOf(made), waitsOf(made)]).toEqual([[], [code]])
  })

  it('N67: is blocked on a node that has as many as its CSINode allows, those of this plan included', () => {
    const drivers = [{ name: DRIVER, limit: 2 }]
    const nodes = [node('a', { csi: { state: 'known', drivers } })]
    const pods = [pod('p', 'a', ['w', 'x', 'y'])]
    const made = planOf(cluster({ nodes, pods, ...bound('w', 'x', 'y'), attachments: [attachment('w', 'a')] }))
    expect(operationsOf(made)).toEqual(['AttachVolume a', 'AttachVolume a AttachLimit'])
  })

  it('is blocked without the right to create attachments', () => {
    expect(operationsOf(planOf(wanted({ rights: { createAttachments: false } })))).toEqual(['AttachVolume a Forbidden'])
  })

  it.each(['pods', 'nodes', 'volumeattachments', 'persistentvolumes'] as const)(
    'S30: without all %s nothing is attached',
    (list) => {
      expect(operationsOf(planOf(wanted(unread(list))))).toEqual([])
    },
  )

  it.each<{ name: string; object: Parameters<typeof attachment>[2]; code: string[] }>([
    { name: 'attached', object: {}, code: [] },
    { name: 'created, and not attached yet', object: { attached: false }, code: ['ControllerActs a'] },
    { name: 'being deleted', object: { deletedAt: ago(5) }, code: ['AttachmentDeleting a'] },
  ])('T107, T98: with an attachment that is $name waits: $code', ({ object, code }) => {
    const nodes = [node('a', { volumesAttached: [uniqueName('x')] })]
    const made = planOf(wanted({ nodes, attachments: [attachment('x', 'a', object)] }))
    expect([operationsOf(made), waitsOf(made)]).toEqual([[], code])
  })
})

describe('a volume that another node has', () => {
  it('T95, T102: attached to one of them: the other waits, and who has to move is said', () => {
    const pods = [pod('p', 'a', ['x']), pod('q', 'b', ['x'], { started: false })]
    const made = planOf(wanted({ pods, attachments: [attachment('x', 'a')] }))
    expect(operationsOf(made)).toEqual([])
    const [problem] = made.problems
    expect(problem?.message).toContain(`node a has the volume since ${ago(900)} (pod default/p`)
    expect(`${problem?.hint}`).toContain('kubectl delete pod -n default p')
  })

  it('a node that could not be read is not said to be gone, and no pod of it is to be forced', () => {
    const pods = [pod('p', 'a', ['x']), pod('q', 'b', ['x'])]
    const { problems } = planOf(wanted({ nodes: [], ...unread('nodes'), pods, attachments: [attachment('x', 'a')] }))
    const hint = `${problems.find(({ code }) => code === 'MultiAttach')?.hint}`
    expect(hint).toContain('Node a was not read')
    expect(hint).not.toMatch(/does not exist|--force/)
  })

  it('is named as the first pod has it, whichever node is known for longer: by its claim, or by what stands in a spec', () => {
    const driver = 'ebs.csi.aws.com'
    const source = { name: 'disk', awsElasticBlockStore: { volumeID: 'vol-1' } }
    const inline = pod('p', 'a', [], { volumes: [{ name: 'disk', source }] })
    const [claimed, other] = [pod('q', 'b', ['x']), pod('r', 'a', ['y'])]
    const { claims } = bound('x')
    const volumes = [volume('x', { driver, handle: 'vol-1' }), volume('y', { accessModes: ['ReadWriteMany'] })]
    const state = { claims: [...claims, ...bound('y').claims], volumes, drivers: [{ name: driver }] }
    for (const [pods, name] of [
      [[other, claimed, inline], 'pv-x (claim default/x)'],
      [[other, inline, claimed], 'vol-1'],
    ] as const) {
      const found = planOf(cluster({ ...state, pods })).problems.find(({ code }) => code === 'MultiAttach')
      expect(found?.message).toContain(`volume ${name} may be on one node only`)
    }
  })

  describe('R330: a kubelet reports a volume in use that its pod only waits for', () => {
    const inUse = { volumesInUse: [uniqueName('x')] }
    const nodes = [node('a', { ...inUse, volumesAttached: inUse.volumesInUse }), node('b', inUse)]
    const waiting = pod('q', 'b', ['x'], { started: false })
    const reporting = [node('a', inUse), node('b', inUse)]
    const attachments = [attachment('x', 'a')]
    const early = pod('p', 'a', ['x'], { started: false })

    const running = pod('p', 'a', ['x'])
    const ended = pod('done', 'a', ['x'], { terminated: true })
    it.each<[name: string, state: Partial<ClusterState>, says: RegExp]>([
      [
        'the pod that waits is named as such',
        { pods: [running, waiting], attachments },
        /: node a has the volume since .*; node b \(pod default\/q, .*\) waits for it$/,
      ],
      [
        'beside a pod that waits there one that has started has it',
        { nodes: reporting, pods: [early, pod('r', 'b', ['x']), waiting] },
        /node b reports the volume in use/,
      ],
      [
        'one that has ended there has it still: its kubelet may not have unmounted it',
        { nodes: reporting, pods: [ended, early, waiting] },
        /node a reports the volume in use/,
      ],
      [
        'a pod that has started has it, whatever is attached',
        { pods: [running, pod('q', 'b', ['x'])], attachments },
        /2 nodes have it: node a has the .*, node b reports the volume in use/,
      ],
    ])('%s', (_, state, says) => {
      const [found] = planOf(wanted({ nodes, ...state })).problems
      expect([found?.code, found?.message]).toEqual(['MultiAttach', expect.stringMatching(says)])
    })
  })

  it('T95, T96: is attached after it is detached there, where nobody wants it any more', () => {
    const made = planOf(wanted({ attachments: [attachment('x', 'b', { attached: false })] }))
    expect(operationsOf(made)).toEqual(['DetachVolume b', 'AttachVolume a'])
    expect(made.operations[1]?.after).toEqual([made.operations[0]?.id])
  })

  it('attached there twice, and one of the two stays: waits for that, too', () => {
    const foreign = attachment('x', 'b', { name: 'my-own', uid: 'va-own' })
    const made = planOf(wanted({ attachments: [attachment('x', 'b'), foreign] }))
    expect(operationsOf(made)).toEqual(['DetachVolume b'])
    expect(waitsOf(made)).toContain('DetachFirst a')
  })

  it('a blocked detach there blocks the attach here', () => {
    const nodes = [node('a'), silentNode('b', 9, { volumesInUse: [uniqueName('x')] })]
    const made = planOf(wanted({ nodes, attachments: [attachment('x', 'b')] }))
    expect(operationsOf(made)).toEqual(['DetachVolume b MachineMayWrite', 'AttachVolume a Predecessor'])
    const gone = { nodeGone: ['b'] }
    expect(operationsOf(planOf(wanted({ nodes, attachments: [attachment('x', 'b')] }), gone))).toEqual([
      'DetachVolume b',
      'AttachVolume a',
    ])
    // Nor does what it reports in use hold it.
    expect([{}, gone].map((given) => operationsOf(planOf(wanted({ nodes }), given)))).toEqual([[], ['AttachVolume a']])
  })

  it.each<[name: string, state: Partial<ClusterState>]>([
    ['being deleted there', { attachments: [attachment('x', 'b', { deletedAt: ago(5) })] }],
    [
      'in use there',
      { nodes: [node('a'), node('b', { volumesInUse: [uniqueName('x')] })], attachments: [attachment('x', 'b')] },
    ],
    [
      'by an attachment whose PersistentVolume is gone',
      {
        nodes: [node('a'), node('b', { managed: false })],
        attachments: [attachment('x', 'b', { persistentVolume: 'pv-old' })],
      },
    ],
  ])('R742: waits while it is %s', (_, state) => {
    const made = planOf(wanted(state))
    expect(operationsOf(made)).toEqual([])
    expect(waitsOf(made)).toContain('DetachFirst a')
  })

  it('T110: what volumesAttached alone lists is detached: a dead controller never corrects it (C44)', () => {
    const nodes = [node('a'), node('b', { volumesAttached: [uniqueName('x')] })]
    expect(operationsOf(planOf(wanted({ nodes })))).toEqual(['AttachVolume a'])
  })
})

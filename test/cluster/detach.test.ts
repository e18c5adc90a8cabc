/** Detach: every row of the controller's table (R731), and what holds an operation back. */
import { describe, expect, it } from 'vitest'
import { planExitStatus } from '../../src/core/cli/carry-out.ts'
import type {
  ClusterAttachment,
  ClusterNode,
  ClusterPod,
  ClusterState,
} from '../../src/core/cluster/model/cluster-state.ts'
import { attachmentName } from '../../src/core/volumes/volume-names.ts'
import {
  ALIVE,
  ago,
  attachment,
  bound,
  claim,
  cluster,
  DRIVER,
  node,
  pod,
  silentNode,
  uniqueName,
  unread,
  volume,
} from '../helpers/cluster-builder.ts'
import { operationsOf, planOf } from '../helpers/cluster-plan.ts'

/** Volume x is attached to node a, and no pod wants it. */
function unwanted(parts: Partial<ClusterNode> = {}, more: Partial<ClusterState> = {}): ClusterState {
  return cluster({
    nodes: [node('a', parts), node('b')],
    ...bound('x'),
    attachments: [attachment('x', 'a')],
    podCount: 3,
    ...more,
  })
}

const IN_USE = { volumesInUse: [uniqueName('x')] }

describe('a volume that no pod wants, the controller dead', () => {
  it('T91: not in use is detached, with its preconditions', () => {
    const { operations, waiting } = planOf(unwanted())
    expect(operations).toMatchObject([
      {
        kind: 'DetachVolume',
        reason: 'NotWanted',
        node: 'a',
        volume: { persistentVolume: 'pv-x', claim: 'default/x' },
        steps: [{ op: 'deleteVolumeAttachment', target: `volumeattachments/${attachment('x', 'a').name}` }],
        attachment: { uid: 'va-x-a', resourceVersion: '9' },
        basis: { node: { uid: 'node-a', resourceVersion: '7' }, inUse: false },
      },
    ])
    expect(operations[0]?.blocked).toBeUndefined()
    expect(waiting).toEqual([])
  })

  it.each<[name: string, code: string, on: Partial<ClusterNode>]>([
    ['Ready missing holds', 'NodeUnknown', { ready: undefined as never }],
    ['the same, tainted', 'NodeUnknown', { ready: undefined as never, outOfService: true }],
    [
      'not ready, and nobody knows since when, holds',
      'NodeUnknown',
      { ...silentNode('a', 30), ...IN_USE, readySince: undefined as never },
    ],
    ['silent for exactly six minutes holds', 'StillInUse', { ...silentNode('a', 6), ...IN_USE }],
    [
      'a kubelet that still renews its lease is not silent',
      'StillInUse',
      { ...silentNode('a', 30), ...IN_USE, leaseRenewTime: ago(0.2) },
    ],
    ['a Node that was created a moment ago holds', 'Settling', { createdAt: ago(1) }],
  ])('%s', (_, code, on) => {
    const { operations, waiting } = planOf(unwanted(on))
    expect(operations).toEqual([])
    expect(waiting).toMatchObject([{ kind: 'DetachVolume', code, node: 'a' }])
  })

  it('not in use, tainted and not ready is detached, though its kubelet is heard', () => {
    const [operation] = planOf(unwanted({ ready: 'False', outOfService: true })).operations
    expect([operation?.reason, operation?.blocked]).toEqual(['OutOfService', undefined])
  })

  it('T92, T100: in use on a node that is silent for six minutes is blocked until a person says that its machine is off', () => {
    const state = unwanted({ ...silentNode('a', 7), ...IN_USE })
    expect(planOf(state).operations).toMatchObject([
      { reason: 'NodeLost', blocked: { code: 'MachineMayWrite' }, basis: { exception: 'NodeLost', inUse: true } },
    ])
    const [given] = planOf(state, { nodeGone: ['a'] }).operations
    expect(given).toMatchObject({ reason: 'NodeLost', makeSure: expect.stringContaining('machine of node a') })
    expect(given?.blocked).toBeUndefined()
  })

  const [HELD, FREE] = [['DetachVolume a TaintedButReady'], ['DetachVolume a']]
  const UNREAD = { leaseRenewTime: undefined as never }
  it.each<[name: string, is: string[], given: string[], heard: Partial<ClusterNode>]>([
    ['its lease was renewed just now', HELD, HELD, { leaseRenewTime: ago(0.8) }],
    ['its lease is a minute old', FREE, FREE, { leaseRenewTime: ago(1) }],
    [
      'its lease could not be read, and its status is five minutes old (S3)',
      HELD,
      FREE,
      { ...UNREAD, heartbeat: ago(5) },
    ],
    ['the same, and its status is seven minutes old', FREE, FREE, { ...UNREAD, heartbeat: ago(7) }],
    ['its lease is of a time to come', HELD, FREE, { leaseRenewTime: ago(-9), leaseWrittenAt: ago(2) }],
    [
      'its lease is of a time to come, and was written just now',
      HELD,
      HELD,
      { leaseRenewTime: ago(-9), leaseWrittenAt: ago(0.3) },
    ],
  ])(
    'a taint takes nothing in use from a machine that runs, Ready or not; a person who says that it is off is believed, but against what was heard just now: %s',
    (_, is, given, heard) => {
      const parts = { ready: 'False', readySince: ago(9), outOfService: true, ...IN_USE, ...heard }
      const made = planOf(unwanted(parts))
      expect([operationsOf(made), operationsOf(planOf(unwanted(parts), { nodeGone: ['a'] }))]).toEqual([is, given])
      if (is === HELD) expect(made.operations[0]?.blocked?.message).toContain('is still heard')
    },
  )

  describe('an attachment of a name that is not Kubernetes’ own', () => {
    const foreign = (parts: Partial<ClusterAttachment> = {}) => attachment('x', 'a', { name: 'my-own', ...parts })
    it.each(['its controller is away', 'its controller lives'])('is a note, and nobody’s work: %s', (controller) => {
      const living = controller === 'its controller lives' ? { controller: { lease: ALIVE } } : {}
      const plan = planOf(unwanted({}, { attachments: [foreign()], ...living }))
      expect(plan).toMatchObject({ operations: [], waiting: [] })
      expect(plan.problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['info AttachmentUnclear'])
      expect(planExitStatus(plan, true)).toBe(0)
    })

    it('is given up where a person says that the machine is off, and nothing shows that it runs', () => {
      const gone = unwanted({}, { nodes: [node('b')], attachments: [foreign()] })
      expect(planOf(gone, { nodeGone: ['a'] }).operations[0]?.blocked).toBeUndefined()
      const ready = unwanted({}, { attachments: [foreign()] })
      expect(planOf(ready, { nodeGone: ['a'] }).operations).toEqual([])
    })
  })

  it('on a node that the controller does not manage stays, and is named', () => {
    const { operations, waiting, problems } = planOf(unwanted({ managed: false }))
    expect([operations, waiting]).toEqual([[], []])
    expect(problems).toMatchObject([{ code: 'NotManaged' }])
  })

  it.each<[name: string, says: string, state: Partial<ClusterState>]>([
    [
      'a driver without attachments',
      `driver ${DRIVER} needs no attachment: no node`,
      { drivers: [{ name: DRIVER, attachRequired: false }] },
    ],
    [
      'a driver that was not read',
      `the CSIDriver of driver ${DRIVER} was not read: perhaps no node`,
      { drivers: [], ...unread('csidrivers') },
    ],
  ])('N62: of %s no node reports what is in use, so that it is blocked', (_, says, state) => {
    expect(planOf(unwanted({}, state)).operations).toMatchObject([
      { blocked: { code: 'UseNotReported', message: expect.stringContaining(says) } },
    ])
    const { operations } = planOf(unwanted({ ...silentNode('a', 5), outOfService: true }, state))
    expect(operations[0]?.blocked).toBeUndefined()
  })

  it('S17: a PersistentVolume that was created again with another handle shows nothing of what the node has', () => {
    const volumes = [volume('x', { handle: 'h-new', uniqueName: `kubernetes.io/csi/${DRIVER}^h-new` })]
    const { operations, problems } = planOf(unwanted(IN_USE, { volumes }))
    expect(operations).toEqual([])
    expect(problems.find(({ code }) => code === 'AttachmentUnclear')?.message).toContain(uniqueName('x'))
  })

  it('a right that is missing blocks', () => {
    const { operations } = planOf(unwanted({}, { rights: { deleteAttachments: false } }))
    expect(operations).toMatchObject([{ blocked: { code: 'Forbidden', message: expect.stringMatching(/may not/) } }])
  })
})

describe('what wants a volume, or may', () => {
  it.each<{ name: string; state: Partial<ClusterState> }>([
    { name: 'T103: a pod of the node', state: { pods: [pod('p', 'a', ['x'])] } },
    {
      name: 'T104: a pod whose driver turned non-attachable',
      state: { pods: [pod('p', 'a', ['x'])], volumes: [volume('x', { attachability: 'notAttachable' })] },
    },
    { name: 'a pod whose claim was deleted under it', state: { pods: [pod('p', 'a', ['x'])], claims: [] } },
  ])('$name', ({ state }) => expect(planOf(unwanted({}, state)).operations).toEqual([]))

  it('S4: a claim that could not be read holds every detach of its node, and of no other', () => {
    const attachments = [attachment('x', 'a'), attachment('y', 'b')]
    const pods = [pod('p', 'a', ['unread'])]
    const made = planOf(cluster({ ...bound('x', 'y'), attachments, ...unread('persistentvolumeclaims'), pods }))
    expect(made.complete).toBe(false)
    expect(made.problems.map(({ code }) => code)).toEqual(expect.arrayContaining(['ReadFailed', 'MayBeInUse']))
    expect(operationsOf(made).toSorted()).toEqual(['DetachVolume a MayBeInUse', 'DetachVolume b'])
  })

  const lost = (parts: Partial<ClusterPod>, on: Partial<ClusterNode> = {}, claims: readonly string[] = ['x']) =>
    unwanted(on, {
      volumes: [],
      claims: [claim('x', { phase: 'Lost' }), claim('y', { phase: 'Lost' })],
      pods: [pod('p', 'a', claims, parts)],
    })

  it.each<{ name: string; state: ClusterState; held: string }>([
    { name: 'a pod that runs holds it', state: lost({}), held: ' MayBeInUse' },
    { name: 'a pod of another PersistentVolume does not', state: lost({}, {}, ['y']), held: '' },
    { name: 'a pod that has ended does not', state: lost({ terminated: true }), held: '' },
  ])('S4: of a PersistentVolume that was deleted under a pod the name is left: $name', ({ state, held }) => {
    for (const controller of [{}, { controller: { lease: ALIVE } }]) {
      expect(operationsOf(planOf({ ...state, ...controller }))).toEqual([`DetachVolume a${held}`])
    }
  })

  it('S4: nothing is detached whose PersistentVolume could not be read', () => {
    const state = unwanted({}, { ...unread('persistentvolumes'), volumes: [], claims: [] })
    expect(planOf(state).operations).toEqual([])
  })

  it.each(['pods', 'nodes', 'volumeattachments'] as const)('S2: without all %s nothing is detached', (list) => {
    const { operations, complete } = planOf(unwanted({}, unread(list)))
    expect([operations, complete]).toEqual([[], false])
  })
})

describe('while the controller lives', () => {
  const lives = { controller: { lease: ALIVE } }

  it.each<{ name: string; on: Partial<ClusterNode>; says: RegExp }>([
    { name: 'not in use', on: {}, says: / node a$/ },
    { name: 'in use', on: IN_USE, says: /once the node no longer reports/ },
    { name: 'on a node that is lost', on: { ...silentNode('a', 30), ...IN_USE }, says: /at the latest six minutes/ },
    { name: 'out of service', on: { ...silentNode('a', 30), ...IN_USE, outOfService: true }, says: /in use or not/ },
  ])('an unwanted volume $name is its work', ({ on, says }) => {
    const { operations, waiting } = planOf(unwanted(on, lives))
    expect(operations).toEqual([])
    const message = expect.stringMatching(says)
    expect(waiting).toMatchObject([{ code: 'ControllerActs', kind: 'DetachVolume', message }])
  })

  /** Of a volume that is not in use; each of these the controller never detaches. */
  const gone = { drivers: [], nodes: [withoutDriver('a'), withoutDriver('b')] }
  const misnamed = attachment('x', 'a', { name: attachmentName('h-before', DRIVER, 'a') })
  const never: [name: string, state: Partial<ClusterState>, reason: string][] = [
    ['T107: without its PersistentVolume', { volumes: [], claims: [] }, 'VolumeDeleted'],
    ['R835: of a volume in the spec of a pod', { attachments: [inline()] }, 'InlineNotWanted'],
    ['R738: of a handle with ^', caret(), 'HandleWithCaret'],
    ['C33: whose name does not match', { attachments: [misnamed] }, 'AttachmentNameWrong'],
    ['of a driver that is gone', gone, 'DriverRemoved'],
  ]

  it.each(never)('an attachment %s is an operation', (_, state, reason) => {
    const { operations } = planOf(unwanted({}, { ...lives, ...state }))
    expect(operations).toMatchObject([{ reason, kind: 'DetachVolume' }])
    expect(operations[0]?.blocked).toBeUndefined()
  })

  it.each(never)('an attachment %s stays while its node reports it in use', (_, state) => {
    const nodes = (state.nodes ?? [node('a'), node('b')]).map((each) => ({
      ...each,
      volumesInUse: [uniqueName('x'), `kubernetes.io/csi/${DRIVER}^h^x`],
    }))
    const { operations } = planOf(unwanted({}, { ...lives, ...state, nodes }))
    expect(operations).toEqual([])
  })

  it('an attachment of a driver whose attacher may live, as leases could not be read, is left to the controller', () => {
    const { operations } = planOf(unwanted({}, { ...lives, ...gone, lostNodes: undefined as never }))
    expect(operations).toEqual([])
  })

  it('what volumesAttached lists the controller knows, even without its PersistentVolume (R717)', () => {
    const nodes = [node('a', { volumesAttached: [uniqueName('x')] })]
    const { operations, waiting } = planOf(unwanted({}, { ...lives, volumes: [], claims: [], nodes }))
    expect(operations).toEqual([])
    expect(waiting).toMatchObject([{ code: 'ControllerActs' }])
  })
})

function inline() {
  const { persistentVolume: _, ...rest } = attachment('x', 'a')
  return { ...rest, inline: { driver: DRIVER, handle: 'h-x' } }
}

function withoutDriver(name: string): ClusterNode {
  return node(name, { csi: { state: 'known' } })
}

function caret(): Partial<ClusterState> {
  const name = `kubernetes.io/csi/${DRIVER}^h^x`
  const made = attachment('x', 'a')
  return {
    volumes: [volume('x', { handle: 'h^x', uniqueName: name })],
    attachments: [{ ...made, name: attachmentName('h^x', DRIVER, 'a') }],
  }
}

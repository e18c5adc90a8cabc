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
  DRIVER,
  node,
  pod,
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
const has = (...attachments: ClusterState['attachments']) => ({ ...bound('x'), attachments })
const DELETED = has(attachment('x', 'a', { deletedAt: ago(9) }))
const NO_QUOTA = [attachment('x', 'a', { attached: false, attachError: { message: 'no quota' } })]
const IN_ORDER = { volumesAttached: [X], volumesInUse: [X] }
const WAITING = pod('p', 'a', ['x'], { started: false })

describe('findings', () => {
  it.each<[name: string, code: string, says: string, state: Partial<ClusterState>]>([
    ['an attachment of a node that is gone', 'AttachmentDangling', 'node gone', has(attachment('x', 'gone'))],
    [
      'attachments of a driver that is gone',
      'NobodyDetaches',
      DRIVER,
      { ...has(attachment('x', 'a')), drivers: [], nodes: [node('a', { csi: { state: 'known' } })] },
    ],
    [
      'two attachments where there may be one',
      'TwoWriters',
      'a, b',
      { ...WANTED, ...has(attachment('x', 'a'), attachment('x', 'b')) },
    ],
    ['in use without a pod', 'ReportedUnused', 'pv-x', { ...bound('x'), nodes: [node('a', { volumesInUse: [X] })] }],
    [
      'attached by the status alone, a CSI volume',
      'AttachedMismatch',
      'there is no VolumeAttachment',
      { ...WANTED, nodes: [node('a', IN_ORDER)], attachments: [] },
    ],
    [
      'a pod of a node that is gone',
      'NodeMissing',
      'default/p',
      { ...has(attachment('x', 'gone')), pods: [pod('p', 'gone', ['x'])] },
    ],
    ['an attacher that fails to attach', 'AttachmentFailing', 'no quota', { ...WANTED, attachments: NO_QUOTA }],
    ['a deletion that does not end', 'AttachmentDeleting', 'external-attacher/disk-csi-example-com', DELETED],
    [
      'no attacher that runs',
      'AttacherSilent',
      DRIVER,
      {
        ...DELETED,
        attachers: [
          { name: 'csi/external-attacher-leader-disk-csi-example-com', renewTime: ago(9), durationSeconds: 15 },
        ],
      },
    ],
    ['a server that is not verified', 'InsecureApi', 'api.example', { insecure: 'TlsNotVerified' }],
  ])('%s: %s', (_, code, says, state) => {
    const found = plan(state).problems.find((each) => each.code === code && each.message.includes(says))
    expect(found).toBeDefined()
  })

  const unbound = claim('x', { phase: 'Pending', wasBound: false, volumeName: '' })
  it.each<[name: string, says: string, state: Partial<ClusterState>, cause?: string]>([
    ['its claim does not exist', 'default/x does not exist', { claims: [], volumes: [] }],
    ['its claim is not bound', 'not bound', { claims: [unbound], volumes: [] }],
    ['its volume is attached to another node', 'attached to node b', { attachments: [attachment('x', 'b')] }],
    ['its attachment fails', 'no quota', { attachments: NO_QUOTA }, 'AttachmentFailing'],
    [
      'another node has the volume',
      'node b has the volume',
      { ...has(attachment('x', 'b')), nodes: [node('a'), node('b', IN_ORDER)], pods: [WAITING, pod('q', 'b', ['x'])] },
      'MultiAttach',
    ],
    ['the driver is not on the node', 'not registered', { nodes: [node('a', { csi: { state: 'known' } })] }],
  ])(
    'a pod does not start because %s, and is no cause of its own where that is said',
    (_, says, state, cause = 'PodWaitsForVolume') => {
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
    },
  )

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

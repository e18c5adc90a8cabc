/**
 * A pod waits for a volume that another node has: "Multi-Attach error" of the pod's events, with the node, the time and the pod
 * there (S3, S30, R742, R743). Of CSI the VolumeAttachment tells, of other plugins the status of the other Node.
 */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume } from '../../src/core/kube/api/objects.ts'
import type { Elsewhere, NodeElsewhere } from '../../src/core/volumes/snapshot.ts'
import { told } from '../helpers/explaining.ts'
import { type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { blocked, codes, kinds, outcome, plan, RUNNING, WANTS_PV_1, waits } from './planned.ts'

const SINCE = '2026-11-21T09:00:00Z'

/** Not attached here, and a pod wants it. */
function wanting(): NodeBuilder {
  return node().persistentVolume('pv-1', { attached: false }).livingPod(uid(2), 'app', WANTS_PV_1)
}

function elsewhere(built: NodeBuilder, other: Partial<NodeElsewhere> = {}): NodeBuilder {
  built.attach('pv-1', 'pv-1', 'node-2', { metadata: { creationTimestamp: SINCE } })
  return built.withApi({ elsewhere: { nodes: [{ name: 'node-2', ...other }] } })
}

const asked = (built: NodeBuilder, elsewhere: Elsewhere): NodeBuilder => built.withApi({ elsewhere })

const USER = { namespace: 'default', name: 'old', uid: 'u-old', phase: 'Running', claims: ['claim-pv-1'] }
const holding = (uniqueName: string): NodeElsewhere => ({ name: 'node-2', attached: [uniqueName], pods: [USER] })
const verdict = (built: NodeBuilder, what = 'pod/default/app') => told(built, what).verdict

const ISCSI = { targetPortal: '10.0.0.1', iqn: 'iqn.x:y', lun: 1 }
const LUN = 'kubernetes.io/iscsi/10.0.0.1:iqn.x:y:1'

/** The same with a source whose attachments stand in the status of Nodes alone. */
const ofPlugin = (source: PersistentVolume['spec']): NodeBuilder =>
  node().persistentVolume('pv-1', { source }).livingPod(uid(2), 'app', WANTS_PV_1)

/** The one wait, for another node, that the plan has of it. */
function waitOf(built: NodeBuilder, words: string) {
  const made = plan(built)
  expect([...outcome(made), ...codes(made)]).toEqual(['MountVolume waits: AccessMode'])
  expect(made.waiting[0]?.message).toContain(words)
  expect(verdict(built)).toMatchObject({ state: 'waiting', code: 'AccessMode' })
  return made.waiting[0]
}

describe('of CSI', () => {
  it.each<[string, Partial<NodeElsewhere>, string, string]>([
    [
      'a pod there uses it',
      { pods: [USER] },
      `node-2 since ${SINCE}, where pod default/old uses it`,
      'kubectl delete pod -n default old',
    ],
    [
      'its pods may not be read (S3)',
      { problem: 'its pods could not be listed: no' },
      'which pods use it there is not known (its pods could not be listed: no)',
      'spec.nodeName=node-2',
    ],
  ])('%s', (_name, other, words, hint) => {
    const built = elsewhere(wanting(), other)
    expect(`${waitOf(built, words)?.hint}`).toContain(hint)
    expect(verdict(built).message).toContain(words)
  })

  it('also beside a kubelet that runs, which cannot have it either', () => {
    expect(waits(plan(elsewhere(wanting(), { pods: [USER] }).with(RUNNING)))).toEqual(['MountVolume AccessMode'])
    // Control: without the other node both wait for the controller.
    expect(waits(plan(wanting().with(RUNNING)))).toEqual(['MountVolume NotAttached'])
  })
})

it.each([
  ['iSCSI', { iscsi: ISCSI }, LUN],
  ['flexVolume', { flexVolume: { driver: 'acme/disk' } }, 'acme/disk/pv-1'],
])('of %s: the other node and its pod are named', (_name, spec, uniqueName) => {
  waitOf(asked(ofPlugin(spec), { nodes: [holding(uniqueName)] }), 'node-2, where pod default/old uses it')
  // Control: another volume's name means nothing.
  expect(codes(plan(asked(ofPlugin(spec), { nodes: [holding('kubernetes.io/fc/[1]')] })))).toEqual([])
})

describe('a volume whose attachment no VolumeAttachment tells, which is attached here', () => {
  const source = { iscsi: ISCSI }
  const DISK = { fsType: 'ext4', source: '/dev/sdb' }
  const NOBODY = { nodes: [] }
  const attached = (built: NodeBuilder, elsewhere: Elsewhere = { nodes: [holding(LUN)] }): NodeBuilder => {
    built.attached.push(LUN)
    built.inUse.push(LUN)
    return asked(built, elsewhere)
  }

  it('mounted here as well, it has two writers', () => {
    const built = attached(ofPlugin(source)).mount(`pods/${uid(2)}/volumes/kubernetes.io~iscsi/pv-1`, DISK)
    const made = plan(built)
    expect([...outcome(made), ...codes(made)]).toEqual(['TwoWriters'])
    expect(verdict(built, 'pv/pv-1')).toMatchObject({ state: 'problem', code: 'TwoWriters' })
    expect(codes(plan(asked(built, NOBODY)))).toEqual([])
  })

  it('with no pod left here it is not unstaged either (S30)', () => {
    const built = attached(node().persistentVolume('pv-1', { source }))
    const made = plan(built.mount('plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.x:y-lun-1', DISK))
    expect(blocked(made)).toEqual(['UnmountDevice TwoWriters'])
    expect(codes(made)).toContain('TwoWriters')
    expect(kinds(plan(asked(built, NOBODY)))).toEqual(['UnmountDevice'])
  })

  it('where other Nodes could not be read, nothing is mounted (S30)', () => {
    const made = plan(attached(ofPlugin(source), { ...NOBODY, problem: 'other nodes could not be listed: no' }))
    expect(waits(made)).toEqual(['MountVolume AccessMode'])
    expect(made.waiting[0]?.message).toContain('other nodes could not be listed: no')
  })
})

it('a kubelet that attaches by itself (N8, N9, C41): nothing is promised: what is not mounted waits for the kubelet, attached or not', () => {
  const attached = node().persistentVolume('pv-1').livingPod(uid(2), 'app', WANTS_PV_1)
  expect(kinds(plan(attached))).toEqual(['MountVolume'])
  for (const built of [wanting(), attached]) {
    const made = plan(built.withNode(({ metadata }) => ({ metadata: { ...metadata, annotations: {} } })))
    expect([...outcome(made), ...codes(made)]).toEqual(['MountVolume waits: NotManaged', 'NotManaged'])
  }
})

describe('a node that is told to keep the volumes of pods that have ended (N10, R710)', () => {
  const ended = (status: { phase?: string; deleted?: boolean }): NodeBuilder => {
    const built = node().persistentVolume('pv-1').staged('pv-1', '7:1').pod(uid(2), 'done', WANTS_PV_1, status)
    return built.dir(`pods/${uid(2)}`).published(uid(2), 'pv-1', '7:1')
  }
  const KEEP = 'volumes.kubernetes.io/keep-terminated-pod-volumes'
  const TOLD: readonly [string, (built: NodeBuilder) => NodeBuilder][] = [
    [
      'its annotation',
      (built) =>
        built.withNode(({ metadata }) => ({
          metadata: { ...metadata, annotations: { ...metadata.annotations, [KEEP]: 'true' } },
        })),
    ],
    [
      'configuration',
      (built) =>
        built.with({ kubelet: { running: false, mayReturn: false, config: { keepTerminatedPodVolumes: true } } }),
    ],
  ]

  it.each(TOLD)('by %s: they stay, and so does the attachment', (_name, tell) => {
    for (const status of [{ phase: 'Succeeded' }, { phase: 'Failed' }, { deleted: true }]) {
      const built = ended(status)
      // Control: without the wish they come down.
      expect(kinds(plan(built))).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
      tell(built)
      const made = plan(built, { orphans: true })
      expect(outcome(made)).toEqual(['DetachVolume waits: TerminatedKept'])
      expect(new Set(codes(made))).toEqual(new Set(['TerminatedKept']))
      expect(verdict(built, 'pod/default/done')).toMatchObject({ code: 'TerminatedKept' })
    }
  })

  it.each(TOLD)('by %s: of a pod that the API does not know any more they come down', (_name, tell) => {
    const built = ended({})
    built.pods.splice(
      built.pods.findIndex(({ metadata }) => metadata.name === 'done'),
      1,
    )
    tell(built)
    expect(kinds(plan(built))).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
  })
})

/** Which of several pods mounts a volume first, and what a mount comes after (S22, S30, R418, R829). */
import { describe, expect, it } from 'vitest'
import type { Operation, Plan } from '../../src/core/plan/plan.ts'
import { type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { codes, GONE, only, plan, WANTS_PV_1, waits } from './planned.ts'

const A = uid(2)
const B = uid(3)

/** Two pods that live and want the one volume, of which nothing is mounted. */
const shared = (accessModes = ['ReadWriteOnce']): NodeBuilder => {
  return node().persistentVolume('pv-1', { accessModes }).livingPod(A, 'a', WANTS_PV_1).livingPod(B, 'b', WANTS_PV_1)
}

const mountOf = ({ operations }: Plan, podUid: string): Operation | undefined =>
  operations.find(({ kind, pod }) => kind === 'MountVolume' && pod?.uid === podUid)

const stages = (operation: Operation | undefined): boolean =>
  operation?.steps.some(({ op }) => op === 'NodeStageVolume') ?? false

const target = (podUid: string): string => `pods/${podUid}/volumes/kubernetes.io~csi/pv-1/mount`

describe('the first pod that can carries the stage', () => {
  it('and the others come after it', () => {
    const made = plan(shared())
    expect([A, B].map((pod) => stages(mountOf(made, pod)))).toEqual([true, false])
    expect(mountOf(made, B)?.after).toEqual([mountOf(made, A)?.id])
  })

  it('not one that is blocked by what lies in its own place', () => {
    const made = plan(shared().file(`${target(A)}/data`, 'x'))
    expect(mountOf(made, A)?.blocked?.code).toBe('DataUnderMountPoint')
    expect(stages(mountOf(made, B))).toBe(true)
    expect(mountOf(made, B)?.after).toEqual([])
  })

  it('not one that --pod leaves out', () => {
    const made = plan(shared(), { pods: ['default/b'] })
    expect(made.operations.map(({ pod }) => pod?.uid)).toEqual([B])
    expect(stages(mountOf(made, B))).toBe(true)
    expect(made.summary.filtered).toBe(1)
  })
})

describe('ReadWriteOncePod (R430, R829)', () => {
  const exclusive = (): NodeBuilder => shared(['ReadWriteOncePod'])

  it('of two pods that want it one mounts it, and the other waits', () => {
    const made = plan(exclusive())
    expect(made.operations.map(({ kind, pod }) => [kind, pod?.uid])).toEqual([['MountVolume', A]])
    expect(waits(made)).toEqual(['MountVolume AccessMode'])
  })

  it('a pod waits for one that has it, of any plugin', () => {
    const source = { iscsi: { targetPortal: '10.0.0.1', iqn: 'iqn.x:y', lun: 1 } }
    const built = node().persistentVolume('pv-1', { source, accessModes: ['ReadWriteOncePod'] })
    built.livingPod(A, 'a', WANTS_PV_1).livingPod(B, 'b', WANTS_PV_1)
    built.mount(`pods/${A}/volumes/kubernetes.io~iscsi/pv-1`, { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' })
    expect(waits(plan(built))).toEqual(['MountVolume AccessMode'])
  })

  it('two pods that have it are two writers (S30)', () => {
    const built = exclusive().staged('pv-1', '7:1').published(A, 'pv-1', '7:1').published(B, 'pv-1', '7:1')
    expect(codes(plan(built))).toEqual(['TwoWriters'])
  })

  it('a first pod that cannot mount it keeps nobody waiting', () => {
    const made = plan(exclusive().file(`${target(A)}/data`, 'x'))
    expect(mountOf(made, B)?.blocked).toBeUndefined()
    expect(waits(made)).toEqual([])
  })

  it.each<{ name: string; left: (built: NodeBuilder) => NodeBuilder; own?: string; blocked?: string }>([
    { name: 'the unmount of a pod that is gone', left: (built) => built.published(GONE, 'pv-1', '7:1') },
    {
      name: 'one that is blocked, with which it is blocked',
      left: (built) => built.published(GONE, 'pv-1', '7:1').mount(`${target(GONE)}/below`),
      own: 'ForeignMount',
      blocked: 'Predecessor',
    },
    {
      name: 'an unmount whose volume nobody can tell',
      left: (built) => built.published(GONE, 'pv-1', '7:9', { stateFile: false }),
      own: 'IdentityUnconfirmed',
      blocked: 'Predecessor',
    },
    {
      name: 'the leaked sub-path mounts of a pod that is gone',
      left: (built) => built.leaf(GONE, 'pv-1', '7:1'),
    },
  ])('comes after $name', ({ left, own, blocked }) => {
    const wanting = node()
      .persistentVolume('pv-1', { accessModes: ['ReadWriteOncePod'] })
      .livingPod(A, 'a', WANTS_PV_1)
    wanting.staged('pv-1', '7:1')
    const made = plan(left(wanting))
    const unmount = made.operations.find(({ pod }) => pod?.uid === GONE)
    expect([unmount?.blocked?.code, mountOf(made, A)?.blocked?.code]).toEqual([own, blocked])
    expect(mountOf(made, A)?.after).toEqual([unmount?.id])
  })
})

it('a raw block volume whose record names another volume is not mapped over it (S14)', () => {
  const maps = 'plugins/kubernetes.io/csi/volumeDevices'
  const built = node()
    .persistentVolume('pv-1', { handle: 'new', mode: 'Block' })
    .file(`${maps}/pv-1/data/vol_data.json`, volumeData('pv-1', 'old'))
    .mount(`${maps}/publish/pv-1/${GONE}`, { fsType: 'devtmpfs', root: '/loop1', type: 'block' })
    .livingPod(A, 'a', WANTS_PV_1, { devices: ['v'] })
  const map = only(plan(built), 'MapVolume')
  expect(map.blocked?.code).toBe('OtherVolume')
  expect(stages(map)).toBe(true)
})

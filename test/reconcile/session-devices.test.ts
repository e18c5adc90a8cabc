/** Devices of iSCSI, FC and flexVolumes: when they are nobody's, and what taking them down consists of (S25, P72-P88). */
import { describe, expect, it } from 'vitest'
import type { PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { blocked, codes, GONE, kinds, plan, waits } from './planned.ts'

const IQN = 'iqn.2003-01.test:disk'
const PORTAL = '10.0.0.1:3260'
const ISCSI = 'plugins/kubernetes.io/iscsi'
const FC = 'plugins/kubernetes.io/fc'
const FLEX = 'plugins/kubernetes.io/flexvolume'
const DISK = { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' }
const PROGRAM = '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/v~d/d'

const steps = (made: Plan): string[][] =>
  made.operations.map((each) => [
    each.kind,
    ...each.steps.map(({ op, target }) => `${op} ${target.replace(`${ROOT}/`, '')}`),
  ])
const lunDir = (lun = 0, iqn = IQN, portal = PORTAL): string => `${ISCSI}/iface-default/${portal}-${iqn}-lun-${lun}`
const wanting = (source: Partial<PodVolumeSource>): NodeBuilder =>
  node().livingPod(uid(2), 'app', [{ name: 'v', ...source }])
const record = (lun = 0): string =>
  JSON.stringify({ VolName: 'pv-1', Portals: [PORTAL], Iqn: IQN, Lun: String(lun), Iface: 'default' })
const withDriver = (built: NodeBuilder): NodeBuilder => {
  built.flexDrivers = [{ name: 'v/d', executable: PROGRAM }]
  return built
}

describe('iSCSI', () => {
  it.each([
    ['the same LUN', 0, { targetPortal: PORTAL, iqn: IQN, lun: 1 }],
    ['the same LUN, written without a port (R014)', 0, { targetPortal: '10.0.0.1', iqn: IQN, lun: 1 }],
    ['the same LUN through another portal', 0, { targetPortal: '10.0.0.2', iqn: IQN, lun: 1 }],
    ['LUN 10', 1, { targetPortal: PORTAL, iqn: IQN, lun: 10 }],
    ['a target whose name begins like it', 1, { targetPortal: PORTAL, iqn: `${IQN}1`, lun: 1 }],
  ])('LUN 1, while a pod wants %s: %s operations', (_name, want, source) => {
    for (const built of [wanting({ iscsi: source }).mount(lunDir(1), DISK), wanting({ iscsi: source }).dir(lunDir(1))])
      expect(plan(built).operations.filter(({ kind }) => kind === 'UnmountDevice')).toHaveLength(want)
  })

  it.each([
    ['is said to be unused, beside a wanted LUN', PORTAL, lunDir(1), ['ReportedUnused']],
    [
      'is said to be unused, beside a wanted LUN whose portal is written without a port (R014)',
      '10.0.0.1',
      lunDir(1),
      ['ReportedUnused'],
    ],
    ['may be a LUN that nobody wants', PORTAL, lunDir(2), []],
  ])('a name in the status %s', (_name, targetPortal, mounted, said) => {
    const built = wanting({ iscsi: { targetPortal, iqn: IQN, lun: 1 } }).mount(mounted, DISK)
    built.attached.push(`kubernetes.io/iscsi/${targetPortal}:${IQN}:1`, 'kubernetes.io/iscsi/10.0.0.9:3260:iqn.x:0')
    expect(codes(plan(built))).toEqual(said)
  })

  it('in doubt it stays: a living pod has an unmounted volume of which nobody knows what it is', () => {
    const built = node()
      .mount(lunDir(), DISK)
      .dir(`pods/${uid(1)}/volumes/kubernetes.io~iscsi/x`)
    expect(plan(built).operations).toEqual([])
  })

  it('a directory left unmounted is finished: devices, log-out, record, directory (P76, R837); mounted, it is unmounted first', () => {
    const dir = lunDir()
    const release = [`removeIscsiDisks ${dir}`, `iscsiLogout ${dir}`, `unlink ${dir}/iscsi.json`, `rmdir ${dir}`]
    const made = plan(node().file(`${dir}/iscsi.json`, record()))
    expect(steps(made)).toEqual([['UnmountDevice', ...release]])
    expect(blocked(made)).toEqual([])
    expect(steps(plan(node().mount(dir, DISK)))).toEqual([['UnmountDevice', `umount ${dir}`, ...release]])
  })

  it.each([
    { name: 'a file beside the record', make: (built: NodeBuilder) => built.file(`${lunDir()}/data`, 'x') },
    { name: 'a link in its place', make: (built: NodeBuilder) => built.link(`${lunDir()}/iscsi.json`, '/etc/passwd') },
  ])('$name in it blocks', ({ make }) => {
    expect(blocked(plan(make(node().dir(lunDir()))))).toEqual(['UnmountDevice UnexpectedFile'])
  })
})

describe('FC', () => {
  const NAME = '50060e801049cfd1-50060e801049cfd2-lun-1'
  it('unmount, devices, directory (P81)', () => {
    expect(steps(plan(node().mount(`${FC}/${NAME}`, DISK)))).toEqual([
      ['UnmountDevice', `umount ${FC}/${NAME}`, `removeFcDisks ${FC}/${NAME}`, `rmdir ${FC}/${NAME}`],
    ])
  })
  it.each([
    {
      name: 'the same WWNs in another order (P96)',
      fc: { targetWWNs: ['50060E801049CFD2', '50060e801049cfd1'], lun: 1 },
      want: 0,
    },
    { name: 'LUN 11', fc: { targetWWNs: ['50060e801049cfd1'], lun: 11 }, want: 1 },
  ])('while a pod wants $name: $want operations', ({ fc, want }) => {
    const made = plan(wanting({ fc }).mount(`${FC}/${NAME}`, DISK))
    expect(made.operations.filter(({ kind }) => kind === 'UnmountDevice')).toHaveLength(want)
  })
})

describe('flexVolume', () => {
  const dir = `${FLEX}/v/d/mounts/f`
  const pod = `pods/${GONE}/volumes/v~d/f`

  it('a global mount: the driver’s call with the path, and the directory (P88)', () => {
    const made = plan(withDriver(node().mount(dir, DISK)))
    expect(steps(made)).toEqual([['UnmountDevice', `flexUnmountDevice ${dir}`, `rmdir ${dir}`]])
    expect(made.operations[0]?.steps[0]?.detail).toBe(PROGRAM)
  })

  it('a pod’s volume, mounted or not', () => {
    const want = [['UnmountVolume', `flexUnmount ${pod}`, `rmdir ${pod}`]]
    expect(steps(plan(withDriver(node().mount(pod, DISK))))).toEqual(want)
    expect(steps(plan(withDriver(node().dir(pod))))).toEqual(want)
  })
  it('a driver is not let loose on files that lie in an unmounted volume (S13)', () => {
    const made = plan(withDriver(node().file(`${pod}/data`, 'x')))
    expect(made.operations).toEqual([])
    expect(codes(made)).toContain('DataUnderMountPoint')
  })
  it.each([
    { name: 'is not installed', drivers: [], says: 'is not installed' },
    { name: 'cannot be run', drivers: [{ name: 'v/d', executable: PROGRAM, error: 'EACCES' }], says: 'EACCES' },
    { name: 'was not looked for', drivers: undefined, says: 'was not searched for' },
  ])('a driver that $name blocks what is mounted', ({ drivers, says }) => {
    const built = node().mount(dir, DISK).mount(pod, DISK)
    const { operations } = plan(built.with({ flexDrivers: drivers as never }))
    const why = { code: 'DriverUnavailable', message: expect.stringContaining(says) }
    expect(operations.map(({ blocked }) => blocked)).toMatchObject([why, why])
  })
  it('declared gone, the kernel unmounts, and the plan says what does not happen (S16)', () => {
    const made = plan(node().mount(dir, DISK).mount(pod, DISK), { driverGone: ['v/d'] })
    expect(blocked(made)).toEqual([])
    expect(steps(made).flat()).toEqual(expect.arrayContaining([`umount ${dir}`, `umount ${pod}`]))
    expect(made.operations[1]?.after).toEqual([made.operations[0]?.id])
    expect(codes(made).filter((code) => code === 'DriverGone')).toHaveLength(2)
  })
  it('a global mount goes after the mounts of all pods (P86-P88)', () => {
    const pods = [pod, pod.replace(GONE, uid(8))]
    const { operations } = plan(
      withDriver(pods.reduce((built, each) => built.mount(each, DISK), node().mount(dir, DISK))),
    )
    const [first, second, device] = operations
    expect(operations.map(({ kind }) => kind)).toEqual(['UnmountVolume', 'UnmountVolume', 'UnmountDevice'])
    expect(device?.after.toSorted()).toEqual([first?.id, second?.id].toSorted())
  })

  it('a living pod has it by a mount of what is mounted globally, and of nothing else (S38)', () => {
    const having = (dev: string): NodeBuilder => {
      const built = wanting({ flexVolume: { driver: 'v/d' } }).mount(`${FLEX}/v/d/mounts/v`, DISK)
      for (const names of [built.attached, built.inUse]) names.push('v/d/v')
      return built.mount(`pods/${uid(2)}/volumes/v~d/v`, { ...DISK, dev })
    }
    const made = [plan(having(DISK.dev)), plan(having('8:32'))]
    expect(made.map((each) => [...kinds(each), ...waits(each), ...codes(each)])).toEqual([[], ['OtherVolume']])
  })

  it('a living pod’s volume of the same name keeps it', () => {
    const wanted = withDriver(wanting({ flexVolume: { driver: 'v/d' } }).mount(`${FLEX}/v/d/mounts/v`, DISK))
    expect(plan(wanted).operations.filter(({ kind }) => kind === 'UnmountDevice')).toEqual([])
  })
})

describe('raw block volumes (P83, P84, P104, R451)', () => {
  const map = `${ISCSI}/volumeDevices/iface-default/${PORTAL}-${IQN}-lun-0`
  const link = (podUid: string, plugin: string, name = 'pv-1'): string =>
    `pods/${podUid}/volumeDevices/${plugin}/${name}`
  const mapped = (built: NodeBuilder, dir: string, podUid: string): NodeBuilder => {
    built.mount(`${dir}/${podUid}`, { dev: '0:5', root: '/sdb', fsType: 'devtmpfs', type: 'block' })
    built.loops.push({ name: '/dev/loop4', backingFile: `${ROOT}/${dir}/${podUid}` })
    return built
  }

  it('iSCSI: the link is found by its device, and the loop, the map and the session follow', () => {
    const built = mapped(node(), map, GONE)
      .file(`${map}/iscsi.json`, record())
      .link(link(GONE, 'kubernetes.io~iscsi'), '/dev/sdb')
    const made = plan(built)
    expect(steps(made)).toEqual([
      [
        'UnmapVolume',
        'losetup -d /dev/loop4',
        `unlink ${link(GONE, 'kubernetes.io~iscsi')}`,
        `umount ${map}/${GONE}`,
        `unlink ${map}/${GONE}`,
      ],
      ['UnmapDevice', `removeIscsiDisks ${map}`, `iscsiLogout ${map}`, `unlink ${map}/iscsi.json`, `rmdir ${map}`],
    ])
    expect(blocked(made)).toEqual([])
    expect(made.operations[1]?.after).toEqual([made.operations[0]?.id])
    expect(made.operations[1]?.volume?.uniqueName).toBe(`kubernetes.io/iscsi/${PORTAL}:${IQN}:0`)
  })

  it('after a reboot, when nothing is bound any more, the record says whose link it is', () => {
    const built = node().file(`${map}/${GONE}`, '').file(`${map}/iscsi.json`, record())
    built.link(link(GONE, 'kubernetes.io~iscsi'), '/dev/sdb')
    expect(steps(plan(built))[0]).toEqual([
      'UnmapVolume',
      `unlink ${link(GONE, 'kubernetes.io~iscsi')}`,
      `unlink ${map}/${GONE}`,
    ])
  })

  it('so does a pod that asks for it in a way in which it cannot be used (S4)', () => {
    const built = wanting({ persistentVolumeClaim: { claimName: 'claim-pv-1' } })
      .persistentVolume('pv-1', { mode: 'Block', source: { iscsi: { targetPortal: PORTAL, iqn: IQN, lun: 0 } } })
      .file(`${map}/iscsi.json`, record())
    const made = plan(built)
    expect(waits(made)).toEqual(['MountVolume VolumeUnresolved'])
    expect(made.operations.filter(({ kind }) => kind === 'UnmapDevice')).toEqual([])
  })
})

it.each([
  { name: 'one', planned: [] },
  { name: 'other', planned: ['UnmountDevice'] },
])('a pod that still runs keeps the flexVolume of the name that it has: $name', ({ name, planned }) => {
  const built = node()
    .running(uid(8))
    .with({ flexDrivers: [{ name: 'v/d', executable: PROGRAM }] })
  built.mount(`${FLEX}/v/d/mounts/one`, { dev: '7:1', fsType: 'ext4' })
  built.mount(`pods/${uid(8)}/volumes/v~d/${name}`, { dev: '7:2', fsType: 'ext4' })
  expect(kinds(plan(built))).toEqual(planned)
})

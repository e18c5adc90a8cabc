/** Volumes of pods that must not be disturbed, where their records are lost (S9, S21, R817, R827): not known is in use. */
import { describe, expect, it } from 'vitest'
import { type NodeBuilder, node, ROOT, uid, volumeData } from '../helpers/node-builder.ts'
import {
  BLOCK,
  blocked,
  codes,
  kinds,
  mappedBlock,
  mirrorPod,
  oneManifest,
  only,
  outcome,
  plan,
  WANTS_PV_1,
} from './planned.ts'

const OLD = uid(9)
const CSI = `pods/${OLD}/volumes/kubernetes.io~csi`
/** A pod that the API does not list, while its containers run; and an attached volume of that name. */
const running = (): NodeBuilder => node().running(OLD).persistentVolume('pv-1', { handle: 'vol-1' })

const emptied = (built: NodeBuilder): NodeBuilder => built.file(`${CSI}/pv-1/vol_data.json`, '')

it.each<[string, (built: NodeBuilder) => NodeBuilder]>([
  ['mounted, its state file lost', (built) => built.published(OLD, 'pv-1', '7:1', { stateFile: false })],
  ['not mounted any more, its state file empty (O2)', emptied],
  ['an empty directory (O2)', (built) => built.dir(`${CSI}/pv-1`)],
  ['a sub-path alone (O2)', (built) => built.leaf(OLD, 'pv-1', '7:1')],
  [
    'mounted from another device than what is staged',
    (built) => emptied(built.mount(`${CSI}/pv-1/mount`, { dev: '0:77', fsType: 'fuse.x' })).staged('vol-1', '7:1'),
  ],
])('a pod that still runs uses the PersistentVolume of the name that is left: %s', (_name, change) => {
  expect(outcome(plan(change(running())))).toEqual(['DetachVolume waits: PodStillRunning'])
})

it.each([
  { where: 'in its directory', dir: `pods/${OLD}/volumes/kubernetes.io~local-volume/pv-l`, planned: [] },
  { where: 'in none', dir: `pods/${OLD}/volumes`, planned: ['UnmountDevice'] },
])('a pod that still runs uses the local volume that it has $where', ({ dir, planned }) => {
  const built = node().running(OLD).dir(dir)
  built.mount('plugins/kubernetes.io/local-volume/mounts/pv-l', { dev: '7:9', fsType: 'ext4' })
  expect(kinds(plan(built))).toEqual(planned)
})

describe('a volume that could not be identified may be any', () => {
  /** Another volume that nobody wants, and one of another driver. */
  const others = (built: NodeBuilder): NodeBuilder => {
    built.drivers.push('other.test')
    built.attachments.push({
      metadata: { name: 'elsewhere', uid: 'u' },
      spec: { attacher: 'other.test', nodeName: 'node-1', source: {} },
      status: { attached: true },
    })
    return built.persistentVolume('pv-2', { handle: 'vol-2' }).staged('vol-2', '7:2')
  }
  const lostFile = (built: NodeBuilder): NodeBuilder => built.published(OLD, 'pv-1', '7:1', { stateFile: false })
  it('of the driver that a PersistentVolume of its name has', () => {
    const made = plan(others(lostFile(running())))
    expect(blocked(made)).toEqual([
      'UnmountDevice MayBeInUse',
      'DetachVolume MayBeInUse',
      'DetachVolume IdentityUnconfirmed',
    ])
    expect(only(made, 'UnmountDevice').blocked?.message).toContain(`${ROOT}/${CSI}/pv-1`)
  })
  it('of any driver where there is none', () => {
    const built = others(lostFile(node().running(OLD)))
    expect(blocked(plan(built)).slice(0, 2)).toEqual(['UnmountDevice MayBeInUse', 'DetachVolume MayBeInUse'])
  })
  it('not of another driver than the one of its name', () => {
    const source = { csi: { driver: 'other.test', volumeHandle: 'vol-1' } }
    const built = lostFile(node().running(OLD).persistentVolume('pv-1', { source }))
    expect(kinds(plan(others(built)))).toContain('UnmountDevice')
  })
  it('of a listed pod: something that is set up, and not what it wants', () => {
    const built = node().livingPod(uid(2), 'app').staged('vol-2', '7:2')
    expect(kinds(plan(built.dir(`pods/${uid(2)}/volumes/kubernetes.io~csi/old`)))).toEqual(['UnmountDevice'])
    built.published(uid(2), 'old', '7:1', { stateFile: false })
    expect(blocked(plan(built))).toEqual(['UnmountDevice MayBeInUse'])
  })
  it.each<[string, (built: NodeBuilder) => NodeBuilder]>([
    ['mounted', (built) => built.published(uid(2), 'pv-1', '7:1', { stateFile: false }).staged('vol-1', '7:1')],
    ['a sub-path of it', (built) => built.leaf(uid(2), 'pv-1', '7:1')],
  ])('what a listed pod wants is known by its name: %s', (_name, change) => {
    const built = node().persistentVolume('pv-1', { handle: 'vol-1' }).livingPod(uid(2), 'app', WANTS_PV_1)
    const made = plan(change(built).persistentVolume('pv-2', { attached: false }).staged('pv-2', '7:2'))
    expect(kinds(made)).toContain('UnmountDevice')
  })
  it('a block map of a listed pod is known by its name, too', () => {
    const built = node()
      .persistentVolume('pv-1', { handle: 'vol-1', mode: 'Block' })
      .livingPod(uid(2), 'app', WANTS_PV_1, { devices: ['v'] })
    expect(kinds(plan(mappedBlock(built, uid(2)).staged('vol-2', '7:2')))).toContain('UnmountDevice')
    expect(blocked(plan(mappedBlock(built, uid(2), 'pv-x')))).toContainEqual('UnmountDevice MayBeInUse')
  })
})

describe('S9: what runs counts, with or without a directory', () => {
  const idle = (): NodeBuilder => node().staged('vol-2', '7:2').persistentVolume('pv-2', { handle: 'vol-2' })
  it.each<[string, (built: NodeBuilder) => unknown]>([
    ['a sandbox and processes', (built) => built.running(OLD)],
    ['with a directory that lacks its volumes', (built) => built.running(OLD).dir(`pods/${OLD}`)],

    ['a CSI volume of which the kubelet removed the directory (O2)', (built) => built.running(OLD).dir(CSI)],
    [
      'the same of a block volume',
      (built) => built.running(OLD).dir(`pods/${OLD}/volumes`).dir(`pods/${OLD}/volumeDevices/kubernetes.io~csi`),
    ],
  ])('%s: reported, and no device is undone', (_name, change) => {
    const built = idle()
    change(built)
    const made = plan(built)
    expect(made.problems.filter((each) => each.severity === 'error').map((each) => each.code)).toEqual([
      'PodGoneButRunning',
    ])
    expect(blocked(made)).toEqual(['UnmountDevice MayBeInUse', 'DetachVolume MayBeInUse'])
  })

  it('a process alone, of a pod that nothing here knows: is reported under a code of its own, with how to find it, and no device is undone', () => {
    const built = idle()
    built.processes.push(OLD)
    const made = plan(built)
    expect(made.problems).toEqual([
      expect.objectContaining({ severity: 'error', code: 'UnknownPodProcess', about: { pod: OLD } }),
    ])
    const hint = `${made.problems[0]?.hint}`
    expect(hint).toContain(`grep -lE 'pod(${OLD}|${OLD.replaceAll('-', '_')})' /proc/[0-9]*/cgroup`)
    expect(hint).toContain('if another kubelet on this machine started them, delete its pod there')
    expect(blocked(made)).toEqual(['UnmountDevice UnknownPodProcess', 'DetachVolume UnknownPodProcess'])
    expect(`${made.operations[0]?.blocked?.hint}`).toBe(hint)
  })

  describe('a pod of a kubelet nested in a pod or a container', () => {
    const nested = (): NodeBuilder => idle().with({ nestedProcesses: [OLD] })
    it('is no user of any volume of this node', () => {
      const made = plan(nested())
      expect(made.problems).toEqual([])
      expect(kinds(made)).toEqual(['UnmountDevice', 'DetachVolume'])
    })
    it('is alive all the same where this node knows it: its own kubelet may run in there', () => {
      const built = nested().mount(`pods/${OLD}/volumes/kubernetes.io~secret/s`)
      expect(kinds(plan(built))).not.toContain('UnmountVolume')
      expect(codes(plan(built))).toContain('PodGoneButRunning')
      // Control: without its processes it is gone.
      built.override = {}
      expect(kinds(plan(built))).toContain('UnmountVolume')
    })
  })

  it('without the process table nobody can say that no such pod is there', () => {
    const built = idle().with({ processes: undefined } as never)
    expect(blocked(plan(built))).toEqual(['UnmountDevice MayBeInUse', 'DetachVolume MayBeInUse'])
  })

  it('volumes of other plugins alone hold up nothing', () => {
    const built = idle().running(OLD).mount(`pods/${OLD}/volumes/kubernetes.io~secret/s`)
    expect(kinds(plan(built))).toEqual(['UnmountDevice', 'DetachVolume'])
  })
  it.each<[string, (built: NodeBuilder) => NodeBuilder]>([
    ['a sub-path', (built) => built.leaf(OLD, 'pv-1', '7:1')],
    [
      'a block map with a state file',
      (built) => mappedBlock(built, OLD).file(`${BLOCK}/pv-1/data/vol_data.json`, volumeData('pv-1', 'vol-1')),
    ],
  ])('nor a removed directory where %s tells the volume', (_name, change) => {
    const built = change(idle().running(OLD).dir(CSI).dir(`pods/${OLD}/volumeDevices/kubernetes.io~csi`))
    expect(kinds(plan(built))).toEqual(['UnmountDevice', 'DetachVolume'])
  })

  it('nor the pod of a static manifest, which runs under the UID of its mirror pod', () => {
    const HASH = '0123456789abcdef0123456789abcdef'
    const built = idle().running(HASH)
    built.pods.push(mirrorPod('a-node-1', HASH))
    built.with(oneManifest())
    expect(kinds(plan(built))).toEqual(['UnmountDevice', 'DetachVolume'])
  })
})

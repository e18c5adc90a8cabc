/** The safety rules that a plan decides, each named after its rule. */
import { describe, expect, it } from 'vitest'
import { planExitStatus } from '../../src/core/cli/carry-out.ts'
import { refuseInsecureApi } from '../../src/core/plan/insecure-api.ts'
import type { Plan, PlanOptions } from '../../src/core/plan/plan.ts'
import { csiGlobalDir, csiUniqueName, inlineCsiHandle } from '../../src/core/volumes/volume-names.ts'
import {
  BEFORE_BOOT,
  DRIVER,
  HOUR_AGO,
  NOW,
  type NodeBuilder,
  node,
  ROOT,
  uid,
  volumeData,
} from '../helpers/node-builder.ts'
import { csiDriverObject, csiNodeObject } from '../helpers/objects.ts'
import { planOptions } from '../helpers/plan-options.ts'
import {
  BLOCK,
  blocked,
  codes,
  DATA,
  GONE,
  GONE_CSI,
  kinds,
  mappedBlock,
  mirrorPod,
  oneManifest,
  ops,
  outcome,
  plan,
  RUNNING,
  WANTS_PV_1,
  waits,
  withOrphans,
} from './planned.ts'

/** A pod that is gone, with a memory-backed secret volume still mounted. */
const orphan = (built = node()): NodeBuilder => built.mount(`pods/${GONE}/volumes/kubernetes.io~secret/s`)

/** What a pod that is gone has left of a volume. */
const left = (built = node()): NodeBuilder =>
  built.published(GONE, 'pv-1', '7:1', { handle: 'vol-1' }).staged('vol-1', '7:1')

describe('S1 right machine', () => {
  it.each([
    ['another machineID and systemUUID', { machineID: 'x', systemUUID: 'y' }, 'WrongMachine'],
    ['neither is known', { machineID: undefined, systemUUID: undefined }, 'WrongMachine'],
  ])('%s refuses', (_name, ids, code) => {
    const made = plan(orphan().with(ids as never))
    expect(made.refused).toMatchObject({ rule: 'S1', code })
    expect(kinds(made)).toEqual([])
  })
  it.each([
    ['machineID alone', { systemUUID: undefined }],
    ['systemUUID alone, in another case and with dashes', { machineID: undefined, systemUUID: 'SYSTEM-1' }],
    ["machineID, and a vendor's placeholder", { systemUUID: '03000200-0400-0500-0006-000700080009' }],
    ['systemUUID, and a machineID that an image brought', { machineID: 'uninitialized' }],
    ['both, after a reboot', { bootID: 'boot-2' }],
  ])('%s is enough', (_name, ids) => {
    const built = orphan().with(ids as never)
    expect(plan(built).refused).toBeUndefined()
    expect(plan(built).inputs.machine).toMatchObject({ matches: true })
  })

  it.each([
    { name: 'another systemUUID', ids: { systemUUID: 'system-2' }, field: 'systemUUID', value: 'system-1' },
    { name: 'another machineID', ids: { machineID: 'machine-2' }, field: 'machineID', value: 'machine-1' },
    { name: 'another boot, beside a kubelet', ids: { bootID: 'boot-2', ...RUNNING }, field: 'bootID', value: 'boot-1' },
  ])('$name contradicts, until it is accepted', ({ ids, field, value }) => {
    const built = orphan().with(ids as never)
    const made = plan(built)
    expect(made.refused).toMatchObject({
      rule: 'S1',
      code: 'WrongMachine',
      message: expect.stringMatching(/may be another machine: its /),
    })
    expect(`${made.refused?.hint}`).toContain(`--accept-identity ${value}`)
    expect(made.inputs.machine).toMatchObject({ matches: false, contradictions: [{ field, node: value }] })
    expect(kinds(made)).toEqual([])
    expect(plan(built, { acceptIdentity: ['another'] }).refused).toBeDefined()
    const accepted = plan(built, { acceptIdentity: ['another', value] })
    expect(accepted.refused).toBeUndefined()
    expect(accepted.inputs.machine).toMatchObject({ matches: true, contradictions: [{ field, accepted: true }] })
    expect(accepted.problems).toContainEqual(expect.objectContaining({ code: 'IdentityAccepted' }))
  })

  it('what was accepted is no proof', () => {
    const built = orphan().with({ machineID: 'machine-2', systemUUID: 'Not Settable' })
    const refused = plan(built, { acceptIdentity: ['machine-1', 'system-1'] }).refused
    expect(refused).toMatchObject({ rule: 'S1', code: 'WrongMachine' })
  })

  it('another boot of whoever still renews the lease', () => {
    const built = orphan()
    const renewed = (renewTime: string) => ({ lease: { metadata: { name: 'n', uid: 'l' }, spec: { renewTime } } })
    built.with({
      ...{ bootID: 'boot-2', bootTime: '2026-11-21T11:59:00Z' },
      kubelet: { running: false, mayReturn: true },
    })
    built.overrideApi = renewed('2026-11-21T11:59:40Z')
    expect(plan(built).refused).toMatchObject({
      rule: 'S1',
      code: 'WrongMachine',
      message: expect.stringMatching(/may be another machine: its /),
    })
    // Control: this host's own kubelet, before the reboot.
    built.withApi(renewed('2026-11-21T11:58:59Z'))
    expect(plan(built).refused).toBeUndefined()
  })

  const named = (nodeName: string, nodeNameFrom: string) => ({ nodeName, nodeNameFrom })
  it.each([
    { name: 'by a flag', kubelet: named('node-2', 'flag'), refused: true },
    { name: 'by its command line', kubelet: { args: ['--hostname-override=node-2'] }, refused: true },
    { name: 'by the hostname', kubelet: named('node-2', 'hostname'), refused: true },
    { name: 'by the same flag', kubelet: named('node-1', 'flag'), refused: false },
  ])('the name that the kubelet gives itself $name: refused $refused', ({ kubelet, refused }) => {
    const built = orphan().with({ kubelet: { running: false, mayReturn: false, ...kubelet } as never })
    const made = plan(built, { acceptIdentity: ['node-1', 'node-2'] })
    if (refused) expect(made.refused).toMatchObject({ rule: 'S1', code: 'OtherNode' })
    else expect(made.refused).toBeUndefined()
  })
  it('no such node refuses', () => {
    expect(plan(orphan().withApi({ node: null })).refused).toMatchObject({
      rule: 'S1',
      code: 'WrongMachine',
      message: expect.stringMatching(/^the API server \S+ has no node "node-1"$/),
    })
  })
})

it.each(['api', 'mountinfo', 'tree', 'runtime', 'processes', 'blockDevices'] as const)(
  'S3 only absence is evidence: without the section %s nothing is unmounted',
  (section) => {
    const made = plan(orphan().with({ [section]: undefined } as never))
    expect(kinds(made)).toEqual([])
    expect(made.complete).toBe(false)
    expect(made.problems).toContainEqual(
      expect.objectContaining({
        code: 'ReadFailed',
        message: expect.stringContaining(`section ${section} is missing`),
      }),
    )
  },
)

it('S5: an existing pod keeps what it does not want any more', () => {
  const built = node().livingPod(uid(2), 'app').published(uid(2), 'pv-1', '7:1').staged('pv-1', '7:1')
  const made = plan(built)
  expect(made.operations).toEqual([])
  expect(codes(made)).toContain('NotDesired')
})

it('S5, S14: the PersistentVolume of a mounted volume was created again: the pod keeps what it has, and the difference is said', () => {
  const built = node().persistentVolume('pv-1', { handle: 'new' }).livingPod(uid(2), 'app', WANTS_PV_1)
  built.published(uid(2), 'pv-1', '7:1', { handle: 'old' }).staged('old', '7:1')
  // Grown as well, so that the driver might be asked to expand the new one at the old one's target.
  built.volumes[0] = {
    metadata: { name: 'pv-1', uid: 'pv-uid-new' },
    spec: { ...built.volumes[0]?.spec, capacity: { storage: '2Gi' } },
  }
  const made = plan(built, { expand: true })
  expect(made.operations).toEqual([])
  expect(made.problems.filter(({ about }) => about.pod === uid(2))).toMatchObject([
    { severity: 'warning', code: 'OtherVolume', message: expect.stringContaining(`${DRIVER}^old mounted as pv-1`) },
    {
      severity: 'error',
      code: 'MountedButNotAttached',
      message: expect.stringContaining(`${DRIVER}^old is mounted`),
    },
  ])
})

describe('S9 witnesses', () => {
  it.each([
    ['a running container', 'SANDBOX_NOTREADY', 'CONTAINER_RUNNING'],
    ['a created container', 'SANDBOX_NOTREADY', 'CONTAINER_CREATED'],
    ['an unknown container', 'SANDBOX_NOTREADY', 'CONTAINER_UNKNOWN'],
    ['a ready sandbox', 'SANDBOX_READY', 'CONTAINER_EXITED'],
  ])('%s is alive', (_name, state, container) => {
    const built = orphan()
    built.sandboxes.push({ uid: GONE, state, containers: [{ name: 'c', state: container }] })
    const made = plan(built)
    expect(made.operations).toEqual([])
    expect(codes(made)).toContain('PodGoneButRunning')
  })

  it('a ready sandbox keeps what a finished pod has, its containers over (T143, R825)', () => {
    const built = node().pod(GONE, 'job', [], { phase: 'Succeeded' }).published(GONE, 'pv-1', '7:1')
    expect(kinds(plan(built, { settleMs: 0 }))).toEqual(['UnmountVolume'])
    built.sandboxes.push({
      uid: GONE,
      state: 'SANDBOX_READY',
      containers: [{ name: 'c', state: 'CONTAINER_EXITED' }],
    })
    const made = plan(built, { settleMs: 0 })
    expect(made.operations).toEqual([])
    expect(made.problems.find(({ code }) => code === 'PodStillRunning')?.message).toContain(
      'has phase Succeeded and still runs: sandbox ready',
    )
  })

  it('a runtime that knows none of the pods that live proves nothing', () => {
    const built = orphan()
    built.sandboxes = []
    const made = plan(built)
    expect(kinds(made)).toEqual([])
    expect(made.problems).toContainEqual(
      expect.objectContaining({ code: 'RuntimeUnknown', message: expect.stringContaining('lists none of the') }),
    )
  })
  it('a runtime that should be there and does not answer freezes what is not older than this boot', () => {
    const built = node()
      .dir(`pods/${GONE}`, BEFORE_BOOT)
      .dir(`pods/${GONE}/volumes`, BEFORE_BOOT)
      .dir(`pods/${GONE}/volumes/kubernetes.io~csi`, BEFORE_BOOT)
      .dir(GONE_CSI, BEFORE_BOOT)
      .file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'pv-1'), BEFORE_BOOT)
      .with({ runtime: { source: 'none', endpoint: 'unix:///run/x.sock', error: 'refused', pods: [] } })
    expect(kinds(plan(built))).toEqual(['UnmountVolume'])
    // A mount is of this boot, whatever the times of its directory.
    const secret = `pods/${GONE}/volumes/kubernetes.io~secret/s`
    built.dir(`pods/${GONE}/volumes/kubernetes.io~secret`, BEFORE_BOOT).dir(secret, BEFORE_BOOT)
    expect(kinds(plan(built))).toEqual(['UnmountVolume'])
    expect(plan(built.mountLine(`${ROOT}/${secret}`, '/', '0:9', 'tmpfs', 'tmpfs')).operations).toEqual([])
  })
  it('where no runtime is installed, the process table is the only witness', () => {
    expect(kinds(plan(orphan().with({ runtime: { source: 'none', pods: [] } })))).toEqual(['UnmountVolume'])
  })
})

describe('S10 static pods', () => {
  const HASH = '0123456789abcdef0123456789abcdef'
  const leftover = (): NodeBuilder => node().mount(`pods/${HASH}/volumes/kubernetes.io~secret/s`)
  it('a manifest without its mirror pod freezes directories that are no UUID', () => {
    const made = plan(orphan(leftover()).with(oneManifest()))
    expect(made.operations.map((each) => each.pod?.uid)).toEqual([GONE])
    expect(codes(made)).toContain('MayBeStatic')
  })

  it('the directory of a mirror pod is protected', () => {
    const built = leftover()
    built.pods.push(mirrorPod('a-node-1', HASH))
    // Under the UID of its object in the API as well.
    expect(plan(built.mount(`pods/${uid(7)}/volumes/kubernetes.io~secret/s`)).operations).toEqual([])
  })
})

describe("S10: a mirror pod's annotation is the word of whoever may create pods", () => {
  const memory = [{ name: 'm', emptyDir: { medium: 'Memory' } }] as const
  const mirror = (annotation: string, built = node()): NodeBuilder =>
    built.pod(uid(7), 'a-node-1', memory, { metadata: { annotations: { 'kubernetes.io/config.mirror': annotation } } })

  it('nothing is mounted for one whose manifest was not read here', () => {
    const built = mirror('0123456789abcdef0123456789abcdef')
    expect(kinds(plan(built))).toEqual([])
    built.with({ staticPods: { path: '/m', readable: false, manifests: [] } })
    expect(kinds(plan(built))).toEqual([])
  })

  it.each(['../../outside', '..', 'a/b', 'a\nb'])('%j becomes no path', (annotation) => {
    const built = mirror(annotation).with(oneManifest())
    const paths = plan(built).operations.flatMap(({ paths, steps }) => [...paths, ...steps.map(({ target }) => target)])
    expect(paths.filter((path) => !path.startsWith(`${ROOT}/pods/${uid(7)}/`))).toEqual([])
  })

  it("another pod's own UID stays that pod's", () => {
    for (const first of [true, false]) {
      const built = node()
      if (first) mirror(uid(2), built)
      built.livingPod(uid(2), 'app', memory)
      if (!first) mirror(uid(2), built)
      expect(plan(built).operations).toMatchObject([{ kind: 'MountVolume', pod: { uid: uid(2), name: 'app' } }])
    }
  })

  it('a name that leads elsewhere blocks what is made of it', () => {
    const built = node().livingPod(uid(2), 'app', [{ name: '../../../outside', emptyDir: { medium: 'Memory' } }])
    expect(blocked(plan(built))).toEqual(['MountVolume InvalidPath'])
  })
})

it.each([
  { name: 'the kubelet would obey', doubt: { unknown: true as const }, want: { severity: 'error', complete: false } },
  { name: 'is nothing to the kubelet', doubt: {}, want: { severity: 'info', complete: true } },
])('S10, S33: what is not believed and $name is said so', ({ doubt, want }) => {
  const built = node().with({
    notBelieved: [{ what: '/m/a', why: 'it is not believed', hint: 'chown root', ...doubt }],
  })
  const { problems, complete } = plan(built)
  const found = problems.find(({ code }) => code === 'NotBelieved')
  expect({ severity: found?.severity, complete }).toEqual(want)
})

describe('S11 a kubelet that runs or may come back', () => {
  const full = (): NodeBuilder =>
    mappedBlock(orphan(), GONE, 'pv-b')
      .file(`${BLOCK}/pv-b/data/vol_data.json`, volumeData('pv-b', 'vol-b'))
      .staged('vol-1', '7:1')
      .persistentVolume('pv-1', { handle: 'vol-1' })
      .livingPod(uid(2), 'app', [{ name: 'e', emptyDir: { medium: 'Memory' } }])
  it.each([
    ['running', { running: true, mayReturn: true }],
    ['may return', { running: false, mayReturn: true }],
  ])('%s: only settled leftovers of gone pods are unmounted', (_name, kubelet) => {
    const made = plan(full().with({ kubelet }))
    expect(kinds(made)).toEqual(['UnmountVolume'])
    expect(waits(made).toSorted()).toEqual(
      ['DetachVolume', 'MountVolume', 'UnmapDevice', 'UnmapVolume', 'UnmountDevice'].map(
        (kind) => `${kind} KubeletRunning`,
      ),
    )
  })
  it.each([
    ['changed a minute ago', Date.parse(NOW) / 1000 - 60],
    ['a time in the future (S28)', Date.parse(NOW) / 1000 + 3600],
    ['a time of zero (S28)', 0],
  ])('running: what %s waits', (_name, mtime) => {
    const made = plan(orphan().dir(`pods/${GONE}/volumes`, mtime).with(RUNNING))
    expect(outcome(made)).toEqual(['UnmountVolume waits: Settling'])
  })
  it('one that stopped less than the settle time ago is waited for', () => {
    const built = orphan().with({ kubelet: { running: false, mayReturn: false, stoppedAt: '2026-11-21T11:59:00Z' } })
    expect(waits(plan(built))).toEqual(['UnmountVolume Settling'])
    expect(kinds(plan(built, { settleMs: 30_000 }))).toEqual(['UnmountVolume'])
  })
})

describe('S13 data of a pod that is gone', () => {
  const dir = `pods/${GONE}/volumes/kubernetes.io~empty-dir/e`
  it('is deleted only with --orphans, counted', () => {
    const built = node().file(`${dir}/a`, 'abc').file(`${dir}/b/c`, 'defg')
    expect(withOrphans(built)).toEqual([...DATA, { files: 2, bytes: 7 }])
  })
  it('files that the kubelet did not make in a configMap stay', () => {
    const built = node().configMap(GONE, 'c', { key: 'v' })
    expect(plan(built).operations[0]).toMatchObject({ kind: 'UnmountVolume', deletes: { files: 3, bytes: 1 } })
    built.file(`pods/${GONE}/volumes/kubernetes.io~configmap/c/mine`, 'data')
    expect(blocked(plan(built, { orphans: true }))).toEqual(['UnmountVolume UnexpectedFile'])
  })
})

describe('S14 state files', () => {
  const made = (mtime: number, driver = 'gone.test'): NodeBuilder =>
    node().file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1').replaceAll(DRIVER, driver), mtime)
  it('of a driver that is not there and younger than this boot: kept, and so is the directory', () => {
    const result = plan(made(HOUR_AGO), { orphans: true })
    expect(blocked(result)).toEqual(['UnmountVolume DriverUnavailable'])
    expect(result.operations.map((each) => each.kind)).toEqual(['UnmountVolume'])
    expect(codes(result)).toContain('OrphanDirKept')
  })
  it('older than this boot, with nothing left of the driver: removed without it', () => {
    const [operation] = plan(made(BEFORE_BOOT)).operations
    expect(operation).toMatchObject({ reason: 'DriverAbsentSinceBoot', steps: [{ op: 'unlink' }, { op: 'rmdir' }] })
    expect(operation?.blocked).toBeUndefined()
  })
  it.each([false, true])('of a staged volume, mounted %s: what is mounted is left to the driver', (isMounted) => {
    const staged = csiGlobalDir('gone.test', 'vol-1')
    const record = JSON.stringify({ driverName: 'gone.test', volumeHandle: 'vol-1' })
    const built = node().file(`${staged}/vol_data.json`, record, BEFORE_BOOT).dir(`${staged}/globalmount`)
    if (isMounted) built.mount(`${staged}/globalmount`, { dev: '7:1', fsType: 'ext4', source: '/dev/loop1' })
    expect(blocked(plan(built))).toEqual(isMounted ? ['UnmountDevice DriverUnavailable'] : [])
  })
  it.each([
    ['CSINode still lists it', (built: NodeBuilder) => built.withApi({ csiNode: csiNodeObject('n', ['gone.test']) })],
    ['CSINode was not read', (built: NodeBuilder) => built.withApi({ csiNode: null })],
    [
      'its socket is still there',
      (built: NodeBuilder) =>
        built.with({ csiSockets: [{ path: 'x', driver: 'gone.test', registered: false, error: 'refused' }] }),
    ],
    ['the credential cannot tell', (built: NodeBuilder) => built.withApi({ credential: 'kubelet' })],
  ])('older than this boot, but %s: kept', (_name, change) => {
    const built = made(BEFORE_BOOT)
    change(built)
    expect(blocked(plan(built))).toEqual(['UnmountVolume DriverUnavailable'])
  })
})

it('S16 driver first: --driver-gone unmounts by the kernel, and says what will not happen', () => {
  const built = node().published(GONE, 'pv-1', '7:1').staged('pv-1', '7:1').with({ csiSockets: [] })
  const made = plan(built, { driverGone: [DRIVER] })
  expect(ops(made)).toEqual(Array(2).fill('umount, rmdir, unlink, rmdir'))
  expect(codes(made).filter((code) => code === 'DriverGone')).toHaveLength(2)
})

describe('S17 recovered identity', () => {
  describe('an inline volume, which no PersistentVolume and no attachment names (C32)', () => {
    const inline = (...serving: string[]): NodeBuilder => {
      const built = node().published(GONE, 'scratch', '7:1', { stateFile: false })
      built.drivers.push('other.example')
      return built.withApi({
        csiDrivers: serving.map((name) =>
          csiDriverObject(name, { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] }),
        ),
      })
    }
    const handle = inlineCsiHandle(GONE, 'scratch')
    it('has a handle that follows from pod and name: the hint says it, and given so it is enough', () => {
      const [operation] = plan(inline(DRIVER)).operations
      expect(`${operation?.blocked?.hint}`).toContain(`volctl plan --handle scratch=${handle}`)
      const [given] = plan(inline(DRIVER), { handles: { scratch: handle } }).operations
      expect(given).toMatchObject({ volume: { driver: DRIVER, handle, handleFrom: '--handle' } })
      expect(given?.blocked).toBeUndefined()
    })
    it.each([
      ['no driver here serves inline volumes', ['elsewhere.example'], handle, 'no driver'],
      ['several do', [DRIVER, 'other.example'], handle, 'more than one driver'],
      ["the handle is another pod's", [DRIVER], inlineCsiHandle(uid(8), 'scratch'), 'name none'],
    ])('stays where its driver is not clear: %s', (_name, serving, given, says) => {
      const [operation] = plan(inline(...serving), { handles: { scratch: given } }).operations
      expect(operation?.blocked).toMatchObject({ code: 'IdentityUnconfirmed', message: expect.stringContaining(says) })
    })
  })
})

it('S19, S20: --force-unmount and --lazy name one path, and --lazy is for dead mounts only', () => {
  const path = `pods/${GONE}/volumes/kubernetes.io~nfs/n`
  const target = `${ROOT}/${path}`
  const built = node().mount(path, { fsType: 'nfs4' })
  const first = (options: Partial<PlanOptions>) => plan(built, options).operations[0]?.steps[0]
  expect(first({ forceUnmount: [target] })).toEqual({ op: 'umount', target, detail: 'force' })
  expect(blocked(plan(built, { lazy: [target] }))).toEqual(['UnmountVolume FlagWithoutEffect'])
  built.dead(path, 'Timeout')
  expect(first({ lazy: [target] })).toEqual({ op: 'umount', target, detail: 'lazy' })
})

describe('S20: of a volume that was detached lazily', () => {
  const uniqueName = csiUniqueName(DRIVER, 'vol-1')
  const volumeDir = `${ROOT}/${GONE_CSI}/mount`
  const built = (): NodeBuilder => left().persistentVolume('pv-1', { handle: 'vol-1' })

  it.each([
    { name: 'nothing is undone while it may live, by its name', detached: { path: '/elsewhere', volume: uniqueName } },
    { name: 'nothing is undone on its path, where no name is known', detached: { path: volumeDir } },
  ])('$name', ({ detached }) => {
    const state = built()
    expect(kinds(plan(state))).toContain('UnmountVolume')
    state.with({ lazilyDetached: [{ dev: '7:1', ...detached }] })
    const made = plan(state, { orphans: true })
    expect(kinds(made)).toEqual([])
    expect(blocked(made)).toContain('DetachVolume DetachedLazily')
  })

  it('another volume is none of its business', () => {
    const state = built()
    const before = kinds(plan(state))
    state.with({
      lazilyDetached: [
        { dev: '0:9', path: `${ROOT}/pods/${GONE}/volumes/kubernetes.io~nfs/pv-1`, volume: 'kubernetes.io/nfs/x' },
      ],
    })
    expect(kinds(plan(state))).toEqual(before)
  })
})

describe('S20: where nobody can say what was detached lazily', () => {
  const lazyMemory = { path: '/var/lib/volctl/lazy.jsonl', why: 'it is a FIFO' }
  const made = (state: NodeBuilder) => {
    state.with({ lazyMemory })
    return plan(state, { orphans: true })
  }

  it('what is mounted is unmounted, and no device is unstaged or detached', () => {
    const state = left().persistentVolume('pv-1', { handle: 'vol-1' })
    expect(kinds(plan(state))).toEqual(['UnmountVolume', 'UnmountDevice', 'DetachVolume'])
    const blind = made(state)
    expect(kinds(blind)).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
    expect(blind.operations.filter(({ blocked }) => blocked !== undefined)).toMatchObject([
      { kind: 'UnmountDevice', blocked: { code: 'LazyMemoryUnusable', message: expect.stringContaining('a FIFO') } },
      { kind: 'DetachVolume', blocked: { code: 'LazyMemoryUnusable' } },
    ])
    expect(blind.complete).toBe(false)
    expect(blind.problems).toContainEqual(
      expect.objectContaining({ severity: 'error', code: 'LazyMemoryUnusable', about: { path: lazyMemory.path } }),
    )
  })

  it('no driver is asked to let go of what is not mounted, and no record of it is removed', () => {
    const state = node().published(GONE, 'pv-1', '7:1', { handle: 'vol-1' })
    state.mounts.pop()
    expect(kinds(plan(state))).toEqual(['UnmountVolume'])
    expect(kinds(made(state))).toEqual([])
  })
})

describe('S21 detach', () => {
  const attached = (): NodeBuilder => node().persistentVolume('pv-1', { handle: 'vol-1' })
  it('what no pod wants and nothing uses is detached', () => {
    const made = plan(attached())
    expect(kinds(made)).toEqual(['DetachVolume'])
    expect(made.operations[0]?.attachment).toMatchObject({ uid: 'va-uid-pv-1-node-1', resourceVersion: '7' })
    expect(made.operations[0]?.message).toContain('volumesInUse')
  })
  it('not while a pod wants it by the controller’s rule, used by a container or not', () => {
    expect(plan(attached().pod(uid(2), 'app', [], { spec: { volumes: WANTS_PV_1 } })).operations).toEqual([])
  })
  it('a second PersistentVolume behind the same attachment blocks', () => {
    const built = attached().persistentVolume('pv-2', { handle: 'vol-1', attached: false })
    expect(blocked(plan(built))).toEqual(['DetachVolume AttachmentUnclear'])
  })
  it('a kubelet credential may not delete it', () => {
    expect(blocked(plan(attached().withApi({ credential: 'kubelet' })))).toEqual(['DetachVolume Forbidden'])
  })
})

it('S22 mount: ReadWriteOncePod: a second pod waits (O3)', () => {
  const built = node()
    .persistentVolume('pv-1', { accessModes: ['ReadWriteOncePod'] })
    .livingPod(uid(2), 'app', WANTS_PV_1)
    .published(GONE, 'pv-1', '7:1')
    .running(GONE)
  expect(waits(plan(built))).toContain('MountVolume AccessMode')
})

describe('S29 outage guard', () => {
  it('no pod in the API while pods live here', () => {
    const built = orphan().withApi({ pods: [] })
    const made = plan(built)
    expect(made.refused).toMatchObject({ rule: 'S29', code: 'OutageSuspected' })
    expect(blocked(made)).toEqual(['UnmountVolume OutageSuspected'])
    expect(plan(built, { acceptOutage: made.inputs.pods.gone }).refused).toBeUndefined()
    expect(plan(built, { acceptOutage: 99 }).refused).toBeDefined()
  })
  it('a directory younger than anything that the API knows', () => {
    const young = Date.parse(NOW) / 1000 + 700
    const built = node().dir(`pods/${GONE}`, young).dir(`pods/${GONE}/volumes`, young)
    expect(plan(built, { orphans: true }).refused).toMatchObject({ rule: 'S29' })
  })
})

const stops = (made: Plan): string[] =>
  [...made.problems, ...made.waiting].flatMap(({ hint = '' }) => (/crictl|Stop the/.test(`${hint}`) ? `${hint}` : []))

it.each<{ name: string; override?: object; api?: object; code: string }>([
  { name: 'another machine', override: { machineID: 'x', systemUUID: 'y' }, code: 'WrongMachine' },
  { name: 'no pod in the API', api: { pods: [] }, code: 'OutageSuspected' },
])(
  'S1, S29: on the word of an API that the plan refuses, nobody is told to stop a pod: $name',
  ({ override, api, code }) => {
    const built = node().persistentVolume('pv-1').staged('pv-1', '7:1').published(GONE, 'pv-1', '7:1').running(GONE)
    expect(stops(plan(built))).toHaveLength(2)
    if (override !== undefined) built.override = override as never
    if (api !== undefined) built.overrideApi = api as never
    const made = plan(built)
    expect(made.refused).toMatchObject({ code })
    expect(codes(made)).toContain('PodGoneButRunning')
    expect(stops(made)).toEqual([])
  },
)

it("S2: where the kubelet's credential is there and is not used, the plan says so and goes on", () => {
  const built = orphan()
  const problem =
    '/var/lib/kubelet/kubeconfig is not used: it would start a program (aws), and was not given explicitly'
  built.withApi({ podListCheck: { source: '/var/lib/kubelet/kubeconfig', problem } })
  const made = plan(built)
  expect(made.inputs.unjudged).toContainEqual({
    rule: 'S2',
    message: `the pod list was not checked against a second one: ${problem}`,
  })
  expect(made.complete).toBe(true)
  expect(made.problems.filter(({ severity }) => severity !== 'info')).toEqual([])
  expect(planExitStatus(made, false)).toBe(0)
  expect(blocked(made)).toEqual([])
})

const OPTIONS = planOptions()

it.each([
  { name: 'TlsNotVerified', api: { insecure: 'TlsNotVerified' }, says: /certificate is not verified/ },
  {
    name: "TlsNotVerified of the kubelet's credential",
    api: { podListCheck: { source: 'kubelet.conf', insecure: 'TlsNotVerified' } },
    says: /\(with the kubelet's own credential\): its certificate is not verified/,
  },
])(
  'S34 a server that is not shown to be the right one: $name: the plan says so and goes on, an apply is refused without its flag',
  ({ api, says }) => {
    const built = orphan().withApi(api as never)
    const made = plan(built)
    expect(made.refused).toBeUndefined()
    expect(kinds(made)).toEqual(['UnmountVolume'])
    expect(blocked(made)).toEqual([])
    expect(made.problems).toContainEqual({
      severity: 'warning',
      code: 'InsecureApi',
      message: expect.stringMatching(says),
      args: expect.anything(),
      hint: expect.stringContaining('--accept-insecure-api'),
      about: {},
      subject: { node: true },
      cause: 'unread:InsecureApi:',
    })
    const refusal = refuseInsecureApi(made.inputs.api, OPTIONS)
    expect(refusal).toMatchObject({ rule: 'S34', code: 'InsecureApi', message: expect.stringMatching(says) })
    expect(refuseInsecureApi(made.inputs.api, { ...OPTIONS, acceptInsecureApi: true })).toBeUndefined()
    expect(codes(plan(built, { acceptInsecureApi: true }))).not.toContain('InsecureApi')
    // No other flag lifts it.
    const others = { ...OPTIONS, orphans: true, acceptOutage: 1 }
    expect(refuseInsecureApi(made.inputs.api, others)).toBeDefined()
  },
)

it('S30: a volume attached elsewhere against its access mode is not unstaged; the unmount goes on', () => {
  const built = node().persistentVolume('pv-1').attach('pv-1', 'pv-1', 'node-2').published(GONE, 'pv-1', '7:1')
  built.staged('pv-1', '7:1')
  expect(outcome(plan(built))).toEqual(['UnmountVolume', 'UnmountDevice TwoWriters', 'DetachVolume TwoWriters'])
})

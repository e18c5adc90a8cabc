/** What volctl does where a real kubelet was seen to be careless (O…), row by row. */
import { describe, expect, it } from 'vitest'
import type { Operation } from '../../src/core/plan/plan.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import {
  claimOf,
  DRIVER,
  HOUR_AGO,
  NOW,
  type NodeBuilder,
  node,
  ROOT,
  uid,
  volumeData,
} from '../helpers/node-builder.ts'
import { blocked, codes, GONE, GONE_CSI, kinds, ops, plan, RUNNING, waits } from './planned.ts'

const reasonOf = ({ kind, reason }: Operation) => [kind, reason]

/** A living pod with one CSI volume as it should be. */
const healthy = (): NodeBuilder => node().served(uid(2), 'app')

it('O7: what is attached and not listed, the controller has to report: nobody stops a pod or a kubelet for that', () => {
  const built = healthy()
  built.attached.splice(0)
  const found = plan(built).problems.find(({ code }) => code === 'MountedButNotAttached')
  expect(found?.hint).toMatch(/^Its VolumeAttachment is attached: let kube-controller-manager run/)
})

describe('O8: staged or mapped, with no pod directory', () => {
  it('a block map is unmapped, then its device', () => {
    const made = plan(block(node(), GONE, { symlink: false }))
    expect(made.operations.map(reasonOf)).toEqual([
      ['UnmapVolume', 'MappedWithoutPod'],
      ['UnmapDevice', 'LastPodGone'],
    ])
  })
  it('an empty globalmount without a state file is nothing (R025, T135)', () => {
    expect(plan(node().dir('plugins/kubernetes.io/csi/other.test/abc/globalmount')).operations).toEqual([])
  })
  it('an empty directory that an unfinished unstage has left is removed (R837)', () => {
    const built = node().dir(csiGlobalDir('other.test', 'vol-1'))
    expect(ops(plan(built))).toEqual(['rmdir'])
    // With anything in it, it is somebody's.
    expect(plan(built.file(`${csiGlobalDir('other.test', 'vol-1')}/notes`, 'x')).operations).toEqual([])
  })
})

describe('O11 and the upstream table of orphan clean-up (R612, T80)', () => {
  it.each([
    ['an empty pod directory', (b: NodeBuilder) => b.dir(`pods/${GONE}`), true],
    ['a volume with an empty subdirectory', (b: NodeBuilder) => b.dir(`pods/${GONE}/volumes/plugin/name/subdir`), true],
    ['an empty sub-path', (b: NodeBuilder) => b.dir(`pods/${GONE}/volume-subpaths/volume/container/0`), true],
    [
      "the kubelet's own files",
      (b: NodeBuilder) =>
        b
          .file(`pods/${GONE}/etc-hosts`, 'x')
          .file(`pods/${GONE}/containers/c/0badcafe`, 'x')
          .file(`pods/${GONE}/userns`, '{}')
          .file(`pods/${GONE}/plugins/kubernetes.io~empty-dir/wrapped_x/ready`, ''),
      true,
    ],
    ['a name that is no UID', (b: NodeBuilder) => b.dir('pods/not-a-uid/volumes/kubernetes.io~csi'), true],
    ['a file in a volume', (b: NodeBuilder) => b.file(`pods/${GONE}/volumes/plugin/name/file`, 'x'), false],
    ['a file directly in volumes', (b: NodeBuilder) => b.file(`pods/${GONE}/volumes/file`, 'x'), false],
    [
      'a file in a sub-path directory',
      (b: NodeBuilder) => b.file(`pods/${GONE}/volume-subpaths/volume/container/0/DATA`, 'x'),
      false,
    ],
    [
      'a sub-path file with content',
      (b: NodeBuilder) => b.file(`pods/${GONE}/volume-subpaths/volume/container/0`, 'x'),
      false,
    ],
    ['a link where none belongs', (b: NodeBuilder) => b.link(`pods/${GONE}/stray`, '/etc'), false],
    [
      'a device link of a plugin that nobody knows',
      (b: NodeBuilder) => b.link(`pods/${GONE}/volumeDevices/vendor~x/pv`, '/dev/sdb'),
      false,
    ],
    [
      'a directory that could not be read',
      (b: NodeBuilder) => b.entry({ path: `pods/${GONE}/volumes`, type: 'dir', error: 'EIO' }),
      false,
    ],
    ['a foreign mount', (b: NodeBuilder) => b.mount(`pods/${GONE}/stray`), false],
  ])('%s', (_name, change, removed) => {
    const built = node()
    change(built)
    const made = plan(built, { orphans: true })
    expect(made.operations.some((each) => each.kind === 'RemoveOrphanPodDir')).toBe(removed)
    if (!removed) expect(codes(made)).toContain('OrphanDirKept')
  })
  it('removes bottom up, by plain rmdir and unlink', () => {
    const [operation] = plan(
      node().file(`pods/${GONE}/containers/c/0badcafe`, '').file(`pods/${GONE}/etc-hosts`, 'x'),
      { orphans: true },
    ).operations
    expect(operation?.steps.map((step) => [step.op, step.target.slice(`${ROOT}/pods/${GONE}`.length)])).toEqual([
      ['unlink', '/etc-hosts'],
      ['unlink', '/containers/c/0badcafe'],
      ['rmdir', '/containers/c'],
      ['rmdir', '/containers'],
      ['rmdir', ''],
    ])
  })
  it('mkfs makes lost+found, which is no pod’s', () =>
    expect(plan(node().dir('pods/lost+found'), { orphans: true }).operations).toEqual([]))

  it('without --orphans it is only mentioned', () => {
    const made = plan(node().dir(`pods/${GONE}`))
    expect(made.operations).toEqual([])
    expect(codes(made)).toEqual(['OrphanPodDir'])
  })
})

it('O12: data in an unmounted directory is kept and reported with size and path', () => {
  const made = plan(node().file(`pods/${GONE}/volumes/kubernetes.io~nfs/n/d/db`, 'precious'), { orphans: true })
  expect(made.operations).toEqual([])
  expect(codes(made)).toEqual(['DataUnderMountPoint', 'OrphanDirKept'])
  expect(made.problems[0]?.message).toContain('d/db (8 bytes)')
})

it('O12: so is data beside sub-paths that go', () => {
  const built = node().mount(`pods/${GONE}/volume-subpaths/n/c/0`, { dev: '0:70', fsType: 'nfs4' })
  const made = plan(built.file(`pods/${GONE}/volumes/kubernetes.io~nfs/n/db`, 'precious'))
  expect(ops(made)[0]).toBe('umount, rmdir, rmdir, rmdir')
  expect(codes(made)).toContain('DataUnderMountPoint')
})

it('O12: a CSI driver is not even asked while data lies under its target', () => {
  const built = node()
    .file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1'))
    .file(`${GONE_CSI}/mount/db`, 'precious')
  expect(blocked(plan(built, { orphans: true }))).toEqual(['UnmountVolume DataUnderMountPoint'])
})

describe('C17: published without a mount', () => {
  const published = (type: 'link' | 'block' | 'file', size = 0): NodeBuilder =>
    node()
      .file(`${GONE_CSI}/vol_data.json`, volumeData('pv-1', 'vol-1'))
      .entry({ path: `${GONE_CSI}/mount`, type, size, mtime: HOUR_AGO })
  it.each(['link', 'block', 'file'] as const)('a %s on the target is what the driver takes away', (type) => {
    const made = plan(published(type), { orphans: true })
    expect(ops(made)[0]).toBe('NodeUnpublishVolume, unlink, rmdir')
    expect(kinds(made)).toEqual(['UnmountVolume', 'RemoveOrphanPodDir'])
    expect(made.problems).toEqual([])
  })
  it('without the driver it stays, and so does the directory', () => {
    const made = plan(published('link').with({ csiSockets: [] }), { orphans: true, driverGone: [DRIVER] })
    expect([kinds(made), ops(made)]).toEqual([['UnmountVolume'], ['unlink']])
    expect(codes(made)).toEqual(['UnexpectedFile', 'DriverGone', 'OrphanDirKept'])
  })
  it('a file with something in it is data: the driver is not even asked (O12)', () => {
    expect(blocked(plan(published('file', 8), { orphans: true }))).toEqual(['UnmountVolume DataUnderMountPoint'])
  })
})

describe('O16 to O18: sub-paths', () => {
  it('whose volume has no directory are unmounted from the mount table, one operation a pod and volume', () => {
    const built = node()
      .mount(`pods/${GONE}/volume-subpaths/hp/c/0`, { dev: '254:0', root: '/srv/x', fsType: 'ext4' })
      .mount(`pods/${GONE}/volume-subpaths/hp/d/1`, { dev: '254:0', root: '/srv/x', fsType: 'ext4', type: 'file' })
      .mount(`pods/${GONE}/volume-subpaths/pv-1/c/1`, { dev: '7:1', root: '/y', fsType: 'ext4' })
    const made = plan(built)
    expect(made.operations.map((each) => [each.reason, each.volume?.name])).toEqual([
      ['LeakedSubPath', 'hp'],
      ['LeakedSubPath', 'pv-1'],
    ])
    expect(ops(made)[0]).toBe('umount, umount, rmdir, unlink, rmdir, rmdir, rmdir')
  })
  it('a file with data among them stays, and so do the directories above it', () => {
    const built = node().leaf(GONE, 'hp', '254:0')
    expect(ops(plan(built.file(`pods/${GONE}/volume-subpaths/hp/c/1`, 'x')))).toEqual(['umount, rmdir'])
  })
  it('nor is anything needed of a CSI volume that left only empty directories', () => {
    const staged = node().staged('vol-1', '7:1')
    staged.dir(`${GONE_CSI}/mount`).leaf(GONE, 'pv-1', '7:1')
    const made = plan(staged, { orphans: true })
    const [first, ...others] = made.operations
    expect(first).toMatchObject({ kind: 'UnmountVolume', reason: 'LeakedSubPath', volume: { name: 'pv-1' } })
    expect(first?.message).toContain('is not mounted and has no state file')
    expect(ops(made)[0]).toBe('umount, rmdir, rmdir, rmdir')
    expect(blocked(made)).toEqual([])
    expect(others.at(-1)).toMatchObject({ kind: 'RemoveOrphanPodDir' })
    expect(others.at(-1)?.paths).toContain(`${ROOT}/${GONE_CSI}`)
  })
  it.each([false, true])(
    'of a volume that nothing names any more hold what is staged without a mount (S17); in the way: %s',
    (isCovered) => {
      const built = node().staged('vol-1', '7:2')
      built.mounts.pop()
      built.dir(`${GONE_CSI}/mount`)
      built.leaf(GONE, 'pv-1', '7:2')
      if (isCovered) built.mount(`pods/${GONE}/volume-subpaths/pv-1/c/0/deep`, { dev: '7:9', fsType: 'ext4' })
      const made = plan(built)
      expect(made.operations.find(({ reason }) => reason === 'LeakedSubPath')?.blocked?.code).toBe(
        isCovered ? 'ForeignMount' : undefined,
      )
      expect(made.operations.find(({ kind }) => kind === 'UnmountDevice')?.blocked).toBeDefined()
    },
  )
  it('of a volume whose directory cannot be read stay: it may be mounted (S3)', () => {
    const built = node()
      .persistentVolume('pv-1', { handle: 'vol-1', attached: false })
      .entry({ path: GONE_CSI, type: 'dir', error: 'EILSEQ' })
      .leaf(GONE, 'pv-1', '7:2')
    const [operation] = plan(built).operations
    expect(operation).toMatchObject({ kind: 'CleanOrphanVolume', blocked: { code: 'IdentityUnconfirmed' } })
  })
})

describe('O43: an attachment that the controller does not report', () => {
  const attached = (creationTimestamp: string, running = true): NodeBuilder => {
    const built = node().persistentVolume('pv-9', { handle: 'vol-9', attached: false })
    built.pod(uid(9), 'waits', [claimOf('pv-9')]).attach('pv-9', 'vol-9', 'node-1', { metadata: { creationTimestamp } })
    built.attached.length = 0
    return built.with({ kubelet: { running, mayReturn: running, unit: 'kubelet.service' } })
  }
  it.each([true, false])('is the cause, and no reason to stop a kubelet; it runs: %s', (running) => {
    const [wait] = plan(attached('2026-11-21T11:00:00Z', running)).waiting
    expect(wait).toMatchObject({ kind: 'MountVolume', code: 'AttachedMismatch' })
    expect(`${wait?.hint}`).toContain('kubectl -n kube-system get lease kube-controller-manager')
    expect(`${wait?.message} ${wait?.hint}`).not.toMatch(/stop/i)
  })

  it('control: made a moment ago it may still be reported, and the kubelet mounts it', () => {
    expect(waits(plan(attached(NOW)))).toEqual(['MountVolume KubeletRunning'])
    // S3: a Node that was not read lists nothing.
    expect(waits(plan(attached(NOW).withApi({ node: undefined })))).toEqual(['MountVolume NotAttached'])
  })
})

describe('O1: a global mount that is gone under a pod that runs', () => {
  const built = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [claimOf()])
    .published(uid(2), 'pv-1', '7:1')
    .served(uid(3), 'other', 'pv-2', '7:2')
    .with(RUNNING)
  it('is a problem of that pod, with what the kubelet will do', () => {
    const { problems, operations } = plan(built)
    expect(operations).toEqual([])
    const hint = expect.stringMatching(/^The pod runs on\. A kubelet that starts/)
    expect(problems).toMatchObject([{ code: 'GlobalMountGone', about: { pod: uid(2), volume: 'pv-1' }, hint }])
  })
  it('control: a driver that never mounts where it stages', () => {
    const made = node().persistentVolume('pv-1').livingPod(uid(2), 'app', [claimOf()])
    made.published(uid(2), 'pv-1', '7:1')
    expect(plan(made).problems).toEqual([])
  })
})

describe('O41: a dead mount over an emptyDir', () => {
  const path = `pods/${GONE}/volumes/kubernetes.io~empty-dir/e`

  const dead = (): NodeBuilder => node().mount(path, { fsType: 'fuse.x' }).dead(path)
  it.each([{ orphans: false }, { orphans: true }])('is blocked, and says what takes it off: %o', (options) => {
    const [operation] = plan(dead(), options).operations
    expect(operation?.blocked).toMatchObject({ code: 'DeadMount', hint: expect.stringContaining(`--lazy ${ROOT}`) })
  })

  it('S37: a file system on a disk has no server that could be started again', () => {
    const built = node().mount(path, { fsType: 'ext4', source: '/dev/sdb' }).dead(path, 'EIO')
    expect(`${plan(built).operations[0]?.blocked?.hint}`).toMatch(/^See what became of its disk \(dmesg\)/)
    expect(`${plan(dead()).operations[0]?.blocked?.hint}`).toMatch(/^Restart the driver or server/)
  })
})

describe('O40: a mount of somebody below what a kubelet empties', () => {
  const at = `pods/${GONE}/volumes`
  const LOSS = '; a kubelet that starts deletes everything in it'
  it.each([
    ['an emptyDir', () => node().dir(`${at}/kubernetes.io~empty-dir/e/x`), 'kubernetes.io~empty-dir/e/x'],
    ['the emptyDir itself', () => node(), 'kubernetes.io~empty-dir/e'],
    ['a config map', () => node().dir(`${at}/kubernetes.io~configmap/c`), 'kubernetes.io~configmap/c/x'],
  ])('%s: that it is lost is said', (_what, built, below) => {
    const [operation] = plan(built().mount(`${at}/${below}`, { fsType: 'ext4' })).operations
    expect(operation?.blocked).toMatchObject({ code: 'ForeignMount', message: expect.stringContaining(LOSS) })
    expect(`${operation?.blocked?.hint}`).toMatch(/^Do not start the kubelet yet\. Find out who mounted/)
  })
})

describe('O47: a file of somebody in a directory that a kubelet empties or removes', () => {
  const at = `pods/${GONE}`
  const secret = `${at}/volumes/kubernetes.io~secret/s`
  const lost = (built: NodeBuilder): string[] => {
    const { operations, problems } = plan(built, { orphans: true })
    return [...operations.flatMap(({ blocked = [] }) => blocked), ...problems].flatMap(({ code, message, hint }) => {
      const isSaid = message.endsWith('; a kubelet that starts deletes it')
      expect(`${hint}`.startsWith('Do not start the kubelet yet. Have its owner move')).toBe(isSaid)
      return isSaid ? code : []
    })
  }
  it.each([
    { what: 'in a directory of its own', built: () => node().file(`${at}/d/f`, 'x'), codes: ['OrphanDirKept'] },
    {
      what: 'in a secret, and directly',
      built: () =>
        node().file(`${secret}/..2026_11_21_02_15_54.36/k`, 'x').file(`${secret}/f`, 'x').file(`${at}/f`, 'x'),
      codes: ['UnexpectedFile', 'OrphanDirKept'],
    },
    {
      what: 'in a secret of which nothing is left',
      built: () => node().file(`${secret}/d/f`, 'x'),
      codes: ['UnexpectedFile', 'OrphanDirKept'],
    },
    {
      what: 'directly, beside one for which a kubelet keeps the directory',
      built: () => node().file(`${at}/f`, 'x').file(`${at}/volumes/kubernetes.io~nfs/n/db`, 'x'),
      codes: [],
    },
  ])('$what: that it is lost is said: $codes', ({ built, codes }) => {
    expect(lost(built())).toEqual(codes)
    expect(lost(built().with(RUNNING))).toEqual([])
  })
})

it('O21: a dead mount at a wanted target is reported, and left alone', () => {
  const made = plan(healthy().dead(`pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1/mount`))
  expect(made.operations).toEqual([])
  expect(made.problems).toMatchObject([{ code: 'DeadMount', about: { pod: uid(2), volume: 'pv-1' } }])
})

it('O22: a raw block volume of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)', () => {
  const made = plan(block(node(), GONE), { orphans: true })
  expect(kinds(made)).toEqual(['UnmapVolume', 'UnmapDevice', 'RemoveOrphanPodDir'])
  expect(ops(made).slice(0, 2)).toEqual([
    'losetup -d, unlink, umount, unlink, NodeUnpublishVolume',
    'NodeUnstageVolume, rmdir, rmdir, rmdir, unlink, rmdir, rmdir',
  ])
  expect(made.operations[1]?.after).toEqual([made.operations[0]?.id])
})

it('O32: a local volume of a pod that is gone goes the way of failed reconstruction', () => {
  const built = node().mount(`pods/${GONE}/volumes/kubernetes.io~local-volume/pv-l`, {
    dev: '254:0',
    root: '/srv/l',
    fsType: 'ext4',
  })
  expect(plan(built).operations.map(reasonOf)).toEqual([['CleanOrphanVolume', 'NotReconstructable']])
})

/** The ConfigMap of a living pod, and its key k as it is on disk; no marker says that the volume is ready. */
const configMap = (onDisk: string, inApi: string): NodeBuilder =>
  node()
    .livingPod(uid(2), 'app', [{ name: 'v', configMap: { name: 'c' } }])
    .entry({ path: `${CONFIG_MAP}/..2026_11_21_02_15_54.36/k`, type: 'file', size: 1, digest: onDisk })
    .link(`${CONFIG_MAP}/..data`, '..2026_11_21_02_15_54.36')
    .withApi({
      configMaps: [
        { metadata: { name: 'c', namespace: 'default', uid: 'c' }, data: { k: 'v' }, digests: { k: inApi } },
      ],
    })
const CONFIG_MAP = `pods/${uid(2)}/volumes/kubernetes.io~configmap/v`
const ready = (built: NodeBuilder): NodeBuilder =>
  built.file(`pods/${uid(2)}/plugins/kubernetes.io~empty-dir/wrapped_v/ready`)

it('O28: changed content is shown, and written only when asked for (S23)', () => {
  const built = ready(configMap('old', 'new')).link(`${CONFIG_MAP}/k`, '..data/k')
  expect(blocked(plan(built))).toEqual(['RemountVolume NotAsked'])
  const asked = plan(built, { remount: true })
  expect(asked.operations.map(({ kind, blocked }) => [kind, blocked])).toEqual([['RemountVolume', undefined]])
  expect(asked.operations[0]?.expects).toEqual([{ path: `${ROOT}/${CONFIG_MAP}`, layers: [] }])
})

it.each([
  ['the same', 'new', undefined, undefined],
  ['changed', 'old', undefined, 'NotAsked'],
  ['changed, and asked for', 'old', true, undefined],
])('S23: a volume without its marker, whose content is %s', (_name, digest, remount = false, want) => {
  const made = plan(configMap(digest, 'new'), { remount })
  expect(made.operations.map(({ kind, blocked }) => [kind, blocked?.code])).toEqual([['MountVolume', want]])
})

const written = () => ready(configMap('k', 'k'))
const linked = () => written().link(`${CONFIG_MAP}/k`, '..data/k')
it.each<[string, () => NodeBuilder, string | undefined]>([
  ['nothing', linked, undefined],
  ['a link is missing', written, `${ROOT}/${CONFIG_MAP}/k is missing`],
  [
    'a generation',
    () => linked().dir(`${CONFIG_MAP}/..2026_11_21_02_15_53.1`),
    `${ROOT}/${CONFIG_MAP}/..2026_11_21_02_15_53.1 was left`,
  ],
  ['somebody else’s link', () => linked().link(`${CONFIG_MAP}/old`, '/etc'), undefined],
  ['a directory for a nested mount', () => linked().dir(`${CONFIG_MAP}/nested`), undefined],
])('what a write leaves that was interrupted is told (P28, P29): %s', (_name, built, want) => {
  const [operation] = plan(built()).operations
  expect(operation?.message.split(' by an interrupted')[0]?.split(';')[0]).toBe(want)
})

const wanting = (volume: object, configMaps: unknown[] = []) =>
  node()
    .livingPod(uid(2), 'app', [{ name: 'v', ...volume }])
    .withApi({ configMaps: configMaps as never })
const map = { metadata: { name: 'c', namespace: 'default', uid: 'c' }, data: { k: 'v' } }
const certificate = { podCertificate: { keyPath: 'k' } }
it.each<[string, NodeBuilder, string, string]>([
  ['object', wanting({ configMap: { name: 'c' } }), 'ContentMissing', 'ConfigMap default/c does not exist'],
  [
    'path',
    wanting({ configMap: { name: 'c', items: [{ key: 'k', path: '../x' }] } }, [map]),
    'InvalidVolume',
    '"../x" is not allowed',
  ],
  ['source', wanting({ projected: { sources: [{ hologram: {} }] } }), 'ContentUnknown', 'does not know'],
  ['certificate', wanting({ projected: { sources: [certificate] } }), 'LeftToKubelet', 'certificate of the pod'],
])('what cannot be filled is blocked, and says why: %s', (_name, built, code, words) => {
  const [operation] = plan(built).operations
  expect([operation?.kind, operation?.blocked?.code]).toEqual(['MountVolume', code])
  expect(operation?.blocked?.message).toContain(words)
})

/** A mapped raw block volume pv-b of a pod, on /dev/loop3, held open by /dev/loop6. */
function block(built: NodeBuilder, podUid: string, { symlink = true } = {}): NodeBuilder {
  const base = 'plugins/kubernetes.io/csi/volumeDevices'
  const device = { dev: '0:6', root: '/loop3', fsType: 'devtmpfs', source: 'devtmpfs', type: 'block' as const }
  if (symlink)
    built.link(`pods/${podUid}/volumeDevices/kubernetes.io~csi/pv-b`, `${ROOT}/${base}/publish/pv-b/${podUid}`)
  built.file(`${base}/pv-b/data/vol_data.json`, volumeData('pv-b', 'pv-b')).dir(`${base}/staging/pv-b`)
  built.mount(`${base}/publish/pv-b/${podUid}`, device).mount(`${base}/pv-b/dev/${podUid}`, device)
  built.loops.push({ name: '/dev/loop6', backingFile: `${ROOT}/${base}/pv-b/dev/${podUid}` })
  return built
}

/**
 * States from public bug reports (test/fixtures/reports; NAME-up: the kubelet runs), and what has to be said of them. Beside them:
 * changes of the healthy capture, each with one thing in a volume's place that is not the volume (S38), and healthy nodes, of which
 * nothing is said.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClusterSnapshot } from '../src/core/cluster/read/cluster-snapshot.ts'
import { examine } from '../src/core/explain/check/check-node.ts'
import type { PersistentVolume } from '../src/core/kube/api/objects.ts'
import { parseMountinfo } from '../src/core/linux/parse-mountinfo.ts'
import { readSnapshot } from '../src/core/plan/documents/snapshot-file.ts'
import { withAdvice } from '../src/core/plan/next-steps.ts'
import { decideNode } from '../src/core/reconcile/plan-node.ts'
import type { NodeState } from '../src/core/volumes/snapshot.ts'
import { csiGlobalDir } from '../src/core/volumes/volume-names.ts'
import { recorded } from './helpers/captures.ts'
import { planOf } from './helpers/cluster-plan.ts'
import { explain } from './helpers/explaining.ts'
import { claimOf, DRIVER, NodeBuilder, ROOT, uid } from './helpers/node-builder.ts'
import { planOptions } from './helpers/plan-options.ts'
import { randomFrom } from './helpers/random-from.ts'
import { RUNNING } from './reconcile/planned.ts'

const REPORTS = join(import.meta.dirname, 'fixtures/reports')
const OPTIONS = planOptions({ orphans: true })

/** What is asked of a state; right.tsv has it of each. */
interface Right {
  /** A problem, a wait or an obstacle begins with the first, and has all the others. */
  readonly says: readonly string[]
  /** Kinds of operations that are ready, sorted; undefined: any. */
  readonly ready?: readonly string[] | undefined
  /** Of operations that are blocked, sorted: `UnmountDevice OtherVolume`. */
  readonly blocked?: readonly string[] | undefined
  /** In no advice of plan and explain. */
  readonly never?: RegExp | undefined
  /** What explain is asked. */
  readonly explain: string
}

function answersOf(state: NodeState, asked?: string) {
  const decided = decideNode(state, OPTIONS)
  const plan = withAdvice(decided.plan, { applyFlags: ['--orphans'], settleMs: OPTIONS.settleMs })
  const { problems, waiting, operations, summary } = plan
  const blocked = operations.flatMap((each) => (each.blocked === undefined ? [] : { kind: each.kind, ...each.blocked }))
  const said = [...problems.map((each) => ({ kind: each.severity, ...each })), ...waiting, ...blocked]
  const explained = asked === undefined ? '' : JSON.stringify(explain(state, OPTIONS, asked).explanation.verdict)
  return {
    plan,
    findings: said.map(({ kind, code, message }) => `${kind} ${code}: ${message}`),
    advice: [...said.map(({ hint = '' }) => hint), ...(summary.next ?? []).map(({ command }) => command), explained],
    ready: operations.flatMap(({ kind, blocked: why }) => (why === undefined ? kind : [])).toSorted(),
    blocked: blocked.map(({ kind, code }) => `${kind} ${code}`).toSorted(),
    isOk: examine(decided).troubles.length === 0,
  }
}

function holds(state: NodeState, { says: [finding, ...texts], ready, blocked, never, explain: asked }: Right): void {
  const answers = answersOf(state, asked)
  const isMeant = (each: string): boolean =>
    each.startsWith(`${finding}:`) && texts.every((text) => each.includes(text))
  if (finding) expect(answers.findings.filter(isMeant), `${texts} in\n${answers.findings.join('\n')}`).not.toEqual([])
  if (ready !== undefined) expect(answers.ready).toEqual(ready)
  if (blocked !== undefined) expect(answers.blocked).toEqual(blocked)
  expect(answers.advice.filter((each) => never?.test(`${each}`))).toEqual([])
  if (finding?.startsWith('error ')) expect(answers.isOk).toBe(false)
}

const othersOf = (state: NodeState): string[] =>
  answersOf(state).findings.filter((each) => each.includes('OtherVolume'))

const rowsOf = (file: string): string[][] =>
  readFileSync(join(REPORTS, file), 'utf8')
    .split('\n')
    .slice(1, -1)
    .map((row) => row.split('\t'))
const listOf = (text = 'any'): string[] | undefined =>
  text === 'any' ? undefined : text.split(',').filter((each) => each !== 'none')
const rightOf = ([says = '', ready, blocked, never, asked = '']: readonly string[]): Right => ({
  ...{ says: says.split('|'), ready: listOf(ready), blocked: listOf(blocked), explain: asked },
  never: never ? new RegExp(never) : undefined,
})

it.each(rowsOf('right.tsv'))('%s, from a public report', async (name, ...right) => {
  const files = readdirSync(REPORTS).filter((file) => new RegExp(`^${name}\\.json`).test(file))
  expect(files).not.toEqual([])
  for (const file of files) holds(await readSnapshot(join(REPORTS, file)), rightOf(right))
})

it.each(['11-terminating', '11-gone'])(
  '%s: the driver is not registered on the node that has the volume',
  async (name) => {
    const { problems } = planOf(await readClusterSnapshot(join(REPORTS, `${name}.json`)))
    expect(problems.flatMap(({ code, message }) => (code === 'DriverUnavailable' ? message : []))).toEqual([
      expect.stringContaining('is not registered on node node-1, which has pv-data'),
    ])
    // Nobody unmounts it before.
    expect(problems.filter(({ hint = '' }) => `${hint}`.includes('The kubelet unmounts within'))).toEqual([])
  },
)

it('a node that is tainted out-of-service, and whose lease is renewed', async () => {
  const state = await readClusterSnapshot(join(REPORTS, '11-gone.json'))
  const nodes = state.nodes.map((each) => ({ ...each, outOfService: each.name === 'node-1', ready: 'False' }))
  expect(planOf({ ...state, nodes }).problems).toContainEqual(
    expect.objectContaining({ code: 'TaintedButReady', message: expect.stringContaining('is still heard') }),
  )
})

const healthy = await recorded('healthy/node.json')
const UID = 'f7d15aec-a641-44e9-a739-dffa1c6f9aad'
const TARGET = `${ROOT}/pods/${UID}/volumes/kubernetes.io~csi/pv-fs1/mount`
const STAGED = `${ROOT}/plugins/kubernetes.io/csi/loop.pg.test/a6dc80caae626a1aba85f08f1643054416ffcd0aea2944825c634e25eddbf072/globalmount`

/** The healthy capture with other mounts; `kubelet`: whether it runs. */
function altered(change: (mounts: string) => string, kubelet = false, gone: readonly string[] = []): NodeState {
  const { snapshot } = healthy
  const { api, runtime, mountinfo: before = '' } = snapshot
  const mountinfo = change(before)
  expect(mountinfo).not.toBe(before)
  return {
    snapshot: {
      ...snapshot,
      mountinfo,
      kubelet: { running: kubelet, mayReturn: kubelet },
      ...(runtime && { runtime: { ...runtime, pods: runtime.pods.filter((each) => !gone.includes(each.uid)) } }),
      processes: (snapshot.processes ?? []).filter((each) => !gone.includes(each)),
      ...(api && { api: { ...api, pods: api.pods.filter(({ metadata }) => !gone.includes(metadata.uid ?? '')) } }),
    },
    mounts: parseMountinfo(mountinfo),
  }
}

/** `TARGET = DEV ROOT TYPE SOURCE`: that mount is another one; `+ LINE`: one more; `THIS=>THAT`. */
const stepOf = (step: string) => (mounts: string) => {
  const [, place, dev, root, type, source] = /^(TARGET|STAGED) = (\S+) (\S+) (\S+) (\S+)$/.exec(step) ?? []
  const named = (text: string): string => text.replaceAll('TARGET', TARGET).replaceAll('STAGED', STAGED)
  if (place !== undefined)
    return mounts.replace(
      new RegExp(String.raw`^(\d+ \d+) \S+ \S+ (${named(place)}) (.*) - \S+ \S+`, 'm'),
      `$1 ${dev} ${named(root ?? '')} $2 $3 - ${type} ${source}`,
    )
  const [was = '', is = ''] = step.split('=>')
  return step.startsWith('+ ') ? `${mounts}${named(step.slice(2))}\n` : mounts.replaceAll(was, is)
}
const changeOf = (steps: string) => (mounts: string) =>
  steps.split(' ;; ').reduce((text, step) => stepOf(step)(text), mounts)

describe('S38: something else is in the place of a volume', () => {
  it.each(rowsOf('places.tsv'))('%s', (_, change = '', gone = '', ...right) => {
    for (const kubelet of gone === '' ? [true, false] : [false])
      holds(
        altered(changeOf(change), kubelet, gone === '' ? [] : [UID]),
        rightOf(right.map((each) => each.replace('STAGED', STAGED))),
      )
  })
  it.each([true, false])(
    'a disk over the root directory is said of what waits, and is no problem of its own; kubelet: %s',
    (kubelet) => {
      const state = altered(stepOf('+ 9001 42 8:64 / /var/lib/kubelet rw - ext4 /dev/sde rw'), kubelet)
      expect(answersOf(state).plan.problems).toEqual([])
      // As it is seen through what lies over it.
      const tree = (state.snapshot.tree ?? []).filter(({ path }) => path === '.')
      const { ready, findings } = answersOf({ ...state, snapshot: { ...state.snapshot, tree } })
      expect(ready).toEqual([])
      expect(findings.filter((each) => each.startsWith('MountVolume ForeignMount: another mount (ext4'))).toHaveLength(
        33,
      )
    },
  )
  it('a volume that is bound from the staging of another, and has none of its own', () => {
    const built = new NodeBuilder().persistentVolume('pv-1', { handle: 'vol-1' })
    built.livingPod(uid(2), 'app', [claimOf()])
    built.staged('vol-2', '7:2').published(uid(2), 'pv-1', '7:2', { handle: 'vol-1' })
    expect(othersOf(built.build())).toEqual([expect.stringContaining('vol-2')])
  })
  describe('a file where a raw block volume is published', () => {
    const published = 'plugins/kubernetes.io/csi/volumeDevices/publish/pv-blk1/d3496465-f590-4b69-bd25-b8e5fa2085e5'
    const file = `254:0 ${ROOT}/${published} $2 - ext4 /dev/vda`
    it.each([
      ['control: the pod still has the device', /^332 .*\n/m, '', []],
      [
        'the file is mounted itself',
        /^(33[23] \S+) \S+ \S+ (.*) - \S+ \S+/gm,
        `$1 ${file}`,
        [expect.stringContaining('a regular file')],
      ],
    ])('%s', (_, was, is, said) => {
      const { snapshot, mounts } = altered((text) => text.replace(was, is))
      const tree = snapshot.tree?.map((each) => (each.path === published ? { ...each, type: 'file' as const } : each))
      expect(othersOf({ snapshot: { ...snapshot, tree: tree ?? [] }, mounts })).toEqual(said)
    })
  })
  it('of a deleted pod, whose device is mapped no more and gone', () => {
    const pod = 'd3496465-f590-4b69-bd25-b8e5fa2085e5'
    const unmapped = (text: string): string =>
      text.replace(/^333 .*\n/m, '').replace(/^(332 \S+ \S+) \S+/m, '$1 /loop3//deleted')
    const gone = expect.stringContaining('/dev/loop3, a device that is gone')
    expect(othersOf(altered(unmapped, false, [pod]))).toEqual([gone, gone])
  })
  it.each([
    ['named after the volume', '+ 9001 27 7:9 / /srv/own/vol-fs1/mnt rw - ext4 /dev/loop9 rw'],
    [
      'of the file behind its loop device',
      '+ 9001 27 7:5 / /var/lib/kubelet/plugins/loop.pg.test/x rw - ext4 /dev/loop5 rw',
    ],
  ])("a driver's own mount, %s: the detach waits for it, with a kubelet and without", (_, line) => {
    const isLeft = (text: string): boolean => text.includes(UID) || text.includes('a6dc80caae')
    const left = (mounts: string): string =>
      mounts
        .split('\n')
        .filter((each) => !isLeft(each))
        .join('\n')
    for (const kubelet of [true, false]) {
      const { snapshot, mounts } = altered((text) => stepOf(line)(left(text)), kubelet, [UID])
      const tree = (snapshot.tree ?? []).filter(({ path }) => !isLeft(path))
      const { plan, findings } = answersOf({ snapshot: { ...snapshot, tree }, mounts })
      expect([plan.operations, findings]).toEqual([
        [],
        [expect.stringMatching(/^DetachVolume StillInUse: \S+(?:own|loop\.pg\.test)\/\S+, where no/)],
      ])
    }
  })
  it('a second mount of what is staged keeps it from being unstaged, which is not said once more of the detach', () => {
    const state = altered(stepOf('+ 9001 27 7:5 / /srv/own/vol-fs1/mnt rw - ext4 /dev/loop5 rw'), false, [UID])
    const { findings, blocked } = answersOf(state)
    expect(findings.filter((each) => each.includes('/srv/own'))).toHaveLength(1)
    expect(blocked).toEqual(['DetachVolume Predecessor', 'UnmountDevice HeldBy'])
  })
})

describe('S38: volumes of which only the PersistentVolume says what they are', () => {
  const nfs = (source: string, fsType = 'nfs4', server = 'nas.example', path = '/export/a'): NodeState =>
    new NodeBuilder()
      .livingPod(uid(2), 'app', [{ name: 'share', nfs: { server, path } }])
      .mount(`pods/${uid(2)}/volumes/kubernetes.io~nfs/share`, { dev: '0:77', fsType, source })
      .build()

  it.each([
    ['another server', nfs('nas2.example:/export/a'), ['nas2.example:/export/a', 'nas.example:/export/a']],
    ['another export', nfs('10.0.0.5:/export/b'), ['10.0.0.5:/export/b', 'nas.example:/export/a']],
    ['a neighbour of the export', nfs('nas.example:/export/ab'), ['nas.example:/export/ab (0:77)']],
    ['another address', nfs('10.0.0.6:/export/a', 'nfs4', '10.0.0.5'), ['10.0.0.6:/export/a']],
    ['no NFS', nfs('tmpfs', 'tmpfs'), ['tmpfs (0:77)', 'nas.example:/export/a']],
  ])('NFS: %s', (_, state, texts) => {
    expect(othersOf(state)).toEqual([expect.stringContaining('error OtherVolume: pod default/app')])
    for (const text of texts) expect(othersOf(state)[0]).toContain(text)
  })
  it.each([
    ['an address for the name', nfs('10.0.0.5:/export/a')],
    ['a name for the address', nfs('nas:/export/a', 'nfs', '10.0.0.5')],
    ['the name without its domain', nfs('nas:/export/a')],
    ['a trailing slash', nfs('NAS.example:/export/a/')],
    ['IPv6', nfs('[fd00::5]:/export/a', 'nfs4', 'fd00::5')],
    ['IPv6 in another spelling', nfs('[fd00:0:0::5]:/export/a', 'nfs4', 'fd00::5')],
  ])('control, NFS: %s', (_, state) => expect(othersOf(state)).toEqual([]))

  type Of = Pick<PersistentVolume['spec'], 'local' | 'iscsi' | 'csi' | 'volumeMode'>
  /** A pod that runs with a volume of this source. */
  const withVolume = (source: Of, place: (built: NodeBuilder) => unknown): NodeState => {
    const built = new NodeBuilder().persistentVolume('pv-1', { source })
    built.livingPod(uid(2), 'app', [claimOf()], { devices: source.volumeMode === 'Block' })
    place(built)
    return built.build()
  }
  const POD = `pods/${uid(2)}/volumes/kubernetes.io~`
  /** A local volume of /mnt/disks/a, on which `mounted` is, and at the pod's place what `at` says. */
  const local = (
    at: { dev: string; root: string; fsType?: string },
    mounted?: string,
    path = '/mnt/disks/a',
    below?: string,
  ): NodeState =>
    withVolume({ local: { path } }, (built) => {
      if (mounted !== undefined) built.mountLine(path, '/', mounted, 'xfs', '/dev/sdb')
      const place = `${POD}local-volume/pv-1`
      if (below !== undefined) built.mount(place, { dev: below, root: path, fsType: 'ext4' })
      built.mount(place, { fsType: 'xfs', source: '/dev/sdx', ...at })
    })
  const LUN = 'plugins/kubernetes.io/iscsi/iface-default/10.0.0.9:3260-iqn.2001-04.com.example:a-lun-0'
  const iscsi = (dev: string, root = '/'): NodeState =>
    withVolume({ iscsi: { targetPortal: '10.0.0.9:3260', iqn: 'iqn.2001-04.com.example:a', lun: 0 } }, (built) => {
      built.mount(LUN, { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' })
      built.mount(`${POD}iscsi/pv-1`, { dev, root, fsType: 'ext4', source: '/dev/sdx' })
    })
  const BOUND = '/mnt/block/a'
  const MAPS = 'plugins/kubernetes.io~local-volume/volumeDevices/pv-1'
  const raw = (mapped: Parameters<NodeBuilder['mount']>[1], path = '/dev/sdb'): NodeState =>
    withVolume({ local: { path }, volumeMode: 'Block' }, (built) => {
      if (path === BOUND) built.mountLine(path, '/sdb', '0:6', 'devtmpfs', 'devtmpfs')
      built.mount(`${MAPS}/${uid(2)}`, mapped)
      built.link(`pods/${uid(2)}/volumeDevices/kubernetes.io~local-volume/pv-1`, `${ROOT}/${MAPS}/${uid(2)}`)
      built.loops.push({ name: '/dev/loop7', backingFile: `${ROOT}/${MAPS}/${uid(2)}` })
    })
  /** Published with the device number of what is staged. */
  const stagedShare = (from: string, source: string): NodeState =>
    withVolume({ csi: { driver: DRIVER, volumeHandle: 'h' } }, (built) => {
      const share = { dev: '0:70', fsType: 'nfs4' }
      built.staged('h', '0:70').mounts.pop()
      built.mount(`${csiGlobalDir(DRIVER, 'h')}/globalmount`, { ...share, source: from })
      built.published(uid(2), 'pv-1', '0:70', { handle: 'h' }).mounts.pop()
      built.mount(`${POD}csi/pv-1/mount`, { ...share, source })
    })
  const smb = (source: string, fsType = 'cifs'): NodeState =>
    withVolume({ csi: { driver: DRIVER, volumeHandle: 'h', volumeAttributes: { source: '//nas/share' } } }, (built) => {
      built.published(uid(2), 'pv-1', '0:70', { handle: 'h' }).mounts.pop()
      built.mountLine(`${ROOT}/${POD}csi/pv-1/mount`, '/', '0:70', fsType, source)
    })
  const empty = (medium: string, root: string): NodeState =>
    new NodeBuilder()
      .livingPod(uid(2), 'app', [{ name: 'e', emptyDir: { medium } }])
      .file(`pods/${uid(2)}/plugins/kubernetes.io~empty-dir/e/ready`, '')
      .mount(`${POD}empty-dir/e`, { dev: '254:0', root, fsType: 'ext4', source: '/dev/vda' })
      .build()
  const device = { dev: '0:6', fsType: 'devtmpfs', type: 'block' } as const
  it.each([
    ['local, the directory below its disk', local({ dev: '254:0', root: '/mnt/disks/a' }, '8:16'), '/dev/sdb (8:16)'],
    ['local, another disk', local({ dev: '8:32', root: '/' }, '8:16'), '/dev/sdx (8:32)'],
    [
      'local, another disk than the PersistentVolume names',
      local({ dev: '8:32', root: '/' }, undefined, '/dev/sdb'),
      '/dev/sdb',
    ],
    ['local, the root file system', local({ dev: '254:0', root: '/' }), 'root file system'],
    ['local, its directory, which was deleted', local({ dev: '254:0', root: '/mnt/disks/a//deleted' }), 'was deleted'],
    ['local, a tmpfs', local({ dev: '0:300', root: '/', fsType: 'tmpfs' }), 'but wants /mnt/disks/a, which its'],
    [
      'local, a disk over it',
      local({ dev: '8:32', root: '/' }, undefined, '/mnt/disks/a', '254:0'),
      'over which it is mounted',
    ],
    ['a LUN, another disk', iscsi('8:32'), 'staged from /dev/sdb (8:16)'],
    ['a LUN, its global directory', iscsi('254:0', `${ROOT}/${LUN}`), 'on which nothing was mounted'],
    ['raw block, another disk', raw({ ...device, root: '/sdc' }), '/dev/sdb'],
    ['raw block, a file', raw({ dev: '254:0', root: '/x', fsType: 'ext4', type: 'file' }), 'a regular file'],
    ['SMB, another share', smb('//nas/share2'), '//nas/share'],
    ['another export than is staged', stagedShare('nas:/b', 'nas:/a'), 'is staged from nas:/b (0:70)'],
    ['an emptyDir, the root file system', empty('', '/'), 'root file system'],
  ])('%s', (_, state, text) => expect(othersOf(state)[0]).toContain(text))
  it.each([
    ['local, its disk', local({ dev: '8:16', root: '/' }, '8:16')],
    ['local, its directory', local({ dev: '254:0', root: '/mnt/disks/a' })],
    ['local, its directory, behind a link', local({ dev: '254:0', root: '/data/a' })],
    ['local, its disk, that is mounted there no more', local({ dev: '8:16', root: '/' })],
    ['local, the whole root file system, as it says', local({ dev: '254:0', root: '/' }, undefined, '/')],
    ['local, a disk behind a link', local({ dev: '8:32', root: '/' }, undefined, '/dev/disk/by-id/a')],
    ['a LUN', iscsi('8:16')],
    ['raw block', raw({ ...device, root: '/sdb' })],
    ["raw block, the node's own disk, as it says", raw({ ...device, root: '/vda' }, '/dev/vda')],
    ['raw block, a device that is bound elsewhere', raw({ ...device, root: '/sdb' }, BOUND)],
    ['SMB, a directory of the share', smb('//nas/share/dir')],
    ['a directory of the export that is staged', stagedShare('nas:/a', 'nas:/a/dir')],
    ['an emptyDir on itself', empty('', `${ROOT}/${POD}empty-dir/e`)],
  ])('control: %s', (_, state) => expect(othersOf(state)).toEqual([]))

  it.each([
    ['ImagePullBackOff', 'Back-off pulling image "r.example/m:3"', 'the image of a volume'],
    ['CreateContainerConfigError', 'failed to prepare subPath for volumeMount "v" of container "c"', 'sub-paths'],
    ['CreateContainerError', 'failed to set MOUNT_ATTR_IDMAP on /v: invalid argument', 'as NFS cannot'],
    ['ImagePullBackOff', 'Back-off pulling image "r.example/other:1"', undefined],
    ['CreateContainerConfigError', 'configmap "cm" not found', undefined],
  ])('a container that waits with %s: %s', (reason, message, hint) => {
    const built = new NodeBuilder().livingPod(uid(2), 'app', [{ name: 'm', image: { reference: 'r.example/m:3' } }])
    Object.assign(built.pods[1]?.status ?? {}, {
      containerStatuses: [{ name: 'c', state: { waiting: { reason, message } } }],
    })
    const found = answersOf(built.build()).plan.problems.filter(({ code }) => code === 'ContainerNotCreated')
    expect(found.map((each) => each.hint)).toEqual(hint === undefined ? [] : [expect.stringContaining(hint)])
  })

  it('a second PersistentVolume of one share: the staging that is left of it is unstaged', () => {
    const built = new NodeBuilder()
    for (const name of ['pv-a', 'pv-b']) built.persistentVolume(name, { attached: false }).staged(name, '0:61')
    built.livingPod(uid(2), 'app', [claimOf('pv-a')])
    built.published(uid(2), 'pv-a', '0:61')
    const lines = built.mounts.map((line) => line.replace(/ext4 \/dev\/loop61/, 'cifs //nas/share'))
    built.mounts.splice(0, lines.length, ...lines)
    const { plan } = answersOf(built.build())
    expect(plan.operations.map(({ kind, volume, blocked }) => [kind, volume?.name, blocked])).toEqual([
      ['UnmountDevice', 'pv-b', undefined],
    ])
  })

  const pending = (change: (built: NodeBuilder) => unknown, given: { accessModes?: string[] } = {}): NodeState => {
    const built = new NodeBuilder().persistentVolume('pv-1', given)
    built.pod(uid(2), 'app', [claimOf(), { name: 'e', emptyDir: { medium: 'Memory' } }], { phase: 'Pending' })
    change(built)
    Object.assign(built.override, RUNNING)
    return built.build()
  }
  it('of a deleted pod, whose PersistentVolume is known by the name of its directory', () => {
    const built = new NodeBuilder().persistentVolume('pv-1', { source: { nfs: { server: 'nas', path: '/a' } } })
    built.mount(`${POD}nfs/pv-1`, { dev: '0:77', fsType: 'nfs4', source: 'nas:/b' })
    const said = expect.stringContaining('nas:/b (0:77) and not nas:/a, which its PersistentVolume names')
    expect(othersOf(built.build())).toEqual([said])
    expect(explain(built.build(), OPTIONS, 'pv-1').explanation.verdict.message).toEqual(said)
  })
  it.each([
    ['nfs/share', '/', 'the root file system of the node'],
    ['iscsi/pv-1', `${ROOT}/${LUN}`, 'a staging directory on which nothing was mounted'],
  ])('of a deleted pod, in the place of %s: %s', (place, root, text) => {
    const built = new NodeBuilder()
    built.mount(`pods/${uid(3)}/volumes/kubernetes.io~${place}`, { dev: '254:0', root, fsType: 'ext4' })
    expect(othersOf(built.build())[0]).toContain(text)
  })
  it.each([
    [
      'a driver that is not registered',
      'DriverUnavailable: CSI',
      pending((built) => Object.assign(built.override, { csiSockets: [] })),
    ],
    [
      'an attachment that is not made',
      'NotAttached: ',
      pending((built) => built.attachments.splice(0) && built.attached.splice(0)),
    ],
    [
      'another disk in the place of a tmpfs',
      'ForeignMount: ',
      pending((built) => built.mount(`${POD}empty-dir/e`, { dev: '8:32', fsType: 'ext4' })),
    ],
    [
      'a pod that has it (ReadWriteOncePod)',
      'AccessMode: pv-1 is ReadWriteOncePod, and pod default/first',
      pending(
        (built) => {
          built.livingPod(uid(3), 'first', built.pods[1]?.spec.volumes?.slice(0, 1) ?? [])
          built.published(uid(3), 'pv-1', '8:16')
        },
        { accessModes: ['ReadWriteOncePod'] },
      ),
    ],
  ])('a running kubelet does not hide %s', (_, text, state) => {
    expect(answersOf(state).findings.filter((each) => each.includes(`MountVolume ${text}`))).toHaveLength(1)
  })
})

/** What may stage and publish a volume, by device and root of both; one is one disk's. */
const DISKS: readonly (readonly string[])[] = [
  ['8:16', '/', '/', 'ext4', '/dev/sdb'],
  ['8:16', '/', '/data', 'ext4', '/dev/sdb'],
  ['8:16', '/vol', '/vol/sub', 'xfs', '/dev/sdb'],
  ['253:4', '/', '/', 'xfs', '/dev/mapper/a'],
  ['253:5', '/', '/', 'ext4', '/dev/mapper/mpatha'],
  ['0:60', '/@vol', '/@vol', 'btrfs', '/dev/sdb'],
  ['0:61', '/', '/', 'nfs4', 'nas:/export'],
  ['0:62', '/', '/dir', 'cifs', '//nas/share'],
  ['0:63', '/', '/', 'ceph', '10.0.0.1:6789,10.0.0.2:6789:/volumes/a'],
  ['0:64', '/', '/', 'fuse.s3', 's3'],
  ['254:0', '/srv/driver/a', '/srv/driver/a', 'ext4', '/dev/vda'],
  ['254:0', `${ROOT}/plugins/d/v`, `${ROOT}/plugins/d/v`, 'ext4', '/dev/vda'],
]
const ROOTS: readonly (readonly [string, string, string])[] = [
  ['254:0', 'ext4', '/dev/vda'],
  ['254:0', 'ext4', '/dev/root'],
  ['0:25', 'overlay', 'overlay'],
]

/** On a root disk, with the kubelet's directory on it, on a disk of its own or bound over itself, and up to five volumes. */
function build(random: () => number): NodeState {
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const built = new NodeBuilder()
  const root = oneOf(ROOTS)
  built.mounts.splice(0)
  built.mountLine('/', '/', ...root)
  const kubelet = random()
  if (kubelet < 0.3) built.mountLine(ROOT, '/', '8:240', 'xfs', '/dev/sdp')
  else if (kubelet < 0.6) built.mountLine(ROOT, ROOT, ...root)
  for (let n = 0; n <= random() * 5; n++) {
    const [device = '', staged = '', published = '', type = '', from] = oneOf(DISKS)
    const isShare = ['nfs4', 'cifs', 'ceph'].includes(type)
    const isOfNode = device === '254:0'
    // One disk each, but for directories and shares.
    const own = isShare || isOfNode ? device : `${device}${n}`
    const [name, below, share] = [`pv-${n}`, isOfNode ? n : '', isShare ? n : '']
    built.persistentVolume(name, { accessModes: [oneOf(['ReadWriteOnce', 'ReadWriteMany'])] })
    built.livingPod(uid(10 + n), name, [claimOf(name)])
    const place = (shown: string, at: string): void => {
      const [, , , , point = ''] = built.mounts.pop()?.split(' ') ?? []
      built.mountLine(point, `${shown}${below}`, at, type, `${from}${share}`)
    }
    if (oneOf([true, false])) {
      built.staged(name, own)
      place(staged, own)
    }
    built.published(uid(10 + n), name, own)
    // The pod's may be a mount of its own.
    place(published, (isShare || type === 'fuse.s3') && oneOf([true, false]) ? `0:9${n}` : own)
  }
  return built.build()
}

it('healthy nodes are told of nothing: 300 of them', () => {
  for (let seed = 0; seed < 300; seed++) {
    const { findings } = answersOf(build(randomFrom(seed)))
    expect(
      findings.filter((each) => /OtherVolume|MountStorm|RunsWithout/.test(each)),
      `${seed}`,
    ).toEqual([])
  }
})

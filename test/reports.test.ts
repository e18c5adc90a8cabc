/**
 * States from public bug reports (test/fixtures/reports; NAME-up: the kubelet runs), and what has to be said of them. Beside them:
 * changes of the healthy capture, each with one thing in a volume's place that is not the volume (S38), and healthy nodes, of which
 * nothing is said.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { examine } from '../src/core/check/check-node.ts'
import { readClusterSnapshot } from '../src/core/cluster/snapshot/cluster-snapshot.ts'
import type { NodeState } from '../src/core/model/node-state.ts'
import type { PersistentVolume } from '../src/core/model/objects.ts'
import { parseMountinfo } from '../src/core/mountinfo/parse-mountinfo.ts'
import { withAdvice } from '../src/core/plan/next-steps.ts'
import type { Plan } from '../src/core/plan/plan.ts'
import { planWithDecisions } from '../src/core/reconcile/decisions.ts'
import { readSnapshot } from '../src/core/snapshot/read-snapshot.ts'
import { planOf } from './helpers/cluster-plan.ts'
import { explain } from './helpers/explaining.ts'
import { DRIVER, NodeBuilder, ROOT, uid } from './helpers/node-builder.ts'
import { boundVolume } from './helpers/objects.ts'
import { planOptions } from './helpers/plan-options.ts'

const REPORTS = join(import.meta.dirname, 'fixtures/reports')
const OPTIONS = planOptions({ orphans: true })

/** What is asked of a state. */
interface Right {
  /** Each: a problem, a wait or an obstacle that begins with these words and has all of these texts. */
  readonly says: readonly (readonly [finding: string, ...texts: string[]])[]
  /** Kinds of operations that are ready, sorted. */
  readonly ready?: readonly string[]
  /** Of operations that are blocked, sorted: `UnmountDevice OtherVolume`. */
  readonly blocked?: readonly string[]
  /** In no advice of plan and explain. */
  readonly never?: RegExp
  /** What explain is asked. */
  readonly explain: string
}

interface Answers {
  readonly plan: Plan
  readonly findings: readonly string[]
  readonly advice: readonly string[]
  readonly troubles: readonly string[]
}

function answersOf(state: NodeState, asked: string | undefined): Answers {
  const decided = planWithDecisions(state, OPTIONS)
  const plan = withAdvice(decided.plan, { words: ['--orphans'], settleMs: OPTIONS.settleMs })
  const blocked = plan.operations.flatMap(({ kind, blocked }) => (blocked === undefined ? [] : [{ kind, ...blocked }]))
  const findings = [
    ...plan.problems.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
    ...plan.waiting.map(({ kind, code, message }) => `${kind} ${code}: ${message}`),
    ...blocked.map(({ kind, code, message }) => `${kind} ${code}: ${message}`),
  ]
  const hints = [...plan.problems, ...plan.waiting, ...blocked].map(({ hint = '' }) => hint)
  const next = (plan.summary.next ?? []).map(({ command }) => command)
  const explained = asked === undefined ? '' : JSON.stringify(explain(state, OPTIONS, asked).explanation.verdict)
  const { troubles } = examine(decided)
  return { plan, findings, advice: [...hints, ...next, explained], troubles: troubles.map(({ kind }) => kind) }
}

function holds(state: NodeState, { says, ready, blocked, never, explain: asked }: Right): void {
  const { plan, findings, advice, troubles } = answersOf(state, asked)
  for (const [finding, ...texts] of says)
    expect(
      findings.filter((each) => each.startsWith(`${finding}:`) && texts.every((text) => each.includes(text))),
      `${finding} ${texts} in\n${findings.join('\n')}`,
    ).not.toEqual([])
  const kinds = (isMeant: boolean) => plan.operations.filter((each) => (each.blocked === undefined) === isMeant)
  if (ready !== undefined)
    expect(
      kinds(true)
        .map(({ kind }) => kind)
        .toSorted(),
    ).toEqual(ready)
  if (blocked !== undefined)
    expect(
      kinds(false)
        .map((each) => `${each.kind} ${each.blocked?.code}`)
        .toSorted(),
    ).toEqual(blocked)
  if (never !== undefined) expect(advice.filter((each) => never.test(each))).toEqual([])
  if (says.some(([finding]) => finding.startsWith('error '))) expect(troubles).not.toEqual([])
}

/** Nobody is told to unmount the root file system. */
const UNMOUNTS_ROOT = /findmnt \/\)|umount \/(?= |$)|who needs \/ /
const ROOT_DISK = ['/dev/vda (254:0)', 'root file system of the node'] as const

const OLD_PATH = 'plugins/kubernetes.io/csi/pv/pv-fs1/globalmount'

const RIGHT: Readonly<Record<string, Right>> = {
  '01-old-runs-(up|down)': {
    says: [['warning StagedAtOldPath', 'pv-fs1 is staged at /', OLD_PATH, 'cannot unstage']],
    ready: [],
    blocked: [],
    never: /nothing is mounted/,
    explain: 'pg/p-csi-fs',
  },
  '01-both-runs-(up|down)': {
    says: [['warning StagedAtOldPath', 'pv-fs1 is also staged at', OLD_PATH, 'leftover']],
    ready: [],
    blocked: [],
    explain: 'pg/p-csi-fs',
  },
  '01-both-gone-down': {
    says: [],
    ready: ['DetachVolume', 'RemoveOrphanPodDir', 'UnmountDevice', 'UnmountVolume', 'UnmountVolume'],
    blocked: [],
    explain: 'pv-fs1',
  },
  '01-both-ended-down': { says: [], ready: ['DetachVolume', 'UnmountDevice'], blocked: [], explain: 'pv-fs1' },
  '01-both-(gone|ended)-up': {
    says: [['warning StagedAtOldPath', OLD_PATH, 'cannot unstage']],
    ready: [],
    explain: 'pv-fs1',
  },
  '03-running-(up|down)': {
    says: [['error OtherVolume', 'pg/p-csi-fs', ...ROOT_DISK]],
    ready: [],
    never: UNMOUNTS_ROOT,
    explain: 'pg/p-csi-fs',
  },
  '03-gone-down': {
    says: [['error OtherVolume', ...ROOT_DISK]],
    ready: ['RemoveOrphanPodDir', 'UnmountVolume', 'UnmountVolume'],
    blocked: ['DetachVolume OtherVolume', 'UnmountDevice OtherVolume'],
    never: UNMOUNTS_ROOT,
    explain: 'pv-fs1',
  },
  '03-ended-down': {
    says: [['error OtherVolume', ...ROOT_DISK]],
    ready: [],
    blocked: ['DetachVolume OtherVolume', 'UnmountDevice OtherVolume'],
    never: UNMOUNTS_ROOT,
    explain: 'pv-fs1',
  },
  '07-target-(64|999)-(up|down)': {
    says: [['warning MountStorm', ' mounts of one directory', 'pv-fs1/mount']],
    ready: [],
    blocked: [],
    never: /umount/,
    explain: 'pg/p-csi-fs',
  },
  '07-target-1200-up': { says: [['error MountStorm', '120', 'pv-fs1/mount']], ready: [], explain: 'pg/p-csi-fs' },
  '07-below-64-up': {
    says: [['warning MountStorm', '64 mounts', 'plugins/bpfman.io/fs']],
    explain: '/var/lib/kubelet/plugins/bpfman.io/fs',
  },
  '07-below-1200-up': {
    says: [['error MountStorm', '1200 mounts', 'plugins/bpfman.io/fs']],
    explain: '/var/lib/kubelet/plugins/bpfman.io/fs',
  },
  '07-run-64-up': { says: [['warning MountStorm', '64 mounts', '/run/bpfman/fs']], explain: '/run/bpfman/fs' },
  '07-run-2048-(up|down)': { says: [['error MountStorm', '2048 mounts', '/run/bpfman/fs']], explain: '/run/bpfman/fs' },
  '05-running-(up|down)': {
    says: [['error DeadMount', 'pv-fs1/mount', 'EIO']],
    never: /Restart|server|daemon/,
    explain: 'pg/p-csi-fs',
  },
  '05-gone-down': {
    says: [],
    ready: ['DetachVolume', 'RemoveOrphanPodDir', 'UnmountDevice', 'UnmountVolume', 'UnmountVolume'],
    never: /Restart|server|daemon/,
    explain: 'pv-fs1',
  },
  '05-gone-up': { says: [['warning DeadMount', 'EIO']], never: /Restart|server|daemon/, explain: 'pv-fs1' },
  '10-other-root-(up|down)': {
    says: [['MountVolume HeldBy', '/var/snap/microk8s/common/var/lib/kubelet/pods', 'outside the root directory']],
    ready: [],
    never: /[Ss]top (?:the|this) kubelet/,
    explain: 'pg/p-ro',
  },
  '13-limit-up': {
    says: [['MountVolume AttachLimit', 'ResourceExhausted', 'allows 2 volumes', '5 are attached']],
    never: /[Ss]top the kubelet/,
    explain: 'pg/p-data',
  },
  '14-back-(no-taint-)?down': {
    says: [['error MountedButNotAttached', 'pv-rbd/mount', 'another node may write']],
    ready: ['RemoveOrphanPodDir', 'UnmountDevice', 'UnmountVolume'],
    never: /Restart|server|daemon/,
    explain: 'pv-rbd',
  },
  '14-back-(no-taint-)?up': {
    says: [['error MountedButNotAttached', 'pv-rbd/mount', 'another node may write']],
    ready: [],
    never: /Restart|server|daemon/,
    explain: 'pv-rbd',
  },
  '19-image-(up|down)': {
    says: [['warning ContainerNotCreated', 'pg/p-image', 'CreateContainerError', 'unsupported layer media type']],
    explain: 'pg/p-image',
  },
  '20-1\\.36-gate-up': {
    says: [['MountVolume SELinuxMismatch', 's0:c10,c20', 's0:c30,c40']],
    ready: [],
    never: /[Ss]top the kubelet/,
    explain: 'pg/p-share-b',
  },
  '23-(annotation|metadata)-(up|down)': {
    says: [['MountVolume OtherMachine', 'i-0aaa111', 'i-0bbb222']],
    ready: [],
    blocked: [],
    never: /[Ss]top the kubelet/,
    explain: 'pg/p-csi-fs',
  },
  '25-runs-up': {
    says: [['error RunsWithoutVolume', 'container c of pod pg/p-csi-fs', 'pv-fs1/mount', "the node's own disk"]],
    ready: [],
    never: /[Ss]top the kubelet/,
    explain: 'pg/p-csi-fs',
  },
  '08-file-(up|down)': {
    says: [['error OtherVolume', 'pg/p-csi-blk', 'a regular file', 'volumeDevices/publish/pv-blk1', 'a device']],
    ready: [],
    explain: 'pg/p-csi-blk',
  },
}

describe('states from public reports', () => {
  const files = readdirSync(REPORTS)
  it.each(Object.keys(RIGHT))('%s is a state', (name) => {
    expect(files.filter((file) => new RegExp(`^${name}\\.json`).test(file))).not.toEqual([])
  })
  it.each(files)('%s', async (file) => {
    const found = Object.entries(RIGHT).find(([name]) => new RegExp(`^${name}\\.json`).test(file))
    if (found !== undefined) holds(await readSnapshot(join(REPORTS, file)), found[1])
  })
})

it.each([
  ['11-terminating.json', 'pods that are being deleted'],
  ['11-gone.json', 'what is still reported in use'],
])('%s: the driver is not registered on the node that has the volume, and %s waits for it', async (file) => {
  const { problems } = planOf(await readClusterSnapshot(join(REPORTS, file)))
  const said = problems.filter(({ code }) => code === 'DriverUnavailable')
  expect(said).toEqual([
    expect.objectContaining({
      message: expect.stringContaining('is not registered on node node-1, which has pv-data'),
    }),
  ])
})

it('a node that is tainted out-of-service, and whose lease is renewed', async () => {
  const state = await readClusterSnapshot(join(REPORTS, '11-gone.json'))
  const nodes = state.nodes.map((each) => ({ ...each, outOfService: each.name === 'node-1', ready: 'False' }))
  expect(planOf({ ...state, nodes }).problems).toContainEqual(
    expect.objectContaining({ code: 'TaintedButReady', message: expect.stringContaining('is still heard') }),
  )
})

const healthy = await readSnapshot(join(import.meta.dirname, 'fixtures/captures/healthy/node.json'))
const UID = 'f7d15aec-a641-44e9-a739-dffa1c6f9aad'
const TARGET = `/var/lib/kubelet/pods/${UID}/volumes/kubernetes.io~csi/pv-fs1/mount`
const CSI = '/var/lib/kubelet/plugins/kubernetes.io/csi'
const STAGED = `${CSI}/loop.pg.test/a6dc80caae626a1aba85f08f1643054416ffcd0aea2944825c634e25eddbf072/globalmount`

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

/** Replaces device, root, type and source of a mount. */
const shown = (point: string, dev: string, root: string, fsType: string, source: string) => (mounts: string) =>
  mounts.replace(
    new RegExp(String.raw`^(\d+ \d+) \S+ \S+ (${point}) (.*) - \S+ \S+`, 'm'),
    `$1 ${dev} ${root} $2 $3 - ${fsType} ${source}`,
  )
const onTop = (point: string, line: string) => (mounts: string) => `${mounts}9001 411 ${line.replace('AT', point)}\n`

describe('S38: something else is in the place of a volume', () => {
  const OF_POD = (...texts: string[]): Right => ({
    says: [['error OtherVolume', 'pg/p-csi-fs', 'pv-fs1', ...texts]],
    ready: [],
    never: /rm |delete the data|umount|vol_data/,
    explain: 'pg/p-csi-fs',
  })
  it.each<readonly [string, (mounts: string) => string, Right]>([
    ['a tmpfs', shown(TARGET, '0:300', '/', 'tmpfs', 'tmpfs'), OF_POD('tmpfs (0:300)', '/dev/loop5 (7:5)')],
    ['another disk', shown(TARGET, '8:32', '/', 'ext4', '/dev/sdc'), OF_POD('/dev/sdc (8:32)', '/dev/loop5 (7:5)')],
    [
      'another disk on top',
      onTop(TARGET, '8:32 / AT rw - xfs /dev/sdc rw'),
      OF_POD('/dev/sdc (8:32)', '/dev/loop5 (7:5)'),
    ],
    [
      "another volume's",
      shown(TARGET, '7:8', '/', 'ext4', '/dev/loop8'),
      OF_POD('loop.pg.test^vol-fs4', '/dev/loop8 (7:8)', '/dev/loop5 (7:5)'),
    ],
    [
      'another directory of the disk',
      (m) => shown(STAGED, '7:5', '/a', 'ext4', '/dev/loop5')(m),
      OF_POD('/dev/loop5 (7:5 /a)'),
    ],
    [
      "another pod's directory",
      shown(TARGET, '254:0', `/var/lib/kubelet/pods/${uid(4)}/volumes/kubernetes.io~empty-dir/e`, 'ext4', '/dev/vda'),
      OF_POD(uid(4), '/dev/vda'),
    ],
    [
      'a bind of the staging directory, on which nothing was mounted',
      shown(TARGET, '254:0', STAGED, 'ext4', '/dev/vda'),
      OF_POD('on which nothing was mounted', '/dev/vda', STAGED),
    ],
    [
      'the root directory, under another name of its device',
      shown(TARGET, '254:0', '/', 'ext4', '/dev/root'),
      OF_POD('/dev/root (254:0)', 'root file system of the node'),
    ],
  ])('%s', (_, change, right) => {
    for (const kubelet of [true, false]) holds(altered(change, kubelet), right)
  })

  const twins = shown(STAGED, '7:8', '/', 'ext4', '/dev/loop8')
  const both = (mounts: string): string => shown(TARGET, '7:8', '/', 'ext4', '/dev/loop8')(twins(mounts))
  it('two ReadWriteOnce volumes staged from one device: an error of both pods', () => {
    for (const kubelet of [true, false])
      holds(altered(both, kubelet), {
        says: [
          ['error OtherVolume', 'pg/p-csi-fs', '/dev/loop8 (7:8)', 'loop.pg.test^vol-fs4 as well'],
          ['error OtherVolume', 'pg/p-share-a', '/dev/loop8 (7:8)', 'loop.pg.test^vol-fs1 as well'],
        ],
        ready: [],
        explain: 'pg/p-csi-fs',
      })
  })
  it('and once one pod is gone, neither is unstaged or detached', () => {
    holds(altered(both, false, [UID]), {
      says: [['error OtherVolume', '/dev/loop8 (7:8)']],
      ready: ['RemoveOrphanPodDir', 'UnmountVolume', 'UnmountVolume'],
      blocked: ['DetachVolume OtherVolume'],
      never: /rm |vol_data|umount/,
      explain: 'pv-fs1',
    })
  })
  it('one device as two raw block volumes', () => {
    holds(
      altered((mounts) => mounts.replaceAll(' /loop3 ', ' /loop0 '), true),
      {
        says: [
          ['error OtherVolume', 'pg/p-csi-blk', '/dev/loop0', 'loop.pg.test^vol-blk1 as well'],
          ['error OtherVolume', 'pg/p-csi-blk', '/dev/loop0', 'hostpath.csi.k8s.io^', ' as well'],
        ],
        ready: [],
        explain: 'pg/p-csi-blk',
      },
    )
  })
  it('control: a pod that still has the device, of which only what the driver published is gone', () => {
    const state = altered((mounts) => mounts.replace(/^332 .*\n/m, ''))
    const tree = state.snapshot.tree?.map((each) =>
      each.path.startsWith('plugins/kubernetes.io/csi/volumeDevices/publish/pv-blk1/')
        ? { ...each, type: 'file' as const }
        : each,
    )
    const { findings } = answersOf({ ...state, snapshot: { ...state.snapshot, tree: tree ?? [] } }, undefined)
    expect(findings.filter((each) => each.includes('OtherVolume'))).toEqual([])
  })
  it.each([
    ['another disk', shown(TARGET, '8:32', '/', 'ext4', '/dev/sdc')],
    ['a tmpfs', shown(TARGET, '0:300', '/', 'tmpfs', 'tmpfs')],
  ])('%s in the place of a volume of a pod that is gone: nothing is unstaged or detached', (_, change) => {
    const { plan } = answersOf(altered(change, false, [UID]), undefined)
    const kinds = plan.operations.filter(({ blocked, volume }) => blocked === undefined && volume?.driver !== undefined)
    expect(kinds).toEqual([])
  })
  it.each([
    ['named after the volume', '7:9 / /srv/own/vol-fs1/mnt rw - ext4 /dev/loop9 rw'],
    ['of the file behind its loop device', '7:5 / /var/lib/kubelet/plugins/loop.pg.test/x rw - ext4 /dev/loop5 rw'],
  ])("a driver's own mount, %s: the detach waits for it, with a kubelet and without", (_, line) => {
    const isLeft = (path: string): boolean => path.includes(UID) || path.includes('a6dc80caae')
    for (const kubelet of [true, false]) {
      const left = (mounts: string): string =>
        `${mounts.replaceAll(/^.*(?:UID|a6dc80caae).*\n/gm, '')}9001 27 ${line}\n`
      const { snapshot, mounts } = altered((text) => left(text.replaceAll(UID, 'UID')), kubelet, [UID])
      const tree = (snapshot.tree ?? []).filter(({ path }) => !isLeft(path))
      const { plan, findings } = answersOf({ snapshot: { ...snapshot, tree }, mounts }, undefined)
      expect(plan.operations).toEqual([])
      expect(findings).toEqual([
        expect.stringMatching(/^DetachVolume StillInUse: \S+(?:own|loop\.pg\.test)\/\S+, where no/),
      ])
    }
  })
  it('S18: a disk over the root directory is named, and what it hides is not called gone', () => {
    for (const kubelet of [true, false])
      holds(
        altered((mounts) => `${mounts}9001 42 8:64 / /var/lib/kubelet rw - ext4 /dev/sde rw\n`, kubelet),
        {
          says: [['MountVolume ForeignMount', 'ext4 of /dev/sde on /var/lib/kubelet', 'hides', 'pv-fs1/mount']],
          ready: [],
          never: /[Ss]top (?:the|this) kubelet|Save what/,
          explain: 'pg/p-csi-fs',
        },
      )
  })
  it('a device that is gone, below a raw block volume', () => {
    const change = (mounts: string): string => mounts.replaceAll(' /loop3 ', ' /loop3//deleted ')
    holds(altered(change, true), {
      says: [['error OtherVolume', 'pg/p-csi-blk', '/dev/loop3', 'gone']],
      ready: [],
      explain: 'pg/p-csi-blk',
    })
  })
})

describe('S38: volumes of which only the PersistentVolume says what they are', () => {
  const FS = 'kubernetes.io~nfs/share'
  const nfs = (source: string, fsType = 'nfs4', server = 'nas.example', path = '/export/a'): NodeState =>
    new NodeBuilder()
      .livingPod(uid(2), 'app', [{ name: 'share', nfs: { server, path } }])
      .mount(`pods/${uid(2)}/volumes/${FS}`, { dev: '0:77', fsType, source })
      .build()
  const othersOf = (state: NodeState): string[] =>
    answersOf(state, undefined).findings.filter((each) => each.includes('OtherVolume'))

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
  ])('control, NFS: %s', (_, state) => expect(othersOf(state)).toEqual([]))

  type Of = Pick<PersistentVolume['spec'], 'local' | 'iscsi' | 'csi' | 'volumeMode'>
  /** A pod that runs with a volume of this source. */
  const withVolume = (source: Of, place: (built: NodeBuilder) => unknown): NodeState => {
    const built = new NodeBuilder()
    const { claim, volume } = boundVolume('pv-1', source)
    built.claims.push(claim)
    built.volumes.push(volume)
    built.livingPod(uid(2), 'app', [{ name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } }])
    if (source.volumeMode === 'Block')
      Object.assign(built.pods[1]?.spec.containers?.[0] ?? {}, { volumeMounts: [], volumeDevices: [{ name: 'v' }] })
    place(built)
    return built.build()
  }
  const POD = `pods/${uid(2)}/volumes/kubernetes.io~`
  /** A local volume of /mnt/disks/a, on which `mounted` is, and at the pod's place what `at` says. */
  const local = (at: { dev: string; root: string }, mounted?: string, path = '/mnt/disks/a'): NodeState =>
    withVolume({ local: { path } }, (built) => {
      if (mounted !== undefined) built.mountLine(path, '/', mounted, 'xfs', '/dev/sdb')
      built.mount(`${POD}local-volume/pv-1`, { ...at, fsType: 'xfs', source: '/dev/sdx' })
    })
  const LUN = 'plugins/kubernetes.io/iscsi/iface-default/10.0.0.9:3260-iqn.2001-04.com.example:a-lun-0'
  const iscsi = (dev: string, root = '/'): NodeState =>
    withVolume({ iscsi: { targetPortal: '10.0.0.9:3260', iqn: 'iqn.2001-04.com.example:a', lun: 0 } }, (built) => {
      built.mount(LUN, { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' })
      built.mount(`${POD}iscsi/pv-1`, { dev, root, fsType: 'ext4', source: '/dev/sdx' })
    })
  const MAPS = 'plugins/kubernetes.io~local-volume/volumeDevices/pv-1'
  const raw = (mapped: Parameters<NodeBuilder['mount']>[1]): NodeState =>
    withVolume({ local: { path: '/dev/sdb' }, volumeMode: 'Block' }, (built) => {
      built.mount(`${MAPS}/${uid(2)}`, mapped)
      built.link(`pods/${uid(2)}/volumeDevices/kubernetes.io~local-volume/pv-1`, `${ROOT}/${MAPS}/${uid(2)}`)
      built.loops.push({ name: '/dev/loop7', backingFile: `${ROOT}/${MAPS}/${uid(2)}` })
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
    ['a LUN, another disk', iscsi('8:32'), 'staged from /dev/sdb (8:16)'],
    ['a LUN, its global directory', iscsi('254:0', `${ROOT}/${LUN}`), 'on which nothing was mounted'],
    ['raw block, another disk', raw({ ...device, root: '/sdc' }), '/dev/sdb'],
    ['raw block, a file', raw({ dev: '254:0', root: '/x', fsType: 'ext4', type: 'file' }), 'a regular file'],
    ['SMB, another share', smb('//nas/share2'), '//nas/share'],
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
    ['SMB, a directory of the share', smb('//nas/share/dir')],
    ['an emptyDir on itself', empty('', `${ROOT}/${POD}empty-dir/e`)],
  ])('control: %s', (_, state) => expect(othersOf(state)).toEqual([]))

  it('a second PersistentVolume of one share: the staging that is left of it is unstaged', () => {
    const built = new NodeBuilder()
    for (const name of ['pv-a', 'pv-b']) built.persistentVolume(name, { attached: false }).staged(name, '0:61')
    built.livingPod(uid(2), 'app', [{ name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-a' } }])
    built.published(uid(2), 'pv-a', '0:61')
    const lines = built.mounts.map((line) => line.replace(/ext4 \/dev\/loop61/, 'cifs //nas/share'))
    built.mounts.splice(0, lines.length, ...lines)
    const { plan } = answersOf(built.build(), undefined)
    expect(plan.operations.map(({ kind, volume, blocked }) => [kind, volume?.name, blocked])).toEqual([
      ['UnmountDevice', 'pv-b', undefined],
    ])
  })

  const pending = (change: (built: NodeBuilder) => unknown, given: { accessModes?: string[] } = {}): NodeState => {
    const built = new NodeBuilder().persistentVolume('pv-1', given)
    const v = { name: 'v', persistentVolumeClaim: { claimName: 'claim-pv-1' } }
    built.pod(uid(2), 'app', [v, { name: 'e', emptyDir: { medium: 'Memory' } }], { phase: 'Pending' })
    change(built)
    Object.assign(built.override, { kubelet: { running: true, mayReturn: true } })
    return built.build()
  }
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
    expect(answersOf(state, undefined).findings.filter((each) => each.includes(`MountVolume ${text}`))).toHaveLength(1)
  })
})

describe('healthy nodes are told of nothing', () => {
  it('the healthy capture', () => {
    const { plan, troubles } = answersOf(healthy, undefined)
    expect([plan.problems, plan.operations, troubles]).toEqual([[], [], []])
  })

  /** What may stage and publish a volume, by device and root of both; one is one disk's. */
  const DISKS = [
    ['a disk', '8:16', '/', '/', 'ext4', '/dev/sdb'],
    ['a directory of it', '8:16', '/', '/data', 'ext4', '/dev/sdb'],
    ['a staged directory', '8:16', '/vol', '/vol/sub', 'xfs', '/dev/sdb'],
    ['device mapper', '253:4', '/', '/', 'xfs', '/dev/mapper/a'],
    ['multipath', '253:5', '/', '/', 'ext4', '/dev/mapper/mpatha'],
    ['a subvolume', '0:60', '/@vol', '/@vol', 'btrfs', '/dev/sdb'],
    ['NFS', '0:61', '/', '/', 'nfs4', 'nas:/export'],
    ['CIFS', '0:62', '/', '/dir', 'cifs', '//nas/share'],
    ['CephFS', '0:63', '/', '/', 'ceph', '10.0.0.1:6789,10.0.0.2:6789:/volumes/a'],
    ['FUSE', '0:64', '/', '/', 'fuse.s3', 's3'],
    ['a directory of the driver', '254:0', '/srv/driver/a', '/srv/driver/a', 'ext4', '/dev/vda'],
    ['below plugins', '254:0', '/var/lib/kubelet/plugins/d/v', '/var/lib/kubelet/plugins/d/v', 'ext4', '/dev/vda'],
  ] as const
  const volume = fc.record({
    disk: fc.constantFrom(...DISKS),
    isStaged: fc.boolean(),
    mode: fc.constantFrom('ReadWriteOnce', 'ReadWriteMany'),
    /** Of a network file system the pod's may be a mount of its own. */
    again: fc.boolean(),
  })
  const node = fc.record({
    root: fc.constantFrom<readonly [string, string, string]>(
      ['254:0', 'ext4', '/dev/vda'],
      ['254:0', 'ext4', '/dev/root'],
      ['0:25', 'overlay', 'overlay'],
    ),
    kubelet: fc.constantFrom('own disk', 'bound over itself', 'on the root disk'),
    volumes: fc.array(volume, { minLength: 1, maxLength: 5 }),
  })

  function build({
    root: [dev, fsType, source],
    kubelet,
    volumes,
  }: typeof node extends fc.Arbitrary<infer T> ? T : never): NodeState {
    const built = new NodeBuilder()
    built.mounts.length = 0
    built.mountLine('/', '/', dev, fsType, source)
    if (kubelet === 'own disk') built.mountLine('/var/lib/kubelet', '/', '8:240', 'xfs', '/dev/sdp')
    if (kubelet === 'bound over itself') built.mountLine('/var/lib/kubelet', '/var/lib/kubelet', dev, fsType, source)
    for (const [n, { disk, isStaged, mode, again }] of volumes.entries()) {
      const [, device, staged, published, type, from] = disk
      const isNetwork = device.startsWith('0:6') && type !== 'btrfs'
      // One disk each, but for directories and network file systems.
      const own = isNetwork || device === '254:0' ? device : device.replace(/\d$/, (last) => `${last}${n}`)
      const name = `pv-${n}`
      const below = device === '254:0' || isNetwork ? `${n}` : ''
      built.persistentVolume(name, { accessModes: [mode] })
      built.livingPod(uid(10 + n), `app-${n}`, [{ name: 'v', persistentVolumeClaim: { claimName: `claim-${name}` } }])
      const at = { fsType: type, source: isNetwork ? `${from}${below}` : from }
      built.staged(name, own)
      const line = built.mounts.pop() ?? ''
      const [, , , , point = ''] = line.split(' ')
      if (isStaged) built.mountLine(point, `${staged}${device === '254:0' ? below : ''}`, own, at.fsType, at.source)
      else
        for (const path of [...built.tree.keys()]) if (path.startsWith('plugins/kubernetes.io')) built.tree.delete(path)
      const isAgain = again && isNetwork
      built.published(uid(10 + n), name, own)
      const [, , , , target = ''] = (built.mounts.pop() ?? '').split(' ')
      built.mountLine(
        target,
        `${published}${device === '254:0' ? below : ''}`,
        isAgain ? `0:9${n}` : own,
        at.fsType,
        at.source,
      )
    }
    return built.build()
  }

  it('300 of them', () => {
    fc.assert(
      fc.property(node, (random) => {
        const { findings } = answersOf(build(random), undefined)
        expect(findings.filter((each) => /OtherVolume|MountStorm|NotMounted/.test(each))).toEqual([])
      }),
      { numRuns: 300, seed: 1138 },
    )
    expect(DRIVER).toBe('disk.test')
  })
})

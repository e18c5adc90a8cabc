/** The SELinux label that a volume is mounted with, and what keeps it from being mounted (C68, R310, R824). */
import { describe, expect, it } from 'vitest'
import type { CsiDriver, PersistentVolume } from '../../../src/core/kube/api/objects.ts'
import type { Plan } from '../../../src/core/plan/plan.ts'
import type { NodeSnapshot } from '../../../src/core/volumes/snapshot.ts'
import { csiGlobalDir } from '../../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, ROOT, uid } from '../../helpers/node-builder.ts'
import { csiDriverObject } from '../../helpers/objects.ts'
import { blocked, plan, WANTS_PV_1 } from '../planned.ts'

const FILE_LABEL = 'system_u:object_r:container_file_t:s0'
const ON = { enabled: true, fileLabel: FILE_LABEL }
const LEVEL = 's0:c10,c20'
const LABEL = `system_u:object_r:container_file_t:${LEVEL}`

interface Given {
  readonly selinux?: NodeSnapshot['selinux'] | null
  readonly modes?: string[]
  readonly driver?: CsiDriver['spec']
  readonly pod?: object
  /** Options of each container. */
  readonly containers?: readonly object[]
  /** The kubelet's feature gate SELinuxMount. */
  readonly gate?: boolean
  /** Of the volume; default: CSI. */
  readonly source?: PersistentVolume['spec']
}

function scene(given: Given = {}): NodeBuilder {
  const { selinux = ON, modes = ['ReadWriteOncePod'], driver, pod, containers = [{}], gate, source } = given
  const volumeMounts = [{ name: 'v', mountPath: '/data' }]
  const spec = {
    securityContext: pod ?? { seLinuxOptions: { level: LEVEL } },
    containers: containers.map((seLinuxOptions, index) => ({
      name: `c${index}`,
      volumeMounts,
      securityContext: Object.keys(seLinuxOptions).length === 0 ? {} : { seLinuxOptions },
    })),
  }
  const kubelet = { running: false, mayReturn: false, config: { featureGates: { SELinuxMount: gate } } }
  return node()
    .persistentVolume('pv-1', { accessModes: modes, ...(source && { source, inUse: false }) })
    .pod(uid(2), 'app', WANTS_PV_1, { spec })
    .with({ ...(selinux === null ? {} : { selinux }), ...(gate !== undefined && { kubelet }) } as never)
    .withApi({ csiDrivers: [csiDriverObject(DRIVER, driver ?? { seLinuxMount: true })] })
}

function labels(given: Given): string[] {
  const made = plan(scene(given))
  expect(blocked(made)).toEqual([])
  const steps = made.operations.flatMap((each) => each.steps)
  expect(steps.map(({ op }) => op)).toEqual([
    'mkdir',
    'writeVolumeData',
    'NodeStageVolume',
    'mkdir',
    'writeVolumeData',
    'NodePublishVolume',
  ])
  return [...new Set(steps.filter(({ op }) => op !== 'mkdir').map(({ label }) => label ?? ''))]
}

const mismatches = ({ problems }: Plan) => problems.filter(({ code }) => code === 'SELinuxMismatch')

describe('the label of a CSI volume (C68, R310)', () => {
  const itself = { seLinuxOptions: { level: LEVEL } }
  it.each<[name: string, given: Given, want: string]>([
    ["the pod's level", {}, LABEL],
    [
      "the pod's user and level, and neither its role nor its type",
      { pod: { seLinuxOptions: { user: 'u', role: 'r', type: 'spc_t', level: LEVEL } } },
      `u:object_r:container_file_t:${LEVEL}`,
    ],
    [
      "a container's own options go before the pod's",
      { containers: [{ level: 's0:c1' }] },
      'system_u:object_r:container_file_t:s0:c1',
    ],
    ['none without options', { pod: {} }, ''],
    ['none with empty options', { pod: { seLinuxOptions: { level: '' } } }, ''],
    ['none without SELinux', { selinux: { enabled: false } }, ''],
    ['none where the driver does not say that it can', { driver: { seLinuxMount: false } }, ''],
    ['none where the pod wants its files relabelled', { pod: { ...itself, seLinuxChangePolicy: 'Recursive' } }, ''],
    ['the policy that a pod has by default', { pod: { ...itself, seLinuxChangePolicy: 'MountOption' } }, LABEL],
    ['none for another access mode', { modes: ['ReadWriteOnce'] }, ''],
    ['every access mode with the feature gate', { modes: ['ReadWriteOnce'], gate: true }, LABEL],
  ])('%s', (_name, given, want) => {
    expect(labels(given)).toEqual([want])
  })

  it.each<[name: string, given: Given, says: string]>([
    ['two labels', { containers: [{ level: 's0:c1' }, { level: 's0:c2' }] }, 'want different labels'],
    ['no level', { pod: { seLinuxOptions: { type: 'spc_t' } } }, 'at random'],
    ['a snapshot of nobody who looked', { selinux: null }, 'is not known'],
    ['a policy that could not be read', { selinux: { enabled: true, error: 'EACCES' } }, 'EACCES'],
    [
      'what would end the option',
      { pod: { seLinuxOptions: { level: 's0",suid,x="' } } },
      'is not a valid SELinux label',
    ],
  ])('%s blocks it', (_name, given, says) => {
    const made = plan(scene(given))
    expect(blocked(made)).toEqual(['MountVolume LeftToKubelet'])
    expect(made.operations[0]?.blocked?.message).toContain(says)
  })
})

/** Staged, and published to the pod where `published`, with these in the state files. */
function mounted(label: string, published: boolean): NodeBuilder {
  const built = scene()
  const more = label === '' ? {} : { seLinuxMountContext: label }
  const record = (path: string) =>
    built.file(path, JSON.stringify({ driverName: DRIVER, volumeHandle: 'pv-1', ...more }))
  built.staged('pv-1', '7:1', { stateFile: false })
  record(`${csiGlobalDir(DRIVER, 'pv-1')}/vol_data.json`)
  if (published) {
    const dir = `pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1`
    built.mount(`${dir}/mount`, { dev: '7:1', fsType: 'ext4', source: '/dev/loop1' })
    record(`${dir}/vol_data.json`)
  }
  return built
}

describe('another label than the one that is there', () => {
  it.each([
    { label: 'system_u:object_r:old_t:s0', says: 'with the SELinux label system_u:object_r:old_t:s0' },
    { label: '', says: 'without an SELinux label' },
  ])('a volume that runs keeps it, and it is said (R824, T144): "$label"', ({ label, says }) => {
    const made = plan(mounted(label, true))
    expect(made.operations).toEqual([])
    expect(mismatches(made)).toMatchObject([
      { message: expect.stringContaining(`mounted ${says}, but the pod wants it with`) },
    ])
  })

  it('nobody knows whether it is another label where the CSIDriver may not be read (S3)', () => {
    const built = mounted(LABEL, true)
    const errors = [{ resource: 'csidrivers', status: 403, reason: 'Forbidden', message: 'no' }]
    built.withApi({ csiDrivers: [], errors } as never)
    const made = plan(built)
    expect(mismatches(made)).toEqual([])
  })

  it.each([
    { label: LABEL, want: [] },
    { label: '', want: ['MountVolume SELinuxMismatch'] },
    { label: 'system_u:object_r:old_t:s0', want: ['MountVolume SELinuxMismatch'] },
  ])('staged with "$label"', ({ label, want }) => {
    expect(blocked(plan(mounted(label, false)))).toEqual(want)
  })
})

/** A second pod of the volume, which nobody has yet; both of them with their own security context. */
function shared(first: object, second: object): NodeBuilder {
  const built = scene({ pod: first, modes: ['ReadWriteMany'], gate: true })
  return built.livingPod(uid(3), 'other', [], { spec: { ...built.pods.at(-1)?.spec, securityContext: second } })
}

describe('two pods of one volume: the first one’s label counts (R312, TestCheckVolumeSELinux, SELinux_MultiplePods)', () => {
  const own = (level: string, seLinuxChangePolicy?: string) => ({
    seLinuxOptions: { level },
    seLinuxChangePolicy,
  })
  const recursive = own(LEVEL, 'Recursive')
  const MISMATCH = ['MountVolume SELinuxMismatch']
  it.each<[name: string, first: object, second: object, want: string[]]>([
    ['equal labels', own(LEVEL), own(LEVEL), []],
    ['other labels', own(LEVEL), own('s0:c3'), MISMATCH],
    ['one has none', own(LEVEL), {}, MISMATCH],
    ['only one has its files relabelled', recursive, own(LEVEL), MISMATCH],
    ['both have, with other options', recursive, own('s0:c3', 'Recursive'), []],
  ])('%s', (_name, first, second, want) => {
    const made = plan(shared(first, second))
    expect(blocked(made)).toEqual(want)
    expect(made.operations.map(({ pod, blocked }) => [pod?.uid, blocked?.code])).toEqual([
      [uid(2), undefined],
      [uid(3), want[0]?.split(' ')[1]],
    ])
  })

  it('the first is the one that has it', () => {
    const built = shared(own('s0:c3'), own(LEVEL))
    const record = JSON.stringify({ driverName: DRIVER, volumeHandle: 'pv-1' })
    const dir = `pods/${uid(3)}/volumes/kubernetes.io~csi/pv-1`
    built
      .mount(`${dir}/mount`, { dev: '7:1', fsType: 'ext4', source: '/dev/loop1' })
      .file(`${dir}/vol_data.json`, record)
    const made = plan(built)
    expect(made.operations.map(({ pod, blocked }) => [pod?.uid, blocked?.code])).toEqual([[uid(2), 'SELinuxMismatch']])
    expect(made.operations[0]?.blocked?.message).toMatch(/^pod default\/other has pv-1 mounted/)
  })
})

const NAME = 'kubernetes.io/iscsi/10.0.0.1:iqn.2003-01.test:disk:1'
const GLOBAL = 'plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-iqn.2003-01.test:disk-lun-1'
const TARGET = `pods/${uid(2)}/volumes/kubernetes.io~iscsi/pv-1`

it.each([
  { there: 'its own label', option: `context="${LABEL}"`, want: [] },
  { there: 'another label', option: 'context="system_u:object_r:old_t:s0:c1,c2"', want: ['old_t:s0:c1,c2, but'] },
  { there: 'no label', option: '', want: ['without an SELinux label, but'] },
])('LUNs: a pod keeps what it has, a mount with $there, and what differs is said (R808, R824)', ({ option, want }) => {
  const iscsi = { targetPortal: '10.0.0.1', iqn: 'iqn.2003-01.test:disk', lun: 1 }
  const built = scene({ source: { iscsi } })
  built.attached.push(NAME)
  built.inUse.push(NAME)
  for (const path of [GLOBAL, TARGET]) {
    built.mount(path, { dev: '8:16', fsType: 'ext4', source: '/dev/sdb' })
    built.mounts.push(`${built.mounts.pop()}${option === '' ? '' : `,${option}`},data=ordered`)
  }
  const made = plan(built)
  expect(made.operations).toEqual([])
  expect(mismatches(made)).toMatchObject(
    want.map((part) => ({ about: { path: `${ROOT}/${TARGET}` }, message: expect.stringContaining(part) })),
  )
})

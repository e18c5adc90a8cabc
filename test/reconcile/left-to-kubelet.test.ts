/** iSCSI, FC and flexVolumes that a pod wants: they wait for the kubelet, and nothing of them is planned (P14, P72, P79; S22). */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'
import { globalPathOf } from '../../src/core/volumes/registry.ts'
import { claimOf, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { plan, waits } from './planned.ts'

const ISCSI = { targetPortal: '10.0.0.1', iqn: 'iqn.2003-01.test:disk', lun: 1 }
const FC = { targetWWNs: ['50060e801049cfd1', '50060e801049cfd2'], lun: 3 }
const FLEX = { driver: 'v/d' }

const SOURCES = [
  { kind: 'iSCSI', source: { iscsi: ISCSI } },
  { kind: 'Fibre Channel', source: { fc: FC } },
  { kind: 'flexVolume', source: { flexVolume: FLEX } },
] as const

type Sources = Partial<Omit<PodVolumeSource, 'name'>>

function withDriver(built = node()): NodeBuilder {
  built.flexDrivers = [{ name: 'v/d', executable: '/exec/v~d/d' }]
  return built
}

/** Attached and in use under its unique name, in pods of these numbers. */
function wanting(source: Sources, { pods = [2], built = withDriver() }: { pods?: number[]; built?: NodeBuilder } = {}) {
  for (const n of pods) built.pod(uid(n), `app-${n}`, [{ name: 'v', ...source }])
  return attached(built)
}

function wantedBy(built: NodeBuilder) {
  return desiredStateOfPods(built.pods, built.build().snapshot.api as never).volumes
}

function attached(built: NodeBuilder): NodeBuilder {
  const names = wantedBy(built).flatMap(({ uniqueName, attachability }) =>
    attachability === 'attachable' ? [uniqueName] : [],
  )
  built.inUse.push(...names)
  built.attached.push(...names)
  return built
}

function persistent(source: PersistentVolume['spec'], mode: 'Filesystem' | 'Block' = 'Filesystem'): NodeBuilder {
  const claim = claimOf('v')
  const devices = mode === 'Block' ? ['data'] : []
  return attached(withDriver(node().persistentVolume('v', { mode, source }).pod(uid(2), 'app', [claim], { devices })))
}

describe.each(SOURCES)('$kind', ({ kind, source }) => {
  it('waits for the kubelet to start', () => {
    const made = plan(wanting(source))
    expect([made.operations, made.problems]).toEqual([[], []])
    expect(made.waiting).toMatchObject([
      {
        kind: 'MountVolume',
        code: 'LeftToKubelet',
        message: `the kubelet sets up ${kind} volumes when it starts`,
        hint: expect.stringMatching(/^Start the kubelet.*: it sets up the volume\.$/),
        pod: { uid: uid(2) },
      },
    ])
    expect(made.summary.causes).toMatchObject([{ code: 'LeftToKubelet', severity: 'info' }])
  })
})

it('the attach/detach controller is waited for first (S22)', () => {
  const unlisted = node().pod(uid(2), 'app', [{ name: 'v', iscsi: ISCSI }])
  expect(waits(plan(unlisted))).toEqual(['MountVolume NotAttached'])
  const unreported = withDriver().pod(uid(2), 'app', [{ name: 'v', flexVolume: FLEX }])
  unreported.attached.push('v/d/v')
  expect(waits(plan(unreported))).toEqual(['MountVolume NotReportedInUse'])
})

it.each([
  { name: 'not installed', drivers: [], says: 'is not installed on this node' },
  {
    name: 'not executable',
    drivers: [{ name: 'v/d', executable: '/exec/v~d/d', error: 'EACCES' }],
    says: 'cannot be run: /exec/v~d/d: EACCES',
  },
])('flexVolume: a driver that is $name is waited for: no kubelet calls it', ({ drivers, says }) => {
  const made = plan(wanting({ flexVolume: FLEX }).with({ flexDrivers: drivers }))
  expect(waits(made)).toEqual(['MountVolume DriverUnavailable'])
  expect(made.waiting[0]?.message).toContain(says)
})

describe('global paths', () => {
  const pathOf = (spec: Partial<PersistentVolume['spec']>, mode: 'Filesystem' | 'Block' = 'Filesystem') => {
    const [volume] = wantedBy(persistent({ ...spec, volumeMode: mode }, mode))
    return volume && globalPathOf(volume)
  }

  it.each<{ name: string; source: Partial<NonNullable<PodVolumeSource['iscsi']>> }>([
    { name: 'a portal that is an option', source: { targetPortal: '-x' } },
    { name: 'a portal that leads elsewhere', source: { targetPortal: '../..' } },
    { name: 'a target that is a path', source: { iqn: 'iqn.2003-01.x/../../..' } },
    { name: 'a target that is no name', source: { iqn: 'disk' } },
    { name: 'an interface that is a path', source: { iscsiInterface: 'a/b' } },
    { name: 'an interface that is an option', source: { iscsiInterface: '-I' } },
  ])('of iSCSI none: $name', ({ source }) => {
    expect(pathOf({ iscsi: { ...ISCSI, ...source } })).toBeUndefined()
  })

  it('of FC by WWIDs', () =>
    expect(pathOf({ fc: { wwids: ['3600508b4', 'VENDOR 36'] } })).toBe('plugins/kubernetes.io/fc/3600508b4-VENDOR_36'))

  it.each(['../../etc', '..', 'a/b', 'a\nb'])('of FC none: %j', (name) => {
    expect(pathOf({ fc: { wwids: [name] } })).toBeUndefined()
    expect(pathOf({ fc: { targetWWNs: [name], lun: 0 } })).toBeUndefined()
  })
})

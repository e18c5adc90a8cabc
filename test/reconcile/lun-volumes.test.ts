/** iSCSI and FC volumes that a pod wants: the steps, and what blocks them (P14, P72-P75, P79-P83, P98, P99; S22). */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PodVolumeSource } from '../../src/core/model/objects.ts'
import { pluginNamed } from '../../src/core/plugins/registry.ts'
import { desiredStateOfPods } from '../../src/core/populator/populate.ts'
import { type NodeBuilder, node, ROOT, uid } from '../helpers/node-builder.ts'
import { blocked, plan, waits } from './planned.ts'

const IQN = 'iqn.2003-01.test:disk'
const ISCSI = { targetPortal: '10.0.0.1', iqn: IQN, lun: 1 }
const FC = { targetWWNs: ['50060e801049cfd1', '50060e801049cfd2'], lun: 3 }

type Sources = Partial<PodVolumeSource>

/** Attached and in use under its unique name, in pods of these numbers. */
function wanting(source: Sources, pods: readonly number[] = [2], built = node()): NodeBuilder {
  for (const n of pods) built.pod(uid(n), `app-${n}`, [{ name: 'v', ...source }])
  return attached(built)
}

function attached(built: NodeBuilder): NodeBuilder {
  const api = built.build().snapshot.api
  const names = desiredStateOfPods(built.pods, api as never).volumes.map(({ uniqueName }) => uniqueName)
  built.inUse.push(...names)
  built.attached.push(...names)
  return built
}

function persistent(spec: Partial<PersistentVolume['spec']>, { readOnly = false, annotations = {} } = {}): NodeBuilder {
  const built = node().persistentVolume('v', { attached: false })
  const [volume] = built.volumes
  if (volume === undefined) throw new Error('no volume')
  const { csi: _, ...rest } = volume.spec
  built.volumes.splice(0, 1, { metadata: { ...volume.metadata, annotations }, spec: { ...rest, ...spec } })
  built.pod(uid(2), 'app', [{ name: 'data', persistentVolumeClaim: { claimName: 'claim-v', readOnly } }])
  return attached(built)
}

const steps = (built: NodeBuilder) =>
  plan(built).operations.map(({ steps }) =>
    steps.map(({ op, target, source, fsType, options, detail, ownership }) =>
      [op, target.replace(`${ROOT}/`, ''), source?.replace(`${ROOT}/`, ''), fsType, options?.join(','), detail]
        .concat(ownership === undefined ? [] : [`gid ${ownership.gid}${ownership.ignoreErrors ? ' ignored' : ''}`])
        .filter((each) => each !== undefined)
        .join(' '),
    ),
  )
const podDir = (plugin: string, n = 2) => `pods/${uid(n)}/volumes/${plugin}/v`

describe('iSCSI', () => {
  const global = `plugins/kubernetes.io/iscsi/iface-default/10.0.0.1:3260-${IQN}-lun-1`
  const first = [`mkdir ${global}`, `writeIscsiRecord ${global}/iscsi.json`, `iscsiLogin ${global}`]
  const bind = (n = 2) => [
    `mkdir ${podDir('kubernetes.io~iscsi', n)}`,
    `mount ${podDir('kubernetes.io~iscsi', n)} ${global} bind`,
  ]

  it('inline: its type, no options of its own', () => {
    expect(steps(wanting({ iscsi: { ...ISCSI, fsType: 'xfs' } }))).toEqual([
      [...first, `mountDevice ${global} xfs`, ...bind()],
    ])
  })

  it('of two pods the first brings the device', () => {
    const built = wanting({ iscsi: ISCSI }, [2, 3])
    expect(steps(built)).toEqual([[...first, `mountDevice ${global}`, ...bind()], bind(3)])
    const [one, two] = plan(built).operations
    expect(two?.after).toEqual([one?.id])
  })

  it('a PersistentVolume’s options are merged and sorted, read-only by its claim (P19, P75)', () => {
    const built = persistent({ iscsi: { ...ISCSI, readOnly: true }, mountOptions: ['noatime', 'discard'] })
    expect(steps(built)[0]?.slice(3)).toEqual([
      `mountDevice ${global} discard,noatime`,
      `mkdir ${podDir('kubernetes.io~iscsi')}`,
      `mount ${podDir('kubernetes.io~iscsi')} ${global} bind,discard,noatime`,
    ])
    const readOnly = persistent({ iscsi: ISCSI, mountOptions: ['noatime'] }, { readOnly: true })
    expect(steps(readOnly)[0]?.slice(3)).toEqual([
      `mountDevice ${global} noatime,ro`,
      `mkdir ${podDir('kubernetes.io~iscsi')}`,
      `mount ${podDir('kubernetes.io~iscsi')} ${global} bind,noatime,ro`,
    ])
  })

  it('its group is set where it is writable, and a failure of that is no failure (P34, P75)', () => {
    const built = wanting({ iscsi: ISCSI })
    Object.assign(built.pods.at(-1)?.spec ?? {}, { securityContext: { fsGroup: 7 } })
    expect(steps(built)[0]?.at(-1)).toBe(`setOwnership ${podDir('kubernetes.io~iscsi')} gid 7 ignored`)
  })

  it('waits for the controller (S22)', () => {
    expect(waits(plan(node().pod(uid(2), 'app', [{ name: 'v', iscsi: ISCSI }])))).toEqual(['MountVolume NotAttached'])
  })

  it.each<{ name: string; source: Partial<NonNullable<PodVolumeSource['iscsi']>>; code: string }>([
    {
      name: 'CHAP of the session',
      source: { chapAuthSession: true, secretRef: { name: 's' } },
      code: 'LeftToKubelet',
    },
    { name: 'CHAP of discovery', source: { chapAuthDiscovery: true }, code: 'LeftToKubelet' },
    { name: 'a portal that is an option', source: { targetPortal: '-x' }, code: 'InvalidVolume' },
    { name: 'a portal that leads elsewhere', source: { targetPortal: '../..' }, code: 'InvalidVolume' },
    { name: 'a further portal that is none', source: { portals: ['a b'] }, code: 'InvalidVolume' },
    { name: 'a target that is a path', source: { iqn: 'iqn.2003-01.x/../../..' }, code: 'InvalidVolume' },
    { name: 'a target that is no name', source: { iqn: 'disk' }, code: 'InvalidVolume' },
    { name: 'an interface that is a path', source: { iscsiInterface: 'a/b' }, code: 'InvalidVolume' },
    { name: 'an interface that is an option', source: { iscsiInterface: '-I' }, code: 'InvalidVolume' },
    { name: 'an initiator that is an option', source: { initiatorName: '--logout' }, code: 'InvalidVolume' },
  ])('$name blocks it: $code', ({ source, code }) => {
    expect(blocked(plan(wanting({ iscsi: { ...ISCSI, ...source } })))).toEqual([`MountVolume ${code}`])
  })
})

describe('raw block: every pod’s operation finds the device, and maps it (P83, P98, P99)', () => {
  const block = (spec: Partial<PersistentVolume['spec']>): NodeBuilder => {
    const built = persistent({ ...spec, volumeMode: 'Block' })
    built.claims.splice(0, 1, {
      metadata: { name: 'claim-v', namespace: 'default', uid: 'claim-uid-v' },
      spec: { volumeName: 'v', volumeMode: 'Block' },
      status: { phase: 'Bound' },
    })
    const containers = [{ name: 'c', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }]
    Object.assign(built.pods.at(-1)?.spec ?? {}, { containers })
    return attached(built)
  }
  const iscsiMap = `plugins/kubernetes.io/iscsi/volumeDevices/iface-default/10.0.0.1:3260-${IQN}-lun-1`
  const fcMap = 'plugins/kubernetes.io/fc/volumeDevices/50060e801049cfd1-50060e801049cfd2-lun-3'
  it.each([
    {
      name: 'iscsi',
      spec: { iscsi: ISCSI },
      map: iscsiMap,
      find: [`writeIscsiRecord ${iscsiMap}/iscsi.json`, `iscsiLogin ${iscsiMap}`],
    },
    { name: 'fc', spec: { fc: FC }, map: fcMap, find: [`fcFind ${fcMap}`] },
  ])('$name', ({ name, spec, map, find }) => {
    const built = block(spec)
    expect(plan(built).operations.map(({ kind }) => kind)).toEqual(['MapVolume'])
    // S26: what is mapped there meanwhile is somebody's.
    expect(plan(built).operations[0]?.expects).toEqual([{ path: `${ROOT}/${map}/${uid(2)}`, layers: [] }])
    expect(steps(built)).toEqual([
      [
        `mkdir ${map}`,
        ...find,
        `mapDevice ${map}/${uid(2)}`,
        `symlink pods/${uid(2)}/volumeDevices/kubernetes.io~${name}/v`,
        `losetup -f ${map}/${uid(2)}`,
      ],
    ])
  })
})

describe('FC', () => {
  it.each([
    { name: 'WWNs', fc: FC, id: '50060e801049cfd1-50060e801049cfd2-lun-3' },
    { name: 'WWIDs', fc: { wwids: ['3600508b4', 'VENDOR 36'] }, id: '3600508b4-VENDOR_36' },
    { name: 'both: WWNs', fc: { ...FC, wwids: ['3600508b4'] }, id: '50060e801049cfd1-50060e801049cfd2-lun-3' },
  ])('by $name (P79, P81)', ({ fc, id }) => {
    const global = `plugins/kubernetes.io/fc/${id}`
    expect(steps(wanting({ fc }))).toEqual([
      [
        `mkdir ${global}`,
        `fcFind ${global}`,
        `mountDevice ${global}`,
        `mkdir ${podDir('kubernetes.io~fc')}`,
        `mount ${podDir('kubernetes.io~fc')} ${global} bind`,
      ],
    ])
  })

  it.each(['../../etc', '..', 'a/b', 'a\nb'])('the name %j blocks it', (name) => {
    expect(blocked(plan(wanting({ fc: { wwids: [name] } })))).toEqual(['MountVolume InvalidVolume'])
    expect(blocked(plan(wanting({ fc: { targetWWNs: [name], lun: 0 } })))).toEqual(['MountVolume InvalidVolume'])
  })
})

it.each([
  { mode: 'Filesystem', maps: '' },
  { mode: 'Block', maps: 'volumeDevices/' },
])('global paths of mode $mode (P72, P79)', ({ mode, maps }) => {
  const path = (spec: Partial<PersistentVolume['spec']>) => {
    const built = persistent({ ...spec, volumeMode: mode })
    built.claims.splice(0, 1, {
      ...(built.claims[0] as never as object),
      spec: { volumeName: 'v', volumeMode: mode },
    } as never)
    const [pod] = built.pods.slice(-1)
    if (mode === 'Block') {
      Object.assign(pod?.spec ?? {}, {
        containers: [{ name: 'c', volumeDevices: [{ name: 'data', devicePath: '/dev/x' }] }],
      })
    }
    const [volume] = desiredStateOfPods(pod === undefined ? [] : [pod], built.build().snapshot.api as never).volumes
    return volume && pluginNamed(volume.plugin).globalPath(volume)
  }
  expect(path({ iscsi: { ...ISCSI, initiatorName: 'iqn.2003-01.test:me' } })).toBe(
    `plugins/kubernetes.io/iscsi/${maps}iface-10.0.0.1:3260:v/10.0.0.1:3260-${IQN}-lun-1`,
  )
  expect(path({ fc: FC })).toBe(`plugins/kubernetes.io/fc/${maps}50060e801049cfd1-50060e801049cfd2-lun-3`)
})

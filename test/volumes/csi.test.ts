/** How CSI volumes are planned, and what stands in their way (C106; S17, S22); steps, real ones: privileged/set-up/csi.test.ts. */
import { describe, expect, it } from 'vitest'
import type { CsiDriver, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import type { Operation } from '../../src/core/plan/plan.ts'
import { planNode } from '../../src/core/reconcile/plan-node.ts'
import { csiGlobalDir } from '../../src/core/volumes/volume-names.ts'
import { claimOf, DRIVER, type NodeBuilder, node, uid, volumeData } from '../helpers/node-builder.ts'
import { planOptions } from '../helpers/plan-options.ts'

const CLAIM: PodVolumeSource = claimOf('pv-1', 'v')
const INLINE: PodVolumeSource = { name: 'v', csi: { driver: DRIVER } }
const GLOBAL = csiGlobalDir(DRIVER, 'pv-1')
const TARGET = `pods/${uid(2)}/volumes/kubernetes.io~csi/pv-1`

const wanting = (volume = CLAIM, built = node().persistentVolume('pv-1')): NodeBuilder =>
  built.livingPod(uid(2), 'app', [volume])

const planned = (built: NodeBuilder, options: Parameters<typeof planOptions>[0] = {}): readonly Operation[] =>
  planNode(built.build(), planOptions(options)).operations

const driver = (spec: CsiDriver['spec']) => ({ csiDrivers: [{ metadata: { name: DRIVER, uid: 'd' }, spec }] })

it('staged once more where no pod shows that it was staged to the end (C120)', () => {
  const [operation] = planned(wanting().staged('pv-1', '7:1'))
  expect(operation?.steps.map(({ op }) => op)).toContain('NodeStageVolume')
})

it('staged and published once more where the state file of its staged mount is lost (C93, O5)', () => {
  const lost = wanting().staged('pv-1', '7:1', { stateFile: false }).published(uid(2), 'pv-1', '7:1')
  const [operation] = planned(lost)
  expect(operation?.reason).toBe('StateFileMissing')
  expect(operation?.steps.map(({ op }) => op)).toEqual([
    ...['mkdir', 'writeVolumeData', 'NodeStageVolume'],
    ...['mkdir', 'writeVolumeData', 'NodePublishVolume'],
  ])
})

it('no step gives a volume to the group of its pod where the driver does (C62)', () => {
  const socket = { path: 'plugins_registry/d.sock', driver: DRIVER, registered: true }
  const built = node()
    .persistentVolume('pv-1')
    .livingPod(uid(2), 'app', [CLAIM], { spec: { securityContext: { fsGroup: 5 } } })
    .withApi(driver({ attachRequired: true, fsGroupPolicy: 'File' }))
    .with({ csiSockets: [{ ...socket, capabilities: ['VOLUME_MOUNT_GROUP'] }] })
  const [operation] = planned(built)
  expect(operation?.steps.map(({ op }) => op)).toEqual(['mkdir', 'mkdir', 'writeVolumeData', 'NodePublishVolume'])
})

describe('what stands in the way', () => {
  const codes = (built: NodeBuilder, options = {}): (string | undefined)[] =>
    planned(built, options).map(({ blocked }) => blocked?.code)
  const withDriver = (spec: CsiDriver['spec'], volume = CLAIM): NodeBuilder => {
    const built = wanting(volume).withApi(driver({ attachRequired: true, ...spec }))
    return built
  }
  it.each<[string, NodeBuilder, string | undefined]>([
    [
      'inline, and the CSIDriver lists Persistent alone',
      withDriver({ volumeLifecycleModes: ['Persistent'] }, INLINE),
      'InvalidVolume',
    ],
    ['persistent, and it lists Ephemeral alone', withDriver({ volumeLifecycleModes: ['Ephemeral'] }), 'InvalidVolume'],
    ['a file below the staging path', wanting().file(`${GLOBAL}/globalmount/data`, 'x'), 'DataUnderMountPoint'],
    ['a driver’s own notes below it', wanting().file(`${GLOBAL}/globalmount/image-meta.json`, '{}'), undefined],
    ['a file below the target', wanting().file(`${TARGET}/mount/data`, 'x'), 'DataUnderMountPoint'],
  ])('%s', (_name, built, code) => {
    expect(codes(built)).toContain(code)
  })
  it('no CSIDriver: persistent volumes alone (C105)', () => {
    const built = wanting(INLINE, node()).withApi({ csiDrivers: [] })
    expect(codes(built)).toEqual(['InvalidVolume'])
    const other = wanting().withApi({ csiDrivers: [] })
    expect(codes(other)).toEqual([undefined])
  })
  it('CSIDrivers that could not be read', () => {
    const built = wanting(INLINE, node())
    const error = { resource: 'csidrivers', status: 403, reason: 'Forbidden', message: 'no' }
    built.withApi({ csiDrivers: [], errors: [error] })
    expect(codes(built)).toEqual(['CsiDriverUnknown'])
  })
  it('a lost state file: the device must be that of the directory with the handle’s hash (S17)', () => {
    const lost = (built: NodeBuilder): NodeBuilder => built.published(uid(2), 'pv-1', '7:1', { stateFile: false })
    const given = { handles: { 'pv-1': 'pv-1' } }
    expect(codes(lost(wanting()).staged('pv-1', '7:1'))).toEqual([undefined])
    expect(codes(lost(wanting()))).toEqual(['IdentityUnconfirmed'])
    expect(codes(lost(wanting()), given)).toEqual([undefined])
    expect(codes(lost(wanting()), { handles: { 'pv-1': 'other' } })).toEqual(['IdentityUnconfirmed'])
    const other = lost(wanting()).staged('other', '7:1')
    expect(codes(other)).toContain('IdentityUnconfirmed')
    // O31: a kubelet that runs writes it again.
    expect(codes(lost(wanting()).with({ kubelet: { running: true, mayReturn: true } }))).toEqual([])
    expect(codes(other, given)).toContain('IdentityUnconfirmed')
  })
})

it.each<[string, string, boolean]>([
  ['empty', '', true],
  ['two values, the first of them whole (C12)', `${volumeData('pv-1', 'pv-1')}{"x"`, false],
])('a state file that is %s: it is written anew, or not (C93, C94)', (_name, content, want) => {
  const built = wanting().staged('pv-1', '7:1').published(uid(2), 'pv-1', '7:1', { stateFile: false })
  built.file(`${TARGET}/vol_data.json`, content)
  expect(planned(built).map(({ reason }) => reason)).toEqual(want ? ['StateFileMissing'] : [])
})

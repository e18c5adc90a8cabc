/** Requests to a driver's node service, field by field (C52, C55-C62, C100; upstream's tables). */
import { describe, expect, it } from 'vitest'
import { publishState } from '../../../src/core/apply/csi/csi-publish.ts'
import { type CsiFacts, expandRequest, publishRequest, stageRequest } from '../../../src/core/apply/csi/csi-requests.ts'
import type { CsiDriver, PersistentVolume, Pod, PodVolumeSource } from '../../../src/core/kube/api/objects.ts'
import { goJson } from '../../../src/core/trust/digest.ts'
import { allowsLifecycle, kubeletSetsGroup } from '../../../src/core/volumes/csi-volume.ts'
import type { VolumeToMount } from '../../../src/core/volumes/desired-state.ts'
import { csiUniqueName } from '../../../src/core/volumes/volume-names.ts'

const UID = '11111111-2222-3333-4444-555555555555'
const DRIVER = 'hostpath.csi.k8s.io'
const HANDLE = 'vol-001'
const STAGING =
  '/k/plugins/kubernetes.io/csi/hostpath.csi.k8s.io/3e3056fe9f7966ee6fd9db9024187b7c9ad1c73fb6323780abfcfc6a53dac830/globalmount'

const podOf = (spec: Partial<Pod['spec']>): Pod => ({
  metadata: { name: 'app', namespace: 'shop', uid: UID },
  spec: { serviceAccountName: 'runner', ...spec },
})

interface Given {
  readonly pv?: Partial<PersistentVolume['spec']>
  readonly csi?: Partial<PersistentVolume['spec']['csi']>
  readonly pod?: Partial<Pod['spec']>
  readonly volume?: Partial<VolumeToMount>
}

function persistent({ pv = {}, csi = {}, pod = {}, volume = {} }: Given = {}): VolumeToMount {
  return {
    specName: 'pv-1',
    plugin: 'kubernetes.io/csi',
    uniqueName: csiUniqueName(DRIVER, HANDLE),
    mode: 'Filesystem',
    readOnly: false,
    attachability: 'attachable',
    deviceMountable: true,
    driver: DRIVER,
    handle: HANDLE,
    persistentVolume: {
      metadata: { name: 'pv-1', uid: 'pv-uid' },
      spec: { ...pv, csi: { driver: DRIVER, volumeHandle: HANDLE, ...csi } },
    },
    podUid: UID,
    pod: podOf(pod),
    podVolumeNames: ['data'],
    ...volume,
  }
}

function inline(csi: Partial<NonNullable<PodVolumeSource['csi']>> = {}, pod: Partial<Pod['spec']> = {}): VolumeToMount {
  const { persistentVolume: _, ...rest } = persistent({ pod })
  const handle = 'csi-a46bec53679aafe7e6bc42077f33be9e5c533643ed1224b3bfbf2dd627bbf53c'
  return {
    ...rest,
    specName: 'scratch',
    handle,
    attachability: 'notAttachable',
    source: { name: 'scratch', csi: { driver: DRIVER, ...csi } },
  }
}

const driverOf = (spec: CsiDriver['spec']): CsiDriver => ({ metadata: { name: DRIVER, uid: 'd' }, spec })

function facts(volume: VolumeToMount, given: Partial<CsiFacts> = {}): CsiFacts {
  return {
    volume,
    rootDir: '/k',
    capabilities: ['STAGE_UNSTAGE_VOLUME'],
    driver: undefined,
    publishContext: {},
    label: '',
    ...given,
  }
}

describe('C38, C39, C52, C55: where every field comes from', () => {
  const volume = persistent({
    pv: { accessModes: ['ReadWriteOnce'], mountOptions: ['noatime', 'discard'] },
    csi: { fsType: 'zfs', volumeAttributes: { pool: 'fast' }, readOnly: true },
  })
  const publishContext = { devicePath: '/dev/x' }
  const value = { fsType: 'zfs', mountFlags: ['noatime', 'discard'], volumeMountGroup: '' }
  const volumeCapability = { accessMode: { mode: 1 }, accessType: { case: 'mount', value } }
  it('NodeStageVolume', () => {
    expect(stageRequest(facts(volume, { publishContext }), { user: 'x' })).toEqual({
      volumeId: HANDLE,
      publishContext,
      stagingTargetPath: STAGING,
      volumeCapability,
      secrets: { user: 'x' },
      volumeContext: { pool: 'fast' },
    })
  })
  it('C68: the SELinux label goes last, between quotes, to both calls and not to an expansion', () => {
    const labelled = facts(volume, { label: 'u:r:t:s0:c1,c2' })
    const flags = (request: { volumeCapability?: ReturnType<typeof stageRequest>['volumeCapability'] }) =>
      request.volumeCapability?.accessType?.case === 'mount' ? request.volumeCapability.accessType.value.mountFlags : []
    const want = ['noatime', 'discard', 'context="u:r:t:s0:c1,c2"']
    expect(flags(stageRequest(labelled, {}))).toEqual(want)
    expect(flags(publishRequest(labelled, {}, undefined))).toEqual(want)
  })
  it('NodePublishVolume: the PersistentVolume’s own readOnly is the controller’s (C57)', () => {
    expect(publishRequest(facts(volume, { publishContext }), { user: 'x' }, undefined)).toEqual({
      volumeId: HANDLE,
      publishContext,
      stagingTargetPath: STAGING,
      targetPath: `/k/pods/${UID}/volumes/kubernetes.io~csi/pv-1/mount`,
      volumeCapability,
      readonly: false,
      secrets: { user: 'x' },
      volumeContext: { pool: 'fast' },
    })
  })
  it('NodeExpandVolume (C100): no mount group, the staging path with or without the capability', () => {
    const given = { volumePath: '/k/t', requiredBytes: 5n, secrets: {} }
    const capabilities = ['VOLUME_MOUNT_GROUP']
    const grouped = persistent({ pod: { securityContext: { fsGroup: 3000 } } })
    expect(expandRequest(facts(grouped, { capabilities }), given)).toEqual({
      volumeId: HANDLE,
      volumePath: '/k/t',
      capacityRange: { requiredBytes: 5n },
      stagingTargetPath: STAGING,
      volumeCapability: {
        accessMode: { mode: 1 },
        accessType: { case: 'mount', value: { fsType: '', mountFlags: [], volumeMountGroup: '' } },
      },
      secrets: {},
    })
  })
  it('a driver without staging gets no staging path; a raw block volume always does', () => {
    const without = { capabilities: [] }
    expect(publishRequest(facts(volume, without), {}, undefined).stagingTargetPath).toBe('')
    const block = persistent({ volume: { mode: 'Block' }, pv: { mountOptions: ['noatime'] } })
    expect(publishRequest(facts(block, without), {}, 'tokens')).toMatchObject({
      stagingTargetPath: '/k/plugins/kubernetes.io/csi/volumeDevices/staging/pv-1',
      targetPath: `/k/plugins/kubernetes.io/csi/volumeDevices/publish/pv-1/${UID}`,
      volumeCapability: { accessType: { case: 'block', value: {} } },
      volumeContext: {},
    })
  })
  it('inline: no publish context, no staging path, no mount flags, its own readOnly', () => {
    const volume = inline({ fsType: 'ext4', readOnly: true, volumeAttributes: { size: '1' } })
    expect(publishRequest(facts(volume), {}, undefined)).toMatchObject({
      volumeId: volume.handle,
      publishContext: {},
      stagingTargetPath: '',
      targetPath: `/k/pods/${UID}/volumes/kubernetes.io~csi/scratch/mount`,
      volumeCapability: {
        accessMode: { mode: 1 },
        accessType: { case: 'mount', value: { fsType: 'ext4', mountFlags: [] } },
      },
      readonly: true,
      volumeContext: { size: '1' },
    })
  })
})

it.each([
  [['ReadWriteOnce'], 1, 7],
  [['ReadOnlyMany'], 3, 3],
  [['ReadWriteMany'], 5, 5],
  [['ReadWriteOncePod'], 1, 6],
  [undefined, 1, 7],
  [[], 1, 7],
  [['Other'], 0, 0],
])(
  'TestAccessModeMapping (C56): %j is %i, and %i for a driver with SINGLE_NODE_MULTI_WRITER',
  (accessModes, plain, multiWriter) => {
    const volume = persistent({ pv: accessModes === undefined ? {} : { accessModes } })
    const modeWith = (capabilities: string[]) =>
      stageRequest(facts(volume, { capabilities }), {}).volumeCapability?.accessMode?.mode
    expect(modeWith([])).toBe(plain)
    expect(modeWith(['SINGLE_NODE_MULTI_WRITER'])).toBe(multiWriter)
  },
)

describe('TestMounterSetUp: pod information (C59)', () => {
  const context = (volume: VolumeToMount, driver: CsiDriver | undefined) =>
    publishRequest(facts(volume, { driver }), {}, undefined).volumeContext
  const five = (ephemeral: string) => ({
    'csi.storage.k8s.io/pod.name': 'app',
    'csi.storage.k8s.io/pod.namespace': 'shop',
    'csi.storage.k8s.io/pod.uid': UID,
    'csi.storage.k8s.io/serviceAccount.name': 'runner',
    'csi.storage.k8s.io/ephemeral': ephemeral,
  })
  it.each([
    ['no CSIDriver', undefined],
    ['unset', driverOf({})],
    ['false', driverOf({ podInfoOnMount: false })],
  ])('%s: the attributes as they are', (_name, driver) => {
    expect(context(persistent({ csi: { volumeAttributes: { foo: 'bar' } } }), driver)).toEqual({ foo: 'bar' })
    expect(context(persistent(), driver)).toEqual({})
  })
  it('true: five keys, which win over attributes of the same name', () => {
    const on = driverOf({ podInfoOnMount: true })
    const attributes = { foo: 'bar', 'csi.storage.k8s.io/pod.name': 'other' }
    expect(context(persistent({ csi: { volumeAttributes: attributes } }), on)).toEqual({ foo: 'bar', ...five('false') })
    expect(context(inline(), on)).toEqual(five('true'))
    expect(context(persistent({ pod: { serviceAccountName: '' } }), on)).toMatchObject({
      'csi.storage.k8s.io/serviceAccount.name': '',
    })
  })
})

it.each([
  ['volume_context', undefined, 'volumeContext', 'secrets'],
  ['volume_context', false, 'volumeContext', 'secrets'],
  ['secrets instead', true, 'secrets', 'volumeContext'],
] as const)('tokens go into %s (C60)', (_name, inSecrets, there, notThere) => {
  const driver = driverOf(inSecrets === undefined ? {} : { serviceAccountTokenInSecrets: inSecrets })
  const request = publishRequest(facts(persistent(), { driver }), {}, '{}')
  expect(request[there]).toEqual({ 'csi.storage.k8s.io/serviceAccount.tokens': '{}' })
  expect(request[notThere]).toEqual({})
})

it.each([
  ['group and capability', 3000, ['VOLUME_MOUNT_GROUP'], '3000'],
  ['no group', undefined, ['VOLUME_MOUNT_GROUP'], ''],
  ['no capability', 3000, [], ''],
])('volume_mount_group: %s (C62)', (_name, fsGroup, capabilities, want) => {
  const volume = persistent({ pod: fsGroup === undefined ? {} : { securityContext: { fsGroup } } })
  const at = facts(volume, { capabilities, driver: driverOf({ fsGroupPolicy: 'None' }) })
  for (const request of [stageRequest(at, {}), publishRequest(at, {}, undefined)]) {
    expect(request.volumeCapability?.accessType).toMatchObject({ value: { volumeMountGroup: want } })
  }
})

const rwo = { accessModes: ['ReadWriteOnce'] }
it.each<[string, VolumeToMount, CsiDriver | undefined, boolean]>([
  ['File', persistent(), driverOf({ fsGroupPolicy: 'File' }), true],
  ['File, read-only', persistent({ volume: { readOnly: true } }), driverOf({ fsGroupPolicy: 'File' }), false],
  ['None', persistent({ pv: rwo, csi: { fsType: 'ext4' } }), driverOf({ fsGroupPolicy: 'None' }), false],
  ['no CSIDriver, no fsType', persistent({ pv: rwo }), undefined, false],
  ['no CSIDriver, no access modes', persistent({ csi: { fsType: 'ext4' } }), undefined, false],
  ['empty access modes', persistent({ pv: { accessModes: [] }, csi: { fsType: 'ext4' } }), undefined, false],
  ['RWO', persistent({ pv: rwo, csi: { fsType: 'ext4' } }), undefined, true],
  ['RWX', persistent({ pv: { accessModes: ['ReadWriteMany'] }, csi: { fsType: 'ext4' } }), undefined, false],
  ['inline', inline({ fsType: 'ext4' }), driverOf({ fsGroupPolicy: 'ReadWriteOnceWithFSType' }), true],
])('Test_csiMountMgr_supportsFSGroup (C63, C64): %s', (_name, volume, driver, want) => {
  expect(kubeletSetsGroup(volume, driver)).toBe(want)
})

it.each<[CsiDriver | undefined, boolean, boolean]>([
  [undefined, true, false],
  [driverOf({ volumeLifecycleModes: ['Persistent'] }), true, false],
  [driverOf({ volumeLifecycleModes: ['Ephemeral'] }), false, true],
  [driverOf({ volumeLifecycleModes: ['Persistent', 'Ephemeral'] }), true, true],
  [driverOf({ volumeLifecycleModes: [] }), false, false],
])('TestCSI_VolumeAll: lifecycle modes (C106) %#', (driver, isPersistent, isInline) => {
  const kinds = ['Persistent', 'Ephemeral'] as const
  expect(kinds.map((kind) => allowsLifecycle(driver, kind))).toEqual([isPersistent, isInline])
})

describe('vol_data.json, byte for byte (C12, C13, C132)', () => {
  const file = (state: Readonly<Record<string, string>>) => `${goJson(state)}\n`
  it.each([
    [
      'pod, persistent',
      publishState(persistent(), 'node-a'),
      '{"attachmentID":"csi-c97d341c3f1da4f80af7e5d3de622e065f86af9258dee1bdb039d0b0a4ae514d","driverName":"hostpath.csi.k8s.io","nodeName":"node-a","specVolID":"pv-1","volumeHandle":"vol-001","volumeLifecycleMode":"Persistent"}\n',
    ],
    [
      'block',
      publishState(persistent({ volume: { mode: 'Block' } }), 'node-a'),
      '{"attachmentID":"csi-c97d341c3f1da4f80af7e5d3de622e065f86af9258dee1bdb039d0b0a4ae514d","driverName":"hostpath.csi.k8s.io","nodeName":"node-a","specVolID":"pv-1","volumeHandle":"vol-001"}\n',
    ],
  ])('%s', (_name, state, want) => {
    expect(file(state)).toBe(want)
  })
  it('TestSaveVolumeData: keys in order, HTML’s characters escaped', () => {
    expect(file({ '&b': '<x>', _a: '1', 7: 'é' })).toBe('{"\\u0026b":"\\u003cx\\u003e","7":"é","_a":"1"}\n')
  })
})

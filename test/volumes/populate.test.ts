import { describe, expect, it } from 'vitest'
import type { Pod, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { desiredStateOfPods } from '../../src/core/volumes/populate.ts'
import { api, claim, claimVolume, pod, volume } from './builders.ts'

const one = { persistentVolumeClaims: [claim()], persistentVolumes: [volume()] }
const populate = (pods: readonly Pod[], parts: Parameters<typeof api>[0] = one) => desiredStateOfPods(pods, api(parts))
const ephemeral: PodVolumeSource = { name: 'scratch', ephemeral: { volumeClaimTemplate: {} } }
const owner = (uid: string, controller = true) => ({
  metadata: { ownerReferences: [{ kind: 'Pod', name: 'web', uid, controller }] },
})

describe('what is desired', () => {
  it('R110, R005: a claim gives its PersistentVolume', () => {
    const { volumes, unresolved } = populate([pod([claimVolume()])])
    expect(unresolved).toEqual([])
    expect(volumes).toEqual([
      expect.objectContaining({
        podUid: 'pod-uid',
        podVolumeNames: ['data'],
        specName: 'pv-claim',
        plugin: 'kubernetes.io/csi',
        uniqueName: 'kubernetes.io/csi/csi.test^vol-claim',
        driver: 'csi.test',
        handle: 'vol-claim',
        mode: 'Filesystem',
        readOnly: false,
        claim: claim(),
        persistentVolume: volume(),
      }),
    ])
  })

  it('T3, R103: what resolves is desired though a sibling fails', () => {
    const { volumes, unresolved } = populate([pod([claimVolume(), claimVolume('x', 'nowhere')])])
    expect(volumes.map((each) => each.specName)).toEqual(['pv-claim'])
    expect(unresolved.map((each) => each.podVolumeName)).toEqual(['x'])
  })
})

describe('volumes and pods', () => {
  it('T20: a pod listed twice is desired once', () => {
    const it = pod([{ name: 'e', emptyDir: {} }])
    expect(populate([it, it]).volumes).toMatchObject([{ podUid: 'pod-uid', podVolumeNames: ['e'] }])
  })

  it.each([
    { name: 'neither attachable nor device-mountable', spec: { nfs: { server: 's', path: '/' } }, want: 2 },
    { name: 'device-mountable', spec: { local: { path: '/' } }, want: 1 },
    { name: 'attachable', spec: { csi: { driver: 'd', volumeHandle: 'h' } }, want: 1 },
  ])('T21: two pods, one claim, $name: $want unique names', ({ spec, want }) => {
    const pods = [pod([claimVolume()], { uid: 'a' }), pod([claimVolume()], { uid: 'b' })]
    const { volumes } = populate(pods, { ...one, persistentVolumes: [volume('claim', spec)] })
    expect(volumes).toHaveLength(2)
    expect(new Set(volumes.map((each) => each.uniqueName)).size).toBe(want)
  })

  it('T22, R004: two outer names of one claim are one volume; the later spec counts', () => {
    const { volumes } = populate([pod([claimVolume('a'), claimVolume('b', 'claim', true)])])
    expect(volumes).toHaveLength(1)
    expect(volumes[0]).toMatchObject({ podVolumeNames: ['a', 'b'], readOnly: true })
  })
})

it.each([
  { rule: 'T10', mode: 'Filesystem', mounts: ['data'], devices: [], want: 'Filesystem' },
  { rule: 'T9', mode: 'Block', mounts: [], devices: ['data'], want: 'Block' },
  { rule: 'T11', mode: undefined, mounts: ['data'], devices: [], want: /has no volumeMode/ },
  { rule: 'T12', mode: 'Filesystem', mounts: [], devices: ['data'], want: /mode Filesystem.*volumeDevices/ },
  { rule: 'T12', mode: 'Block', mounts: ['data'], devices: [], want: /mode Block.*volumeMounts/ },
  { rule: 'R116', mode: 'Block', mounts: ['data'], devices: ['data'], want: /mode Block/ },
  { rule: 'R116', mode: 'Filesystem', mounts: ['data'], devices: ['data'], want: /mode Filesystem/ },
])(
  'T9-T12, R116: mode and use: $rule: $mode in mounts $mounts, devices $devices',
  ({ mode, mounts, devices, want }) => {
    const { volumeMode: _default, ...spec } = volume().spec
    const pv = { ...volume(), spec: mode === undefined ? spec : { ...spec, volumeMode: mode } }
    const { volumes, unresolved } = populate([pod([claimVolume()], { mounts, devices })], {
      ...one,
      persistentVolumes: [pv],
    })
    if (typeof want === 'string') expect(volumes.map((each) => each.mode)).toEqual([want])
    else
      expect(unresolved).toEqual([expect.objectContaining({ cause: 'Unusable', message: expect.stringMatching(want) })])
  },
)

describe('R111-R113, S4: volumes that cannot be resolved', () => {
  const deletionTimestamp = '2026-01-01T00:00:00Z'
  const forbidden = (resource: string, name: string) => [
    {
      resource,
      name,
      ...(resource === 'persistentvolumeclaims' && { namespace: 'ns' }),
      status: 403,
      reason: 'Forbidden',
      message: 'no',
    },
  ]
  it.each<{ rule: string; parts: Parameters<typeof api>[0]; cause: string; message: RegExp }>([
    {
      rule: 'R111#1 no claim',
      parts: { ...one, persistentVolumeClaims: [] },
      cause: 'Absent',
      message: /^PersistentVolumeClaim ns\/claim does not exist$/,
    },
    {
      rule: 'T130 claim forbidden',
      parts: { ...one, persistentVolumeClaims: [], errors: forbidden('persistentvolumeclaims', 'claim') },
      cause: 'Unknown',
      message: /^PersistentVolumeClaim ns\/claim could not be read: 403 Forbidden no$/,
    },
    {
      rule: 'T130 claim unread by the kubelet',
      parts: { credential: 'kubelet' },
      cause: 'Unknown',
      message: /was not read/,
    },
    {
      rule: 'R113 deleted, unprotected',
      parts: { ...one, persistentVolumeClaims: [claim('claim', { metadata: { deletionTimestamp } })] },
      cause: 'Unusable',
      message: /being deleted/,
    },
    {
      rule: 'R111#3 Pending',
      parts: { persistentVolumeClaims: [claim('claim', { status: { phase: 'Pending' } })] },
      cause: 'Unbound',
      message: /not bound \(phase Pending\)/,
    },
    {
      rule: 'R111#6 no PV',
      parts: { ...one, persistentVolumes: [] },
      cause: 'Absent',
      message: /pv-claim, which does not exist/,
    },
    {
      rule: 'R111#6 PV forbidden',
      parts: { ...one, persistentVolumes: [], errors: forbidden('persistentvolumes', 'pv-claim') },
      cause: 'Unknown',
      message: /pv-claim, which could not be read/,
    },
    {
      rule: 'R111#8 other UID',
      parts: {
        ...one,
        persistentVolumes: [volume('claim', { claimRef: { namespace: 'ns', name: 'claim', uid: 'old' } })],
      },
      cause: 'Unusable',
      message: /belongs to claim ns\/claim with UID old/,
    },
    {
      rule: 'R111#9 untranslatable',
      parts: {
        ...one,
        persistentVolumes: [volume('claim', { azureDisk: { diskName: 'd', diskURI: 'u', kind: 'Dedicated' } })],
      },
      cause: 'Unknown',
      message: /translated to CSI/,
    },
    {
      rule: 'P3 no plugin',
      parts: { ...one, persistentVolumes: [volume('claim', { rbd: {} } as object)] },
      cause: 'Unusable',
      message: /no plugin/,
    },
    {
      rule: 'C52 no handle',
      parts: { ...one, persistentVolumes: [volume('claim', { csi: { driver: 'csi.test', volumeHandle: '' } })] },
      cause: 'Unknown',
      message: /names no driver or no volumeHandle/,
    },
    {
      rule: 'C52 no driver',
      parts: { ...one, persistentVolumes: [volume('claim', { csi: { driver: '', volumeHandle: 'h' } })] },
      cause: 'Unknown',
      message: /names no driver or no volumeHandle/,
    },
  ])('$rule: $cause', ({ parts, cause, message }) => {
    const { volumes, unresolved } = populate([pod([claimVolume()])], parts)
    expect(volumes).toEqual([])
    expect(unresolved).toEqual([
      expect.objectContaining({
        podUid: 'pod-uid',
        podVolumeName: 'data',
        cause,
        message: expect.stringMatching(message),
        claimName: 'claim',
      }),
    ])
  })

  it('R111: the first failing check is the one that is named', () => {
    const both = claim('claim', { metadata: { deletionTimestamp }, status: { phase: 'Pending' } })
    expect(populate([pod([claimVolume()])], { persistentVolumeClaims: [both] }).unresolved[0]?.message).toMatch(
      /being deleted/,
    )
  })

  it('T148, R113: a terminating claim that is protected stays desired', () => {
    const metadata = { deletionTimestamp, finalizers: ['kubernetes.io/pvc-protection'] }
    const parts = { ...one, persistentVolumeClaims: [claim('claim', { metadata })] }
    expect(populate([pod([claimVolume()])], parts)).toMatchObject({
      volumes: [{ specName: 'pv-claim' }],
      unresolved: [],
    })
  })

  it('R163: an inline vSphere volume with a storage policy is unsupported, not a crash', () => {
    const source = { name: 'v', vsphereVolume: { volumePath: '[ds] a.vmdk', storagePolicyName: 'gold' } }
    expect(populate([pod([source])]).unresolved[0]).toMatchObject({ cause: 'Unknown', podVolumeName: 'v' })
  })
})

describe('R006, T8: generic ephemeral volumes', () => {
  it.each([
    { name: 'owned by the pod', metadata: owner('pod-uid').metadata, wanted: true },
    { name: 'owned by an earlier pod of the name', metadata: owner('other').metadata, wanted: false },
    { name: 'owned, but not controlled', metadata: owner('pod-uid', false).metadata, wanted: false },
    { name: 'nobody owns it', metadata: {}, wanted: false },
  ])('$name: $wanted', ({ metadata, wanted }) => {
    const parts = {
      persistentVolumeClaims: [claim('web-scratch', { metadata })],
      persistentVolumes: [volume('web-scratch')],
    }
    const { volumes, unresolved } = populate([pod([ephemeral])], parts)
    expect(volumes.map((each) => each.specName)).toEqual(wanted ? ['pv-web-scratch'] : [])
    expect(unresolved.map((each) => each.message)).toEqual(wanted ? [] : [expect.stringMatching(/controlling owner/)])
  })

  it('R110: the kubelet prefers persistentVolumeClaim where both are set', () => {
    expect(populate([pod([{ ...ephemeral, ...claimVolume('scratch') }])]).volumes[0]?.specName).toBe('pv-claim')
  })
})

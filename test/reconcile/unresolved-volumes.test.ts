/**
 * S4: what a volume of an existing pod that could not be resolved holds back. One bad pod must not keep a node from being
 * cleaned up, and what nobody knows must.
 */
import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim, PodVolumeSource } from '../../src/core/kube/api/objects.ts'
import { controllerWantedVolumes, mayWant, wantedDevices } from '../../src/core/volumes/populate.ts'
import type { ApiSnapshot } from '../../src/core/volumes/snapshot.ts'
import { csiUniqueName } from '../../src/core/volumes/volume-names.ts'
import { DRIVER, type NodeBuilder, node, uid } from '../helpers/node-builder.ts'
import { blocked, codes, plan, waits } from './planned.ts'

const OTHER = 'vol-other'
const OTHER_NAME = csiUniqueName(DRIVER, OTHER)
/** The volume that the bad pod's PersistentVolume is, where it has one. */
const ITS = 'vol-its'

interface Bad {
  readonly name: string
  /** By default a claim. */
  readonly source?: PodVolumeSource
  readonly claim?: Partial<PersistentVolumeClaim> | undefined
  readonly pv?: object
  readonly api?: Partial<ApiSnapshot>
  /** By default in a container's volumeMounts. */
  readonly device?: boolean
}

const CLAIM: PodVolumeSource = { name: 'data', persistentVolumeClaim: { claimName: 'its' } }
const csi = { driver: DRIVER, volumeHandle: ITS }
const bound: Partial<PersistentVolumeClaim> = {}
const claimOf = (parts: object): Partial<PersistentVolumeClaim> => parts
const pending = claimOf({ spec: {}, status: { phase: 'Pending' } })
const removed = (kind: string): PodVolumeSource => ({ name: 'old', [kind]: {} }) as PodVolumeSource

/** A node with a volume that nobody wants, staged and attached, and a living pod with a volume that is no good. */
function withBad({ source = CLAIM, claim, pv, api, device = false }: Bad): NodeBuilder {
  const built = node().livingPod(uid(2), 'bad', [source], { devices: device })
  if (claim !== undefined) {
    built.claims.push({
      metadata: { name: 'its', namespace: 'default', uid: 'its-uid' },
      spec: { volumeName: 'pv-its' },
      status: { phase: 'Bound' },
      ...claim,
    })
  }
  if (pv !== undefined) {
    const spec = { volumeMode: 'Filesystem', claimRef: { namespace: 'default', name: 'its', uid: 'its-uid' }, ...pv }
    built.volumes.push({ metadata: { name: 'pv-its', uid: 'pv-its-uid' }, spec: spec as PersistentVolume['spec'] })
  }
  built.persistentVolume('pv-other', { handle: OTHER }).staged(OTHER, '7:9')
  built.withApi(api ?? {})
  return built
}

/** What of the other volume, and of this one, would be undone. */
function undone(built: NodeBuilder): { readonly other: string[]; readonly its: string[] } {
  const { operations } = plan(built)
  const of = (handle: string): string[] =>
    operations
      .filter(({ volume, blocked: why }) => volume?.handle === handle && why === undefined)
      .map((each) => each.kind)
  return { other: of(OTHER), its: of(ITS) }
}

/** What an apply asks again, right before. */
function atApply(built: NodeBuilder) {
  const { api } = built.build().snapshot
  if (api === undefined) throw new Error('no API')
  return controllerWantedVolumes(api.pods, api, 'node-1')
}

const DEVICE_OPERATIONS = ['UnmountDevice', 'DetachVolume']
const ephemeral: PodVolumeSource = { name: 'scratch', ephemeral: {} }

it.each<Bad>([
  { name: 'a claim that is not there' },
  { name: 'a claim whose PersistentVolume is not there', claim: bound },
  { name: 'a claim that is not bound', claim: pending },
  { name: 'an ephemeral claim that is not made yet', source: ephemeral },
  { name: 'a volume of a type that was removed', source: removed('gitRepo') },
  { name: 'a PersistentVolume of a type that was removed', claim: bound, pv: { rbd: {} } },
  {
    name: 'a vSphere volume that cannot be translated',
    source: { name: 'v', vsphereVolume: { volumePath: 'p', storagePolicyName: 'gold' } },
  },
  { name: 'a Fibre Channel volume without a WWN', source: { name: 'v', fc: { lun: 1 } } },
  { name: "another driver's volume without a handle", claim: bound, pv: { csi: { driver: 'x' } } },
  { name: 'a PersistentVolume of two kinds, neither CSI', claim: bound, pv: { nfs: {}, local: {} } },
])('S4: holds back its own pod alone: $name', (bad) => {
  const built = withBad(bad)
  expect(undone(built).other).toEqual(DEVICE_OPERATIONS)
  expect(mayWant(atApply(built), OTHER_NAME)).toBe(false)
  // Of its own pod: gitRepo is never set up.
  expect(blocked(plan(built)).filter((each) => !each.startsWith('MountVolume'))).toEqual([])
})

describe('S4: is known, and holds back itself alone', () => {
  const device = { volumeMode: 'Block', csi }
  it.each<Bad>([
    { name: 'a Block volume under volumeMounts', claim: bound, pv: device },
    { name: 'a file system under volumeDevices', claim: bound, pv: { csi }, device: true },
    { name: 'a volume without a mode', claim: bound, pv: { csi, volumeMode: undefined } },
    { name: 'a claim not yet bound', claim: claimOf({ status: { phase: 'Pending' } }), pv: { csi } },
    {
      name: 'a claim that is deleted and not protected any more',
      claim: claimOf({
        metadata: { name: 'its', namespace: 'default', uid: 'its-uid', deletionTimestamp: '2026-11-21T11:00:00Z' },
      }),
      pv: { csi },
    },
  ])('$name', (bad) => {
    const built = withBad(bad)
    built.staged(ITS, '7:8').attach('pv-its', ITS)
    expect(undone(built)).toEqual({ other: DEVICE_OPERATIONS, its: [] })
    expect(mayWant(atApply(built), csiUniqueName(DRIVER, ITS))).toBe(true)
    expect(mayWant(atApply(built), OTHER_NAME)).toBe(false)
    expect(codes(plan(built))).toContain('MayBeInUse')
    expect(waits(plan(built))).toContain('MountVolume VolumeUnresolved')
    // Without the pod it is taken down: what held it was the pod.
    built.pods.splice(1)
    built.sandboxes.splice(1)
    built.processes.splice(1)
    expect(undone(built).its).toEqual(DEVICE_OPERATIONS)
  })
})

const forbidden = (resource: string, name: string): Partial<ApiSnapshot> => ({
  errors: [{ resource, name, status: 403, reason: 'Forbidden', message: 'no' }],
})
it.each<Bad>([
  {
    name: 'a claim that may not be read',
    api: { errors: [{ ...forbidden('persistentvolumeclaims', 'its').errors?.[0], namespace: 'default' } as never] },
  },
  {
    name: 'a PersistentVolume that may not be read',
    claim: bound,
    api: forbidden('persistentvolumes', 'pv-its'),
  },
  { name: 'a claim that was not read', api: { credential: 'kubelet' } },
  { name: 'a claim without a name', source: { name: 'data', persistentVolumeClaim: { claimName: '' } } },
  { name: 'a claim without a phase', claim: claimOf({ spec: {}, status: {} }) },
  { name: 'a claim that is bound to no name', claim: claimOf({ spec: {} }) },
  {
    name: 'a claim that waits and was bound before',
    claim: claimOf({
      metadata: {
        name: 'its',
        namespace: 'default',
        uid: 'its-uid',
        annotations: { 'pv.kubernetes.io/bind-completed': 'yes' },
      },
      spec: {},
      status: { phase: 'Pending' },
    }),
  },
  { name: 'a PersistentVolume without a source', claim: bound, pv: {} },
  { name: 'a PersistentVolume of a kind that nobody knows', claim: bound, pv: { quantumDisk: {} } },
  { name: 'a volume of a kind that nobody knows', source: removed('quantumDisk') },
  { name: 'a volume without a source', source: { name: 'data' } },
  { name: 'a CSI volume without a driver', claim: bound, pv: { csi: { volumeHandle: 'h' } } },
  { name: "the driver's volume without a handle", claim: bound, pv: { csi: { driver: DRIVER } } },
])('S4: may be any, and holds back every device operation: $name', (bad) => {
  const built = withBad(bad)
  expect(undone(built).other).toEqual([])
  expect(blocked(plan(built))).toEqual(['UnmountDevice MayBeInUse', 'DetachVolume MayBeInUse'])
  expect(mayWant(atApply(built), OTHER_NAME)).toBe(true)
  expect(plan(built).complete).toBe(false)
})

it.each([
  ['an iSCSI volume is never Fibre Channel', { name: 'v', fc: {} }, true],
  ['nor a CSI volume', { name: 'v', vsphereVolume: { volumePath: 'p', storagePolicyName: 'g' } }, true],
  ['a volume that nobody knows may be one', removed('quantumDisk'), false],
  ['several sources, one of them iSCSI', { name: 'v', iscsi: {}, fc: {} }, false],
])('S4: of other plugins: %s', (_name, source, want) => {
  const wanted = atApply(node().livingPod(uid(2), 'bad', [source as PodVolumeSource]))
  expect(wantedDevices(wanted, 'kubernetes.io/iscsi') !== undefined).toBe(want)
  expect(mayWant(wanted, 'kubernetes.io/iscsi/1.2.3.4:3260:iqn.x:0')).toBe(!want)
})

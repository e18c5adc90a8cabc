/**
 * Which volumes that have a device on this node a volume that could not be resolved may be (S4).
 *
 * What is known of it is its source at most: a source that is readable says of which plugins and drivers the volume can
 * be, and of which it never is. What nobody can read may be any.
 */

import type { PersistentVolume, PodVolumeSource } from '../model/objects.ts'
import { FC_PLUGIN } from '../names/fc-disk.ts'
import { ISCSI_PLUGIN } from '../names/iscsi-disk.ts'
import { CSI_PLUGIN, parseCsiUniqueName } from '../names/volume-names.ts'
import type { VolumeSpec } from './volume-spec.ts'

export type MayBe =
  /** None: it has no device, or is bound to nothing. */
  | { readonly of: 'none' }
  /** Exactly this one, which can't be used as the pod asks. */
  | { readonly of: 'itself'; readonly volume: VolumeSpec }
  /** Any of these. */
  | { readonly of: 'kinds'; readonly kinds: readonly DeviceKind[] }
  | { readonly of: 'any' }

export interface DeviceKind {
  /** Of a flexVolume its driver's name. */
  readonly plugin: string
  /** Of a CSI volume; undefined: any driver, or not known. */
  readonly driver?: string | undefined
}

export const NONE: MayBe = { of: 'none' }
export const ANY: MayBe = { of: 'any' }

/** Sources without a device in the kubelet's directories, or of plugins that Kubernetes has no more, with what they had become. */
const NO_DEVICE: Readonly<Record<string, readonly DeviceKind[]>> = {
  emptyDir: [],
  hostPath: [],
  nfs: [],
  secret: [],
  configMap: [],
  downwardAPI: [],
  projected: [],
  image: [],
}

const REMOVED: Readonly<Record<string, readonly DeviceKind[]>> = {
  gitRepo: [],
  glusterfs: [],
  cephfs: [],
  quobyte: [],
  flocker: [],
  storageos: [],
  scaleIO: [],
  photonPersistentDisk: [],
  // Before it was removed it could be translated to CSI (CSIMigrationRBD).
  rbd: [{ plugin: CSI_PLUGIN, driver: 'rbd.csi.ceph.com' }],
}

const TRANSLATED: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  vsphereVolume: 'csi.vsphere.vmware.com',
  portworxVolume: 'pxd.portworx.com',
}

/** What a PersistentVolume's spec, or a pod's volume, has beside its source. */
const NO_SOURCE: ReadonlySet<string> = new Set([
  'name',
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
])

/**
 * What a source that could not be made sense of can be. Several sources: any of them; one that nobody knows, or none: any
 * volume.
 *
 * @returns `removed`: all of it is of kinds that Kubernetes has no more
 */
export function judgeSource(source: PodVolumeSource | PersistentVolume['spec']): {
  readonly mayBe: MayBe
  readonly removed: boolean
} {
  const keys = Object.entries(source).filter(([key, value]) => value != null && !NO_SOURCE.has(key))
  const kinds = keys.map(([key, value]) => kindsOf(key, value))
  const removed = keys.length > 0 && keys.every(([key]) => Object.hasOwn(REMOVED, key))
  if (keys.length === 0 || kinds.includes(undefined)) return { mayBe: ANY, removed: false }
  const all = kinds.flatMap((each) => each ?? [])
  return { mayBe: all.length === 0 ? NONE : { of: 'kinds', kinds: all }, removed }
}

/** Undefined: nobody knows. */
function kindsOf(key: string, value: unknown): readonly DeviceKind[] | undefined {
  if (Object.hasOwn(NO_DEVICE, key)) return NO_DEVICE[key]
  if (Object.hasOwn(REMOVED, key)) return REMOVED[key]
  if (Object.hasOwn(TRANSLATED, key)) return [{ plugin: CSI_PLUGIN, driver: TRANSLATED[key] }]
  const { driver } = (typeof value === 'object' ? value : {}) as { driver?: unknown }
  const named = typeof driver === 'string' && driver !== '' ? driver : undefined
  if (key === 'csi') return [{ plugin: CSI_PLUGIN, driver: named }]
  if (key === 'iscsi') return [{ plugin: ISCSI_PLUGIN }]
  if (key === 'fc') return [{ plugin: FC_PLUGIN }]
  if (key === 'local') return [{ plugin: 'kubernetes.io/local-volume' }]
  if (key === 'flexVolume' && named !== undefined) return [{ plugin: named }]
  return undefined
}

/**
 * May it be one of these, which somebody is about to undo? What is known to be one volume alone counts as wanted under
 * its own name, and needs no question here.
 */
export function mayBeOne(mayBe: MayBe, { plugin, driver }: DeviceKind): boolean {
  if (mayBe.of === 'any') return true
  if (mayBe.of !== 'kinds') return false
  return mayBe.kinds.some(
    (kind) => kind.plugin === plugin && (driver === undefined || kind.driver === undefined || kind.driver === driver),
  )
}

/** The same by a volume's unique name. */
export function mayBeNamed(mayBe: MayBe, uniqueName: string): boolean {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi !== undefined) return mayBeOne(mayBe, { plugin: CSI_PLUGIN, driver: csi.driver })
  if (mayBe.of !== 'kinds') return mayBe.of === 'any'
  return mayBe.kinds.some(({ plugin }) => uniqueName.startsWith(`${plugin}/`))
}

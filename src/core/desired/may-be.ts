/**
 * A volume that could not be resolved may be one that has a device on this node: which (S4)?
 *
 * At most its source is known. A readable source shows which plugins and drivers the volume can belong to. A volume without a
 * readable source may be any.
 */

import type { PersistentVolume, PodVolumeSource } from '../model/objects.ts'
import { FC_PLUGIN } from '../names/fc-disk.ts'
import { ISCSI_PLUGIN } from '../names/iscsi-disk.ts'
import { CSI_PLUGIN, parseCsiUniqueName } from '../names/volume-names.ts'
import type { VolumeSpec } from './volume-spec.ts'

export type MayBe =
  /** No volume on this node: this one has no device, or its claim is not bound. */
  | { readonly of: 'none' }
  /** Exactly this volume, which cannot be used as the pod asks. */
  | { readonly of: 'itself'; readonly volume: VolumeSpec }
  /** Any volume of these plugins and drivers. */
  | { readonly of: 'kinds'; readonly kinds: readonly DeviceKind[] }
  | { readonly of: 'any' }

export interface DeviceKind {
  /** For a flexVolume the driver's name. */
  readonly plugin: string
  /** For a CSI volume; undefined: any driver, or not known. */
  readonly driver?: string | undefined
}

export const NONE: MayBe = { of: 'none' }
export const ANY: MayBe = { of: 'any' }

/** Sources without a device in the kubelet's directories. */
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

/** Sources of plugins that Kubernetes has removed, with the CSI drivers that they could be migrated to. */
const REMOVED: Readonly<Record<string, readonly DeviceKind[]>> = {
  gitRepo: [],
  glusterfs: [],
  cephfs: [],
  quobyte: [],
  flocker: [],
  storageos: [],
  scaleIO: [],
  photonPersistentDisk: [],
  // Could be migrated to CSI before its removal (CSIMigrationRBD).
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

/** Fields of a PersistentVolume's spec, or of a pod's volume, that are no source. */
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
 * Which volumes a source that could not be resolved may mean. Several sources: any of them; an unknown source, or none: any volume.
 *
 * @returns `removed`: Kubernetes has removed the plugins of all its sources
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

/** Undefined: the source is not known. */
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
 * May the volume be one of this kind, whose device is about to be unstaged, unmapped or detached? A volume that is known
 * (`itself`) counts as wanted under its own name, and is not asked about here.
 */
export function mayBeOne(mayBe: MayBe, { plugin, driver }: DeviceKind): boolean {
  if (mayBe.of === 'any') return true
  if (mayBe.of !== 'kinds') return false
  return mayBe.kinds.some(
    (kind) => kind.plugin === plugin && (driver === undefined || kind.driver === undefined || kind.driver === driver),
  )
}

/** The same for a volume's unique name. */
export function mayBeNamed(mayBe: MayBe, uniqueName: string): boolean {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi !== undefined) return mayBeOne(mayBe, { plugin: CSI_PLUGIN, driver: csi.driver })
  if (mayBe.of !== 'kinds') return mayBe.of === 'any'
  return mayBe.kinds.some(({ plugin }) => uniqueName.startsWith(`${plugin}/`))
}

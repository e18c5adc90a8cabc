/**
 * Which volumes one that could not be resolved may be, by its source (S4). A readable source shows which plugins and drivers the
 * volume can belong to. A volume without a readable source may be any.
 */
import { ANY, type DeviceKind, type MayBe, NONE } from '../desired/may-be.ts'
import type { PersistentVolume, PodVolumeSource } from '../model/objects.ts'
import { CSI_PLUGIN } from '../names/volume-names.ts'
import { csi } from '../plugins/csi.ts'
import { flexVolume } from '../plugins/flex-volume.ts'
import { PLUGINS } from '../plugins/registry.ts'

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
  if (Object.hasOwn(REMOVED, key)) return REMOVED[key]
  if (Object.hasOwn(TRANSLATED, key)) return [{ plugin: CSI_PLUGIN, driver: TRANSLATED[key] }]
  const { driver } = (typeof value === 'object' ? value : {}) as { driver?: unknown }
  const named = typeof driver === 'string' && driver !== '' ? driver : undefined
  const plugin = PLUGINS.find(({ source }) => source === key)
  if (plugin === csi) return [{ plugin: CSI_PLUGIN, driver: named }]
  if (plugin === flexVolume) return named === undefined ? undefined : [{ plugin: named }]
  if (plugin === undefined) return undefined
  return plugin.device === undefined ? [] : [{ plugin: plugin.name }]
}

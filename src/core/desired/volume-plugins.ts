/** Which of the kubelet's plugins a volume belongs to, and the unique name that follows (R003, R010, R019; P1-P9). */
import type { Node, PersistentVolume, PodVolumeSource, SharedSources } from '../model/objects.ts'
import { CSI_PLUGIN, csiUniqueName, inlineCsiHandle, uniquePodVolumeName, uniqueVolumeName } from '../names.ts'
import type { ApiLookup } from './api-lookup.ts'
import type { Attachability, VolumeSpec } from './desired-state.ts'

/** What the plugin needs to know besides the volume itself. */
export interface PluginContext {
  readonly podUid: string
  readonly lookup: ApiLookup
  readonly node: Node | null
}

export type PluginFacts = Pick<
  VolumeSpec,
  'plugin' | 'uniqueName' | 'attachability' | 'deviceMountable' | 'driver' | 'handle'
>

interface Failure {
  readonly error: string
}

/** Sources without attaching, device mounting or a name of their own: one volume per pod. */
const INLINE_PER_POD = {
  emptyDir: 'kubernetes.io/empty-dir',
  gitRepo: 'kubernetes.io/git-repo',
  secret: 'kubernetes.io/secret',
  downwardAPI: 'kubernetes.io/downward-api',
  configMap: 'kubernetes.io/configmap',
  projected: 'kubernetes.io/projected',
  image: 'kubernetes.io/image',
} as const satisfies Partial<Record<keyof PodVolumeSource, string>>

/** Facts of an inline volume; no supporter and several are both errors (R003). */
export function pluginOfInline(volume: PodVolumeSource, context: PluginContext): PluginFacts | Failure {
  const perPod = (Object.keys(INLINE_PER_POD) as (keyof typeof INLINE_PER_POD)[])
    .filter((key) => volume[key] != null)
    .map((key) => perPodFacts(INLINE_PER_POD[key], volume.name, context))
  const csi = volume.csi == null ? [] : [inlineCsiFacts(volume.csi.driver, volume.name, context)]
  return single([...perPod, ...csi, ...sharedFacts(volume, volume.name, context)])
}

/** Facts of a PersistentVolume, already translated to CSI where it was in-tree. */
export function pluginOfPersistentVolume(pv: PersistentVolume, context: PluginContext): PluginFacts | Failure {
  const { csi, local } = pv.spec
  const name = pv.metadata.name
  return single([
    ...(local == null ? [] : [sharedNameFacts('kubernetes.io/local-volume', name, 'notAttachable')]),
    ...(csi == null ? [] : [csiFacts(csi.driver, csi.volumeHandle, context)]),
    ...sharedFacts(pv.spec, name, context),
  ])
}

/** Sources that a pod and a PersistentVolume may both have. */
function sharedFacts(sources: SharedSources, specName: string, context: PluginContext): (PluginFacts | Failure)[] {
  const { hostPath, nfs, iscsi, fc, flexVolume } = sources
  return [
    ...(hostPath == null ? [] : [perPodFacts('kubernetes.io/host-path', specName, context)]),
    ...(nfs == null ? [] : [perPodFacts('kubernetes.io/nfs', specName, context)]),
    ...(iscsi == null ? [] : [sharedNameFacts('kubernetes.io/iscsi', iscsiName(iscsi), 'attachable')]),
    ...(fc == null ? [] : [fcFacts(fc)]),
    ...(flexVolume == null ? [] : [flexFacts(flexVolume.driver, specName, context)]),
  ]
}

function single(supporters: readonly (PluginFacts | Failure)[]): PluginFacts | Failure {
  const [first, ...others] = supporters
  if (first === undefined) return { error: 'the kubelet has no plugin for its type' }
  if (others.length > 0) return { error: 'it has several sources, so more than one plugin matches' }
  return first
}

function perPodFacts(plugin: string, specName: string, { podUid }: PluginContext): PluginFacts {
  const uniqueName = uniquePodVolumeName(plugin, podUid, specName)
  return { plugin, uniqueName, attachability: 'notAttachable', deviceMountable: false }
}

/** Device-mountable, so all pods of the node share one volume. */
function sharedNameFacts(plugin: string, volumeName: string, attachability: Attachability): PluginFacts {
  return { plugin, uniqueName: uniqueVolumeName(plugin, volumeName), attachability, deviceMountable: true }
}

/** The portal exactly as it was written: a missing port stays missing (R014). */
function iscsiName({ targetPortal, iqn, lun }: NonNullable<SharedSources['iscsi']>): string {
  return `${targetPortal}:${iqn}:${lun ?? 0}`
}

/** Brackets and blanks are literal: Go's print of a list (R013). */
function fcFacts({ targetWWNs, lun, wwids }: NonNullable<SharedSources['fc']>): PluginFacts | Failure {
  const list = (names: readonly string[]) => `[${names.join(' ')}]`
  if (targetWWNs?.length && lun != null) {
    return sharedNameFacts('kubernetes.io/fc', `${list(targetWWNs)}:${lun}`, 'attachable')
  }
  if (wwids?.length) return sharedNameFacts('kubernetes.io/fc', list(wwids), 'attachable')
  return { error: 'its fc source names neither WWNs with a LUN nor WWIDs' }
}

function csiFacts(driver: string, handle: string, context: PluginContext): PluginFacts {
  const attachability = csiAttachability(driver, context.lookup)
  const uniqueName = csiUniqueName(driver, handle)
  return { plugin: CSI_PLUGIN, uniqueName, attachability, deviceMountable: true, driver, handle }
}

/** Never attached or staged, whatever the CSIDriver says (C35). */
function inlineCsiFacts(driver: string, podVolumeName: string, context: PluginContext): PluginFacts {
  const handle = inlineCsiHandle(context.podUid, podVolumeName)
  return { ...perPodFacts(CSI_PLUGIN, podVolumeName, context), driver, handle }
}

/** Only an explicit `attachRequired: false` spares the attach; a CSIDriver that is not there doesn't (R012, C35). */
function csiAttachability(driver: string, lookup: ApiLookup): Attachability {
  const found = lookup.csiDriver(driver)
  if (found.state === 'Unknown') return 'unknown'
  const required = found.state === 'Absent' || found.object.spec.attachRequired !== false
  return required ? 'attachable' : 'notAttachable'
}

/**
 * Whether a flex driver attaches only the driver could say, and with it goes the name (P7). A name that the Node lists
 * proves that it does.
 */
function flexFacts(driver: string, specName: string, context: PluginContext): PluginFacts {
  const shared = uniqueVolumeName(driver, specName)
  const { volumesAttached, volumesInUse } = context.node?.status ?? {}
  const listed = volumesInUse?.includes(shared) || volumesAttached?.some(({ name }) => name === shared)
  if (listed) return sharedNameFacts(driver, specName, 'attachable')
  return { ...perPodFacts(driver, specName, context), attachability: 'unknown' }
}

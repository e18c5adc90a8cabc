/** The desired state of the world: which volumes which pods of this node need; and where the kubelet keeps them. */
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  SharedSources,
} from '../kube/api/objects.ts'
import type { Finding } from '../messages/findings.ts'
import type { Because } from './finding.ts'
import { podNamespace } from './pods.ts'
import { CSI_PLUGIN, csiGlobalDir, escapeQualifiedName, parseCsiUniqueName, type VolumeMode } from './volume-names.ts'

/** One volume of one pod (VolumeToMount). Two names in the pod's spec may share one (R004). */
export interface VolumeToMount extends VolumeSpec {
  /** The UID used on disk: for a mirror pod the static pod's (R225, R226). */
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeNames: readonly string[]
}

/**
 * A volume of a pod that could not be resolved (S4).
 * `Absent`: the claim or PersistentVolume is proved not to exist. `Unbound`: the claim is proved not to be bound.
 * `Unusable`: the volume is known, but cannot be used as the pod asks. `Unknown`: anything else (403, time-out …).
 */
export interface UnresolvedVolume extends Finding<'ClaimMissing' | 'ClaimUnbound' | 'VolumeUnresolved'> {
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeName: string
  readonly cause: 'Absent' | 'Unbound' | 'Unusable' | 'Unknown'
  /** Which volumes of this node this may be: operations on those are held back. None where `volume` is known. */
  readonly mayBe: MayBe
  /** The volume, which cannot be used as the pod asks: it alone is held back, under its own name. */
  readonly volume?: VolumeSpec
  readonly claimName?: string
  readonly persistentVolumeName?: string
}

export interface DesiredState {
  readonly volumes: readonly VolumeToMount[]
  readonly unresolved: readonly UnresolvedVolume[]
}

// A volume as its source names it, independent of the pods that want it.

/** A PersistentVolume, or else a pod's inline volume (P5). */
export interface SpecSource {
  /** Inline source; the original one of a translated volume, which has a synthetic PersistentVolume as well (R151). */
  readonly source?: PodVolumeSource
  /** The PersistentVolume, translated to CSI if it was in-tree (R150). */
  readonly persistentVolume?: PersistentVolume
}

/** A pod volume resolved to what the kubelet calls a spec: an inline volume or a PersistentVolume, translated to CSI. */
export interface VolumeSpec extends SpecSource {
  /**
   * R005: the pod's name for an inline volume, otherwise the PersistentVolume's (synthetic for translated inline volumes).
   */
  readonly specName: string
  /** e.g. kubernetes.io/csi, kubernetes.io/empty-dir, vendor/driver */
  readonly plugin: string
  readonly uniqueName: string
  readonly mode: VolumeMode
  /** R114: persistentVolumeClaim.readOnly. */
  readonly readOnly: boolean
  readonly attachability: Attachability
  readonly deviceMountable: boolean
  readonly claim?: PersistentVolumeClaim
  /** CSI only. */
  readonly driver?: string
  readonly handle?: string
}

/** Why a source is no volume that a kubelet could mount: it cannot be translated, or no plugin takes it. Completes a message. */
export interface SpecFailure {
  readonly error: string
}

/** Attachability of a volume; `unknown` if the CSIDriver could not be read (R011, R816). */
export type Attachability = 'attachable' | 'notAttachable' | 'unknown'

// A volume that could not be resolved may be one that has a device on this node: which (S4)?
//
// At most its source is known. A readable source shows which plugins and drivers the volume can belong to. A volume without a
// readable source may be any.

/** Any volume of these plugins and drivers; none: it has no device, or its claim is not bound. */
export type MayBe = readonly DeviceKind[] | 'any'

export interface DeviceKind {
  /** For a flexVolume the driver's name. */
  readonly plugin: string
  /** For a CSI volume; undefined: any driver, or not known. */
  readonly driver?: string
}

/** May the volume be one of this kind, whose device is about to be unstaged, unmapped or detached? */
export function mayBeOne(mayBe: MayBe, { plugin, driver }: DeviceKind): boolean {
  if (mayBe === 'any') return true
  return mayBe.some(
    (kind) => kind.plugin === plugin && (driver === undefined || kind.driver === undefined || kind.driver === driver),
  )
}

/** The same for a volume's unique name. */
export function mayBeNamed(mayBe: MayBe, uniqueName: string): boolean {
  const csi = parseCsiUniqueName(uniqueName)
  if (csi !== undefined) return mayBeOne(mayBe, { plugin: CSI_PLUGIN, driver: csi.driver })
  return mayBe === 'any' || mayBe.some(({ plugin }) => uniqueName.startsWith(`${plugin}/`))
}

/** Everything that a volume which cannot be resolved holds back has one cause: its claim, where that is known, else the volume. */
export function causeOfUnresolved({ code, claimName, pod, podUid, podVolumeName }: UnresolvedVolume): Because {
  if (claimName !== undefined) return { code, subject: { claim: `${podNamespace(pod)}/${claimName}` } }
  const { namespace, name } = pod.metadata
  return {
    code,
    subject: { volume: podVolumeName, pod: { namespace, name, uid: podUid } },
  }
}

// The sources that both a pod and a PersistentVolume can have (P5).

/** The PersistentVolume's source, if there is one; a translated inline volume has one, too. */
export function sharedSourcesOf({ persistentVolume, source }: SpecSource): SharedSources {
  return persistentVolume?.spec ?? source ?? {}
}

/**
 * May the pod only read the volume? The claim's flag decides; a PersistentVolume's own flag is ignored (R114).
 *
 * @param ofInline the flag of an inline source
 */
export function isReadOnlyFor({ persistentVolume, readOnly }: VolumeToMount, ofInline: boolean | undefined): boolean {
  return persistentVolume === undefined ? ofInline === true : readOnly
}

// Where the kubelet keeps volumes, relative to the root directory (R021, P35, P22; of CSI C10).

/**
 * pods/UID/volumes/PLUGIN/NAME: of a CSI volume the directory with state file and target. Only the name of a translated inline volume has
 * a character to escape (C10).
 */
export function podVolumeDir({ podUid, plugin, specName }: VolumeToMount): string {
  return `pods/${podUid}/volumes/${escapeQualifiedName(plugin)}/${escapeQualifiedName(specName)}`
}

/** pods/UID/volumeDevices/PLUGIN/NAME: the pod's link to the device. */
export function podDeviceLink({ podUid, plugin, specName }: VolumeToMount): string {
  return `pods/${podUid}/volumeDevices/${escapeQualifiedName(plugin)}/${specName}`
}

/** The volume's directory, of a raw block volume the pod's link. */
export function podDirOf(volume: VolumeToMount): string {
  return volume.mode === 'Block' ? podDeviceLink(volume) : podVolumeDir(volume)
}

/** Where a pod's volume is mounted, or the pod's link to the device (R021). */
export function podPathOf(volume: VolumeToMount): string {
  return volume.plugin === CSI_PLUGIN && volume.mode !== 'Block' ? csiPlaces(volume).target : podDirOf(volume)
}

/** The marker that an emptyDir, or a volume of another plugin with a marker, is set up (P21). */
export function readyMarker(podUid: string, name: string, plugin = 'kubernetes.io/empty-dir'): string {
  return `pods/${podUid}/plugins/${escapeQualifiedName(plugin)}/${name}/ready`
}

/** The name of the emptyDir that a volume of another plugin is built on (P22). */
export function wrappedName(name: string): string {
  return `wrapped_${name}`
}

// The directories and files of a CSI volume.

/** The directory of all raw block volumes; it contains `staging` and `publish` beside a directory for each volume. */
export const CSI_BLOCK_DIR = `plugins/${CSI_PLUGIN}/volumeDevices`
export const VOLUME_DATA = 'vol_data.json'

/** Where a CSI volume is; what is staged is hashed only where it is asked for. */
export function csiPlaces(volume: VolumeToMount) {
  const { specName, podUid, driver, handle, persistentVolume } = volume
  const isBlock = volume.mode === 'Block'
  const own = isBlock ? `${CSI_BLOCK_DIR}/${escapeQualifiedName(specName)}` : podVolumeDir(volume)
  const isStaged = persistentVolume !== undefined && driver !== undefined && handle !== undefined
  const stagingDir = () => (isStaged ? csiGlobalDir(driver, handle) : undefined)
  return {
    /** NodePublishVolume's target_path (C55). */
    target: isBlock ? `${CSI_BLOCK_DIR}/publish/${specName}/${podUid}` : `${own}/mount`,
    /** The state file that NodeUnpublishVolume needs later (C13, C75, C83). */
    stateFile: `${own}/${isBlock ? 'data/' : ''}${VOLUME_DATA}`,
    /** Of a raw block volume: the file over which a pod's device is bind-mounted (C18). */
    mapFile: `${own}/dev/${podUid}`,
    /** The directory with the state file of a staged file system; undefined: an inline volume is never staged (C35). */
    get stagingDir() {
      return stagingDir()
    },
    /** NodeStageVolume's staging_target_path (C52); a block volume has one whether or not the driver stages (C55). */
    get stagingPath() {
      const directory = isBlock ? undefined : stagingDir()
      return isBlock ? `${CSI_BLOCK_DIR}/staging/${specName}` : directory && `${directory}/globalmount`
    },
  }
}

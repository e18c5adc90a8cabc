/** The desired state of the world: which volumes which pods of this node need. */

import { CSI_PLUGIN, parseCsiUniqueName, type VolumeMode } from '../facts/actual/volume-names.ts'
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodVolumeSource,
  SharedSources,
} from '../kube/api/objects.ts'
import type { Code } from '../messages/codes.ts'
import type { Because } from '../plan/cause.ts'
import { podNamespace } from './pods.ts'

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
export interface UnresolvedVolume {
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeName: string
  readonly cause: 'Absent' | 'Unbound' | 'Unusable' | 'Unknown'
  /** Which volumes of this node this may be: operations on those are held back. */
  readonly mayBe: MayBe
  readonly message: string
  readonly claimName?: string
  readonly persistentVolumeName?: string
}

export interface DesiredState {
  readonly volumes: readonly VolumeToMount[]
  readonly unresolved: readonly UnresolvedVolume[]
}

// A volume as its source names it, independent of the pods that want it.

/** A pod volume resolved to what the kubelet calls a spec: an inline volume or a PersistentVolume, translated to CSI. */
export interface VolumeSpec {
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
  /** Inline source; the original one of a translated volume, which has a synthetic PersistentVolume as well (R151). */
  readonly source?: PodVolumeSource
  /** The PersistentVolume, translated to CSI if it was in-tree (R150). */
  readonly persistentVolume?: PersistentVolume
  readonly claim?: PersistentVolumeClaim
  /** CSI only. */
  readonly driver?: string
  readonly handle?: string
}

/** Attachability of a volume; `unknown` if the CSIDriver could not be read (R011, R816). */
export type Attachability = 'attachable' | 'notAttachable' | 'unknown'

// A volume that could not be resolved may be one that has a device on this node: which (S4)?
//
// At most its source is known. A readable source shows which plugins and drivers the volume can belong to. A volume without a
// readable source may be any.

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

export const WAITING_FOR = {
  Absent: 'ClaimMissing',
  Unbound: 'ClaimUnbound',
  Unusable: 'VolumeUnresolved',
  Unknown: 'VolumeUnresolved',
} as const satisfies Readonly<Record<UnresolvedVolume['cause'], Code>>

/** Everything that a volume which cannot be resolved holds back has one cause: its claim, where that is known, else the volume. */
export function causeOfUnresolved({ cause, claimName, pod, podUid, podVolumeName }: UnresolvedVolume): Because {
  const code = WAITING_FOR[cause]
  if (claimName !== undefined) return { code, subject: { claim: `${podNamespace(pod)}/${claimName}` } }
  const { namespace, name } = pod.metadata
  return {
    code,
    subject: { volume: podVolumeName, pod: { ...(namespace !== undefined && { namespace }), name, uid: podUid } },
  }
}

// The sources that both a pod and a PersistentVolume can have (P5).

/** The PersistentVolume's source, if there is one; a translated inline volume has one, too. */
export function sharedSourcesOf({
  persistentVolume,
  source,
}: Pick<VolumeSpec, 'persistentVolume' | 'source'>): SharedSources {
  return persistentVolume?.spec ?? source ?? {}
}

/**
 * May the pod only read the volume? The claim's flag decides; a PersistentVolume's own flag is ignored (R114).
 *
 * @param ofInline the flag of an inline source
 */
export function isReadOnlyFor(
  { persistentVolume, readOnly }: Pick<VolumeSpec, 'persistentVolume' | 'readOnly'>,
  ofInline: boolean | undefined,
): boolean {
  return persistentVolume === undefined ? ofInline === true : readOnly
}

/** The desired state of the world: which volumes which pods of this node need. */
import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../model/objects.ts'
import type { VolumeMode } from '../plan/plan.ts'
import type { MayBe } from './may-be.ts'

/** Attachability of a volume; `unknown` where the CSIDriver could not be read (R011, R816). */
export type Attachability = 'attachable' | 'notAttachable' | 'unknown'

/** A pod volume resolved to what the kubelet calls a spec: an inline volume or a PersistentVolume, translated to CSI. */
export interface VolumeSpec {
  /** R005: the outer name for an inline volume, else the PV's name (synthetic for translated inline volumes). */
  readonly specName: string
  /** e.g. kubernetes.io/csi, kubernetes.io/empty-dir, vendor/driver */
  readonly plugin: string
  readonly uniqueName: string
  readonly mode: VolumeMode
  /** R114: persistentVolumeClaim.readOnly. */
  readonly readOnly: boolean
  readonly attachability: Attachability
  readonly deviceMountable: boolean
  /** Inline source; for a translated one the original. */
  readonly source?: PodVolumeSource
  /** The PV, translated to CSI where it was in-tree (R150). */
  readonly persistentVolume?: PersistentVolume
  readonly claim?: PersistentVolumeClaim
  /** CSI only. */
  readonly driver?: string
  readonly handle?: string
  /** An in-tree inline volume that was translated: has a synthetic PV, never expands (R151, R125). */
  readonly inlineMigrated: boolean
}

/** One volume of one pod (VolumeToMount). Two outer names may share one (R004). */
export interface VolumeToMount extends VolumeSpec {
  /** The UID used on disk: for a mirror pod the static pod's (R225, R226). */
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeNames: readonly string[]
}

/**
 * A volume of a pod that could not be resolved (S4).
 * `Absent`: the claim or PV is shown not to exist. `Unbound`: the claim is shown to be bound to nothing.
 * `Unusable`: what it is is known, and it can't be used as the pod asks. `Unknown`: anything else (403, time-out …).
 */
export interface UnresolvedVolume {
  readonly podUid: string
  readonly pod: Pod
  readonly podVolumeName: string
  readonly cause: 'Absent' | 'Unbound' | 'Unusable' | 'Unknown'
  /** Which volumes of this node it may be: those it holds back. */
  readonly mayBe: MayBe
  readonly message: string
  readonly claimName?: string
  readonly persistentVolumeName?: string
}

export interface DesiredState {
  readonly volumes: readonly VolumeToMount[]
  readonly unresolved: readonly UnresolvedVolume[]
}

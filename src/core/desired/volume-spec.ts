/** A volume as its source names it, independent of the pods that want it. */
import type { PersistentVolume, PersistentVolumeClaim, PodVolumeSource } from '../model/objects.ts'
import type { VolumeMode } from '../names/volume-names.ts'

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
  /** Inline source; the original one of a translated volume. */
  readonly source?: PodVolumeSource
  /** The PersistentVolume, translated to CSI if it was in-tree (R150). */
  readonly persistentVolume?: PersistentVolume
  readonly claim?: PersistentVolumeClaim
  /** CSI only. */
  readonly driver?: string
  readonly handle?: string
  /** An in-tree inline volume that was translated: it has a synthetic PV, and never expands (R151, R125). */
  readonly inlineMigrated: boolean
}

/** Attachability of a volume; `unknown` if the CSIDriver could not be read (R011, R816). */
export type Attachability = 'attachable' | 'notAttachable' | 'unknown'

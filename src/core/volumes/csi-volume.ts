/** The spec of a CSI volume, a PersistentVolume's or an inline one's (C8, C52, C55-C58, C63, C64, C106). */
import type { CsiDriver, CsiPersistentVolumeSource } from '../kube/api/objects.ts'
import { isReadOnlyFor, type VolumeToMount } from './desired-state.ts'
import { podNamespace } from './pods.ts'

export function isEphemeral({ persistentVolume }: VolumeToMount): boolean {
  return persistentVolume === undefined
}

/**
 * `fsType`: without one no default is used (C52). `volumeAttributes`: those for the driver, without those that the kubelet adds (C52, C55).
 */
export function csiSpecOf({ persistentVolume, source }: VolumeToMount): Partial<CsiPersistentVolumeSource> {
  return (persistentVolume === undefined ? source?.csi : persistentVolume.spec.csi) ?? {}
}

/** Read-only for the pod. The PersistentVolume's own readOnly matters only to the controller (C57). */
export function isReadOnly(volume: VolumeToMount): boolean {
  return isReadOnlyFor(volume, volume.source?.csi?.readOnly)
}

export type SecretUse = `node${'Stage' | 'Publish' | 'Expand'}SecretRef`

/** The secret for a call (C58); an inline volume's is in the pod's namespace. */
export function secretOf(volume: VolumeToMount, use: SecretUse): { namespace: string; name: string } | undefined {
  const { persistentVolume, source, pod } = volume
  if (persistentVolume === undefined) {
    const name = use === 'nodePublishSecretRef' && source?.csi?.[use]?.name
    return name ? { namespace: podNamespace(pod), name } : undefined
  }
  const { namespace = '', name } = persistentVolume.spec.csi?.[use] ?? {}
  return name ? { namespace, name } : undefined
}

/** Does the CSIDriver allow volumes of this kind? Without a CSIDriver only persistent volumes are allowed (C106). */
export function allowsLifecycle(driver: CsiDriver | undefined, kind: 'Ephemeral' | 'Persistent'): boolean {
  return (driver?.spec.volumeLifecycleModes ?? ['Persistent']).includes(kind)
}

/**
 * Does the kubelet itself give the content of this volume to a pod's fsGroup (C63, C64)? The caller checks whether the driver
 * does so instead (VOLUME_MOUNT_GROUP, C62).
 */
export function kubeletSetsGroup(volume: VolumeToMount, driver: CsiDriver | undefined): boolean {
  const policy = driver?.spec.fsGroupPolicy || 'ReadWriteOnceWithFSType'
  if (volume.mode === 'Block' || policy === 'None' || isReadOnly(volume)) return false
  if (policy === 'File') return true
  if (!csiSpecOf(volume).fsType) return false
  if (isEphemeral(volume)) return true
  const modes = volume.persistentVolume?.spec.accessModes ?? []
  return modes.includes('ReadWriteOnce') || modes.includes('ReadWriteOncePod')
}

/** What a CSI volume's spec says, be it a PersistentVolume or inline in the pod (C8, C52, C55-C58, C63, C64, C106). */

import type { CsiDriver, SecretReference } from '../model/objects.ts'
import type { VolumeToMount } from './desired-state.ts'
import { podNamespace } from './pods.ts'
import { isReadOnlyFor } from './shared-sources.ts'

export function isEphemeral({ persistentVolume }: VolumeToMount): boolean {
  return persistentVolume === undefined
}

/** Empty where the spec has none: no default is filled in (C52). */
export function fsTypeOf({ persistentVolume, source }: VolumeToMount): string {
  return (persistentVolume === undefined ? source?.csi?.fsType : persistentVolume.spec.csi?.fsType) ?? ''
}

/** What the volume's author gives the driver, without what the kubelet adds (C52, C55). */
export function attributesOf({ persistentVolume, source }: VolumeToMount): Readonly<Record<string, string>> {
  const { volumeAttributes } = (persistentVolume === undefined ? source?.csi : persistentVolume.spec.csi) ?? {}
  return volumeAttributes ?? {}
}

/** For the pod, not the PersistentVolume's own readOnly, which is the controller's business (C57). */
export function isReadOnly(volume: VolumeToMount): boolean {
  return isReadOnlyFor(volume, volume.source?.csi?.readOnly)
}

export type SecretUse = 'stage' | 'publish' | 'expand'

/** Which secret a call takes (C58); an inline volume's lies in the pod's namespace. */
export function secretOf(volume: VolumeToMount, use: SecretUse): { namespace: string; name: string } | undefined {
  const { persistentVolume, source, pod } = volume
  if (persistentVolume === undefined) {
    const name = use === 'publish' ? source?.csi?.nodePublishSecretRef?.name : undefined
    return name ? { namespace: podNamespace(pod), name } : undefined
  }
  const { nodeStageSecretRef, nodePublishSecretRef, nodeExpandSecretRef } = persistentVolume.spec.csi ?? {}
  const of: Record<SecretUse, SecretReference | undefined> = {
    stage: nodeStageSecretRef,
    publish: nodePublishSecretRef,
    expand: nodeExpandSecretRef,
  }
  const { namespace = '', name } = of[use] ?? {}
  return name ? { namespace, name } : undefined
}

/** Does the CSIDriver allow volumes of this kind; without one only persistent volumes are (C106). */
export function allowsLifecycle(driver: CsiDriver | undefined, ephemeral: boolean): boolean {
  if (driver === undefined) return !ephemeral
  return driver.spec.volumeLifecycleModes?.includes(ephemeral ? 'Ephemeral' : 'Persistent') ?? !ephemeral
}

/**
 * Does the kubelet give the content of this volume to a pod's group by itself (C63, C64): not where the driver does
 * (VOLUME_MOUNT_GROUP, C62), which is for the caller to know.
 */
export function kubeletSetsGroup(volume: VolumeToMount, driver: CsiDriver | undefined): boolean {
  const policy = driver?.spec.fsGroupPolicy || 'ReadWriteOnceWithFSType'
  if (volume.mode === 'Block' || policy === 'None' || isReadOnly(volume)) return false
  if (policy === 'File') return true
  if (fsTypeOf(volume) === '') return false
  if (isEphemeral(volume)) return true
  const modes = volume.persistentVolume?.spec.accessModes ?? []
  return modes.includes('ReadWriteOnce') || modes.includes('ReadWriteOncePod')
}

import type { CsiPersistentVolumeSource, PersistentVolume } from '../../model/objects.ts'
import { translatePersistentVolume } from './translate.ts'

/** The CSI source of a PersistentVolume, its own or what an in-tree one is translated to (R150); undefined for others. */
export function csiSourceOf(volume: PersistentVolume): CsiPersistentVolumeSource | undefined {
  if (volume.spec.csi !== undefined) return volume.spec.csi
  const translation = translatePersistentVolume(volume)
  return translation !== undefined && 'persistentVolume' in translation
    ? translation.persistentVolume.spec.csi
    : undefined
}

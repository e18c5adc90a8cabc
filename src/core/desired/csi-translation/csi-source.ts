import type { CsiPersistentVolumeSource, PersistentVolume } from '../../model/objects.ts'
import { translatePersistentVolume } from './translate.ts'

/** The CSI source of a PersistentVolume, translated if its source is in-tree (R150); undefined for other sources. */
export function csiSourceOf(volume: PersistentVolume): CsiPersistentVolumeSource | undefined {
  if (volume.spec.csi !== undefined) return volume.spec.csi
  const translation = translatePersistentVolume(volume)
  return translation !== undefined && 'persistentVolume' in translation
    ? translation.persistentVolume.spec.csi
    : undefined
}

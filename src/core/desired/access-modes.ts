/** How many nodes and pods may have a volume at once, by its access modes. */
import type { PersistentVolume } from '../model/objects.ts'

/** May several nodes write or read the volume at once (R740); unknown modes: no. */
export function allowsSeveralNodes(volume: PersistentVolume | undefined): boolean {
  return volume?.spec.accessModes?.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany') ?? false
}

/** For messages: the modes by which the volume is judged. */
export function accessModesText(volume: PersistentVolume | undefined): string {
  return volume?.spec.accessModes?.join(', ') || 'not known'
}

/** May only one pod have the volume; beside another mode the kubelet takes no notice of it (R430). */
export function isForOnePod(volume: PersistentVolume | undefined): boolean {
  const modes = volume?.spec.accessModes ?? []
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod'
}

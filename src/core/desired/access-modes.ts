/** How many nodes and pods may use a volume at once, by its access modes. */
import type { PersistentVolume } from '../model/objects.ts'

/** May several nodes write or read the volume at once (R740); unknown modes: no. */
export function allowsSeveralNodes(volume: PersistentVolume | undefined): boolean {
  return volume?.spec.accessModes?.some((mode) => mode === 'ReadWriteMany' || mode === 'ReadOnlyMany') ?? false
}

/** The access modes, for messages. */
export function accessModesText(volume: PersistentVolume | undefined): string {
  return volume?.spec.accessModes?.join(', ') || 'not known'
}

/** May only one pod use the volume? Beside another access mode the kubelet ignores ReadWriteOncePod (R430). */
export function isForOnePod(volume: PersistentVolume | undefined): boolean {
  const modes = volume?.spec.accessModes ?? []
  return modes.length === 1 && modes[0] === 'ReadWriteOncePod'
}

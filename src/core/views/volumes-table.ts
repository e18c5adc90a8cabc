import type { Operation, VolumeRef } from '../plan/plan.ts'
import type { Palette } from './palette.ts'
import { type Cell, renderTable } from './render-table.ts'

/** What is known of each volume that the plan acts on, once per volume (S31). */
export function volumesTable(operations: readonly Operation[], paint: Palette): string {
  const volumes = new Map<string, VolumeRef>()
  for (const { volume, pod } of operations) {
    if (volume === undefined || !isKnown(volume)) continue
    const key = volume.persistentVolume ?? volume.uniqueName ?? `${pod?.uid}/${volume.name}`
    volumes.set(key, { ...volume, ...volumes.get(key) })
  }
  if (volumes.size === 0) return ''
  const head = ['VOLUME', 'PLUGIN', 'CLAIM', 'PV', 'DRIVER', 'HANDLE', 'HANDLE FROM']
  const more = ['ACCESS', 'ATTACHED', 'IN USE', 'ALSO ATTACHED TO', 'DEVICE']
  const rows = [...volumes.values()].map((volume): Cell[] => [
    volume.name,
    volume.plugin,
    volume.claim ?? '',
    volume.persistentVolume ?? '',
    volume.driver ?? '',
    volume.handle ?? '',
    volume.handleFrom ?? '',
    (volume.accessModes ?? []).join(','),
    yesNo(volume.attached),
    yesNo(volume.inUse),
    { text: (volume.attachedElsewhere ?? []).join(','), paint: paint.warn },
    volume.device ?? '',
  ])
  return `\n${renderTable([...head, ...more], rows)}`
}

function isKnown({ claim, persistentVolume, driver, device }: VolumeRef): boolean {
  return [claim, persistentVolume, driver, device].some((value) => value !== undefined)
}

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}

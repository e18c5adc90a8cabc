import { stripVTControlCharacters } from 'node:util'
import type { Operation, VolumeRef } from '../plan/plan.ts'
import { shownVolume } from '../plan/plan-names.ts'
import { type Cell, cellText, renderTable } from './render-table.ts'
import type { Screen } from './screen.ts'
import { textWidth } from './text-width.ts'
import { type Width, wrapped } from './wrap.ts'

/** What is known of each volume that the plan acts on, once per volume (S31). */
export function volumesText(operations: readonly Operation[], { paint, width }: Screen): string {
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
    shownVolume({ volume }),
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
  const columns = [...head, ...more]
  const table = renderTable(columns, rows)
  if (width === undefined || textWidth(stripVTControlCharacters(table.split('\n', 1)[0] ?? '')) <= width)
    return `\n${table}`
  return `\n${paint.bold('Volumes:')}\n${rows.map((row) => recordText(columns, row, width)).join('')}`
}

/** Where the table is too wide, a volume a paragraph: `pv-a: claim shop/data; driver disk.example.com; …`. */
function recordText(columns: readonly string[], [name, ...cells]: readonly Cell[], width: Width): string {
  const known = cells.flatMap((cell, index) =>
    cellText(cell) === '' ? [] : [`${columns[index + 1]?.toLowerCase()} ${cellText(cell)}`],
  )
  return wrapped('  ', `${cellText(name)}: ${known.join('; ')}`, width)
}

function isKnown({ claim, persistentVolume, driver, device }: VolumeRef): boolean {
  return [claim, persistentVolume, driver, device].some((value) => value !== undefined)
}

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}

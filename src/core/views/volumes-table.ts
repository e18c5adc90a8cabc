import type { Operation, VolumeRef } from '../plan/plan.ts'
import { shownVolume } from '../plan/plan-names.ts'
import { type Column, columnsTable } from './columns-table.ts'
import type { Cell } from './render-table.ts'
import type { Screen } from './screen.ts'

/** What is known of each volume that the plan acts on, once per volume (S31). */
export function volumesText(operations: readonly Operation[], screen: Screen): string {
  const volumes = new Map<string, VolumeRef>()
  for (const { volume, pod } of operations) {
    if (volume === undefined || !isKnown(volume)) continue
    const key = volume.persistentVolume ?? volume.uniqueName ?? `${pod?.uid}/${volume.name}`
    volumes.set(key, { ...volume, ...volumes.get(key) })
  }
  return volumes.size === 0 ? '' : columnsTable({ columns: COLUMNS, inWords: true }, [...volumes.values()], screen)
}

/** What gives way first is the last. */
const COLUMNS: readonly Column<VolumeRef>[] = [
  { head: 'VOLUME', cell: (volume) => shownVolume({ volume }) },
  ...Object.entries<(volume: VolumeRef, screen: Screen) => Cell | undefined>({
    PLUGIN: ({ plugin }) => plugin,
    CLAIM: ({ claim }) => claim,
    PV: ({ persistentVolume }) => persistentVolume,
    DRIVER: ({ driver }) => driver,
    HANDLE: ({ handle }) => handle,
    'HANDLE FROM': ({ handleFrom }) => handleFrom,
    ACCESS: ({ accessModes }) => accessModes?.join(','),
    ATTACHED: ({ attached }) => yesNo(attached),
    'IN USE': ({ inUse }) => yesNo(inUse),
    'ALSO ATTACHED TO': ({ attachedElsewhere = [] }, { paint }) => ({
      text: attachedElsewhere.join(','),
      paint: paint.warn,
    }),
    DEVICE: ({ device }) => device,
  }).map(([head, cell], index) => ({
    ...{ head, stays: -index },
    cell: (volume: VolumeRef, screen: Screen) => cell(volume, screen) ?? '',
  })),
]

function isKnown({ claim, persistentVolume, driver, device }: VolumeRef): boolean {
  return [claim, persistentVolume, driver, device].some((value) => value !== undefined)
}

function yesNo(value: boolean | undefined): string {
  return value === undefined ? '' : value ? 'yes' : 'no'
}

/** Rows of one pod that are alike, as one: its config maps, secrets, tokens and downward API volumes share one fate. */
import { isApiContent } from '../plan/api-content.ts'
import type { StatusRow } from '../status/status.ts'

/** In the place of the first; the others keep their order. */
export function foldContent(rows: readonly StatusRow[]): readonly StatusRow[] {
  const groups = Map.groupBy(rows, likeness)
  return rows.flatMap((row) => {
    const alike = groups.get(likeness(row)) ?? []
    if (!isContent(row) || alike.length === 1) return row
    return alike[0] === row ? [asOne(row, alike.length)] : []
  })
}

function isContent({ pod, volume }: StatusRow): boolean {
  return pod !== undefined && isApiContent(volume)
}

function likeness(row: StatusRow): unknown {
  if (!isContent(row)) return row
  const { pod, desired, mounted, dead, due, verdict } = row
  return JSON.stringify([pod?.uid, desired, mounted, dead, due, verdict.state, verdict.code])
}

/** Short: what devices are in is in the columns beside. */
function asOne(first: StatusRow, count: number): StatusRow {
  const name = `${count} config maps etc.`
  return { ...first, podVolumeNames: [name], volume: { ...first.volume, name, plugin: '' } }
}

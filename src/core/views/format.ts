import type { VolumeRef } from '../plan/plan.ts'
import { shownVolume } from '../plan/plan-names.ts'

/** A volume by the name that its pod gives it, where that is known. */
export function volumeText(volume: VolumeRef): string {
  return volume.podVolumeName ?? shownVolume({ volume })
}

/** With a capital and a full stop. */
export function sentence(text: string): string {
  return `${text.replace(/^./, (first) => first.toUpperCase())}.`
}

/** The row of each operation by its id, from 1. */
export function numbersOf(operations: readonly { readonly id: string }[]): ReadonlyMap<string, number> {
  return new Map(operations.map(({ id }, index) => [id, index + 1]))
}

/** Row numbers in a short form: `1-3, 7`. */
export function numberRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const n of numbers) {
    const last = ranges.at(-1)
    if (last !== undefined && n === last[1] + 1) last[1] = n
    else ranges.push([n, n])
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')
}

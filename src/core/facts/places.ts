/** Which volume's a path is, by the nearest one above it that is a volume's own. */

import { append } from '../base/append.ts'
import type { PodUid, RowKey } from '../plan/subject.ts'
import { placesOf, type VolumeRow } from './row.ts'

/** A volume, or one pod's part of it. */
export interface Part {
  readonly row: RowKey
  readonly pod?: PodUid
}

/** By path, relative to the root directory. */
export function partsByPath(rows: readonly VolumeRow[]): ReadonlyMap<string, readonly Part[]> {
  const index = new Map<string, Part[]>()
  for (const row of rows)
    for (const { path, ...pod } of placesOf(row)) {
      if (index.get(path)?.some((each) => each.row === row.key && each.pod === pod.pod)) continue
      append(index, path, { row: row.key, ...pod })
    }
  return index
}

/** Of paths that are plain already: each is compared with each. */
export function liesIn(path: string, directory: string): boolean {
  if (directory === '.') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

export function meets(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

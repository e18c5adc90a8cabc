/** Snapshots of real nodes in test/fixtures/captures. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import type { NodeState } from '../../src/core/volumes/snapshot.ts'

export const CAPTURES = new URL('../fixtures/captures/', import.meta.url).pathname
/** On which commands are tried: a node with nothing to do, one with two pods that were deleted, and clusters. */
export const HEALTHY = join(CAPTURES, 'healthy', 'node.json')
export const BROKEN = join(CAPTURES, 'forcedel-killed', 'before.json')
export const CLUSTERS = join(CAPTURES, '..', 'clusters')

/** @returns `FOLDER/FILE.json`, relative to the captures */
export function captureFiles(files: readonly string[] = ['node.json', 'before.json', 'after.json']): string[] {
  return readdirSync(CAPTURES).flatMap((folder) =>
    files.map((file) => join(folder, file)).filter((path) => existsSync(join(CAPTURES, path))),
  )
}

/** @param path `FOLDER/FILE.json` */
export function recorded(path: string): Promise<NodeState> {
  return readSnapshot(join(CAPTURES, path))
}

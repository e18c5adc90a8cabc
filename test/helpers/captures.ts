/** Snapshots of real nodes in test/fixtures/captures. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = new URL('../fixtures/captures/', import.meta.url).pathname

/** @returns `FOLDER/FILE.json`, relative to the captures */
export function captureFiles(files: readonly string[] = ['node.json', 'before.json', 'after.json']): string[] {
  return readdirSync(FOLDER).flatMap((folder) =>
    files.map((file) => join(folder, file)).filter((path) => existsSync(join(FOLDER, path))),
  )
}

/** Writes schema/*.schema.json; with `--check` only compares, and fails if one is out of date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENTS } from '../src/core/documents/documents.ts'
import { schemaText } from '../src/core/json/json-schema.ts'

const FOLDER = join(import.meta.dirname, '..', 'schema')

/** Made from the shapes that documents are read or typed with, by file name, so that schemas and code agree. */
export function schemas(): Map<string, string> {
  return new Map(
    DOCUMENTS.map(({ file, title, shape }) => [
      `${file}.schema.json`,
      schemaText({ $id: `https://volctl.io/v1/${file}.schema.json`, title }, shape),
    ]),
  )
}

if (import.meta.main) {
  for (const [name, text] of schemas()) {
    const path = join(FOLDER, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    if (process.argv.includes('--check')) {
      console.error(`schema/${name} is not current: run npm run schema`)
      process.exitCode = 1
    } else {
      writeFileSync(path, text)
      console.log(`wrote schema/${name}`)
    }
  }
}

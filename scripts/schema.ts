/** Writes the JSON Schemas; with `--check` only compares, and fails if one is out of date. */
import { schemaText } from '../src/core/json/json-schema.ts'
import { DOCUMENTS } from './documents.ts'
import { keepCurrent } from './made-files.ts'

/** Made from the shapes that documents are read or typed with, by file name, so that schemas and code agree. */
export function schemas(): Map<string, string> {
  return new Map(
    DOCUMENTS.map(({ file, title, shape }) => [
      `${file}.schema.json`,
      schemaText({ $id: `https://volctl.io/v1/${file}.schema.json`, title }, shape),
    ]),
  )
}

if (import.meta.main) keepCurrent(new Map([...schemas()].map(([name, text]) => [`schema/${name}`, text])), 'schema')

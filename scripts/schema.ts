/** Writes schema/plan.schema.json; with `--check` only compares, and fails if it is out of date. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaText } from '../src/core/json/json-schema.ts'
import { wholePlan } from '../src/core/plan-file/whole-plan.ts'

const PATH = join(import.meta.dirname, '..', 'schema', 'plan.schema.json')

/** Made from the shapes that plan files are read with, so that reading and schema agree. */
export function planSchema(): string {
  return schemaText({ $id: 'https://volctl.io/v1/plan.schema.json', title: 'Plan' }, wholePlan)
}

if (import.meta.main) {
  const text = planSchema()
  if (text !== readFileSync(PATH, 'utf8')) {
    if (process.argv.includes('--check')) {
      console.error('schema/plan.schema.json is not current: run npm run schema')
      process.exitCode = 1
    } else {
      writeFileSync(PATH, text)
      console.log('wrote schema/plan.schema.json')
    }
  }
}

/** Writes schema/plan.schema.json; with `--check` only compares, and fails where it is not what it should be. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaText } from '../src/core/json/json-schema.ts'
import { wholePlan } from '../src/core/plan-file/whole-plan.ts'

const PATH = join(import.meta.dirname, '..', 'schema', 'plan.schema.json')

/** By the shapes that plan files are read with: what is read and what others are told is one thing. */
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

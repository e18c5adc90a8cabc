/** Writes man/*.8; with `--check` only compares, and fails if a page is out of date. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manualPages } from './man/pages.ts'

const check = process.argv.includes('--check')
const folder = join(import.meta.dirname, '..', 'man')

for (const [name, text] of await manualPages()) {
  const path = join(folder, name)
  const current = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (current === text) continue
  if (check) {
    console.error(`man/${name} is not current: run npm run man`)
    process.exitCode = 1
  } else {
    writeFileSync(path, text)
    console.log(`wrote man/${name}`)
  }
}

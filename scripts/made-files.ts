/** Files that are made of others, and are in git. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * Writes those that are not current; with `--check` only says which, and fails.
 *
 * @param files by their paths in the checkout
 * @param maker its name among the scripts of npm
 */
export function keepCurrent(files: ReadonlyMap<string, string>, maker: string): void {
  for (const [name, text] of files) {
    const path = join(root, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    if (process.argv.includes('--check')) {
      console.error(`${name} is not current: run npm run ${maker}`)
      process.exitCode = 1
    } else {
      writeFileSync(path, text)
      console.log(`wrote ${name}`)
    }
  }
}

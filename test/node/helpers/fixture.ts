import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Memory, where there is a place for it: thousands of small files are made in no time. */
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** A temporary directory with these files, removed at the end of its scope. */
export function fixture(files: Readonly<Record<string, string>> = {}): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(PLACE, 'volctl-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

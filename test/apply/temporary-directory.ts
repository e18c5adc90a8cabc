import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll } from 'vitest'

const made: string[] = []

/** A directory that is removed when the tests of the file that asked for it have ended. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(`${tmpdir()}/volctl-test-`)
  made.push(directory)
  return directory
}

afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true })
})

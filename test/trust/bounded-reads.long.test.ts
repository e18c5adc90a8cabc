/** Large directories are read in pieces: memory does not grow with what is not kept (S34). A mount table: lines-in-pieces.test.ts. */
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeProgram } from '../helpers/programs.ts'

/** With a heap of 16 MB. */
function reading(what: string, path: string): unknown {
  const worker = new URL('./bounded-reads.worker.ts', import.meta.url)
  const said = execFileSync(...nodeProgram(worker, [what, path], ['--max-old-space-size=16']), { encoding: 'utf8' })
  return JSON.parse(said).found
}

describe('a directory of 100,000 files (a container may make millions)', () => {
  // In memory, where there is such a place: each name is made and deleted one by one.
  const place = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'volctl-many-'))
  afterAll(() => rmSync(place, { recursive: true }))

  beforeAll(() => {
    for (let index = 0; index < 100_000; index++) {
      const first = `${place}/${index - (index % 50_000)}`
      if (index % 50_000 === 0) writeFileSync(first, 'x')
      else linkSync(first, `${place}/a-name-of-ordinary-length-${index}`)
    }
  })

  it.each([
    { how: 'listed', found: [10_000, 'more than 10000 entries'] },
    { how: 'searched', found: [] },
    { how: 'deleted', found: 100_000 },
  ] as const)('is $how with a heap in which its names would have no room', ({ how, found }) => {
    expect(reading(how, place)).toEqual(found)
  })
})

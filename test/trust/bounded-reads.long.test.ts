/** Large things of the node are read in pieces, or once: memory does not grow with what is not kept (S34). */
import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, linkSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nodeProgram } from '../helpers/programs.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const MIB = 1024 * 1024
const directory = temporaryDirectory()
/** A megabyte at a time, so that the test is not what is large. */
function write(path: string, mebibytes: number, line: (index: number) => string): number {
  const fd = openSync(path, 'wx', 0o600)
  let lines = 0
  for (let written = 0; written < mebibytes * MIB; ) {
    let piece = ''
    while (piece.length < MIB) piece += line(lines++)
    written += writeSync(fd, piece)
  }
  closeSync(fd)
  return lines
}

/** @param flags of Node; default: as bin/volctl starts it */
function reading(
  what: string,
  path: string,
  flags = ['--min-semi-space-size=16'],
): { found: unknown; mebibytes: number } {
  const program = nodeProgram(new URL('./bounded-reads.worker.ts', import.meta.url), [what, path], flags)
  const said = execFileSync(...program, { encoding: 'utf8' })
  const { found, maxRss } = JSON.parse(said)
  return { found, mebibytes: maxRss / 1024 }
}

it('a mount table of 50 MB is read with less than 500 MB', () => {
  const path = join(directory, 'mountinfo')
  const lines = write(path, 50, mount)
  const { found, mebibytes } = reading('mountinfo', path)
  expect(found).toBe(lines)
  expect(mebibytes).toBeGreaterThan(50)
  expect(mebibytes).toBeLessThan(500)
})

/** As a tmpfs of a pod has it. */
function mount(index: number): string {
  const pod = `1111${index.toString(16).padStart(4, '0')}-2222-4333-8444-000000000003`.slice(-36)
  const place = `/var/lib/kubelet/pods/${pod}/volumes/kubernetes.io~empty-dir/cache-${index}`
  return `${index + 100} 30 0:${index + 50} / ${place} rw,relatime shared:${index} - tmpfs tmpfs rw,size=1024k\n`
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
    expect(reading(how, place, ['--max-old-space-size=16']).found).toEqual(found)
  })
})

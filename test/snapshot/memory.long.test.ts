/** No snapshot takes more than 500 MB to be read, whoever made it (S34). */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const MOST = 500_000_000
const HEAD =
  '{"apiVersion":"volctl.io/v1","kind":"NodeSnapshot","capturedAt":"2026-11-21T02:05:32Z","nodeName":"n","rootDir":"/k"'
const ROOM = 100 * 2 ** 20 - 1000

const directory = temporaryDirectory()
const file = join(directory, 'node.json')
afterEach(() => rmSync(file, { force: true }))

/** The most lines, of which some are long. */
function table(bytes: number): string {
  const line = `1 1 7:1 / /${'x'.repeat(Math.floor(bytes / 4e5) - 24)} r - a b r\\n`
  return `"mountinfo":"${line.repeat(399_999)}"`
}
const list = (values: number, value: string): string => `"x":[${`${value},`.repeat(values)}0]`
const filled = (document: string, bytes: number, text = 'x'): string =>
  `${document},"z":"${text}${'x'.repeat(Math.max(0, bytes - document.length))}"}`
/** Objects of a hundred names that no other has. */
function newNames(count: number): string {
  const names = Array.from({ length: count }, (_, index) => `"n${index}":0`)
  const objects = Array.from({ length: count / 100 }, (_, at) => `{${names.slice(at * 100, at * 100 + 100)}}`)
  return `"x":[${objects}]`
}

describe('S34: to read a snapshot takes less than 500 MB', () => {
  it.each<{ name: string; document: () => string; how?: 'packed' | 'pipe'; outcome: string }>([
    {
      name: 'one long text of two bytes a character',
      document: () => filled(HEAD, ROOM, '数'),
      outcome: 'too large',
    },
    { name: 'as much of that as may be', document: () => filled(HEAD, 67_900_000, '数'), outcome: 'read' },
    {
      name: 'the longest mount table',
      document: () => filled(`${HEAD},${table(48 * 2 ** 20)}`, ROOM),
      outcome: 'read',
    },
    {
      name: 'the same, packed',
      document: () => filled(`${HEAD},${table(48 * 2 ** 20)}`, ROOM),
      how: 'packed',
      outcome: 'read',
    },
    { name: 'empty lists and text', document: () => filled(`${HEAD},${list(1_000_000, '[]')}`, 65e6), outcome: 'read' },
    { name: 'numbers', document: () => `${HEAD},${list(2_999_900, '1.5')}}`, outcome: 'read' },
    { name: 'objects with an index', document: () => `${HEAD},${list(590_000, '{"9":0}')}}`, outcome: 'read' },
    {
      name: 'more objects with an index',
      document: () => `${HEAD},${list(1_499_000, '{"9":0}')}}`,
      outcome: 'too large',
    },
    { name: 'new names', document: () => `${HEAD},${newNames(270_000)}}`, outcome: 'read' },
    { name: 'more new names', document: () => `${HEAD},${newNames(280_000)}}`, outcome: 'too large' },
    {
      name: 'as long a mount table, through a pipe',
      document: () => filled(`${HEAD},${table(48 * 2 ** 20)}`, 79_900_000),
      how: 'pipe',
      outcome: 'read',
    },
    { name: 'more through a pipe', document: () => filled(HEAD, 80_100_000), how: 'pipe', outcome: 'too large' },
  ])('$name', ({ document, how, outcome }) => {
    const text = Buffer.from(document())
    const input = how === 'packed' ? gzipSync(text, { level: 1 }) : text
    if (how !== 'pipe') writeFileSync(file, input)
    const worker = new URL('./memory.worker.ts', import.meta.url).pathname
    // As bin/volctl starts it.
    const args = ['--min-semi-space-size=16', worker, how === 'pipe' ? '-' : file]
    const said = execFileSync(process.execPath, args, { encoding: 'utf8', ...(how === 'pipe' && { input }) })
    const { outcome: found, maxRss } = JSON.parse(said)
    expect(found).toBe(outcome)
    expect(maxRss * 1024).toBeLessThan(MOST)
  })
})

/** No snapshot takes more than 500 MB to be read, whoever made it (S34). */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
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

it.each<[name: string, document: () => string, outcome: string, how?: 'packed' | 'pipe']>([
  ['one long text of two bytes a character', () => filled(HEAD, ROOM, '数'), 'too large'],
  ['as much of that as may be', () => filled(HEAD, 67_900_000, '数'), 'read'],
  ['the longest mount table', () => filled(`${HEAD},${table(48 * 2 ** 20)}`, ROOM), 'read'],
  ['the same, packed', () => filled(`${HEAD},${table(48 * 2 ** 20)}`, ROOM), 'read', 'packed'],
  ['empty lists and text', () => filled(`${HEAD},${list(1_000_000, '[]')}`, 65e6), 'read'],
  ['numbers', () => `${HEAD},${list(2_999_900, '1.5')}}`, 'read'],
  ['objects with an index', () => `${HEAD},${list(590_000, '{"9":0}')}}`, 'read'],
  ['more objects with an index', () => `${HEAD},${list(1_499_000, '{"9":0}')}}`, 'too large'],
  ['new names', () => `${HEAD},${newNames(270_000)}}`, 'read'],
  ['more new names', () => `${HEAD},${newNames(280_000)}}`, 'too large'],
  ['as long a mount table, through a pipe', () => filled(`${HEAD},${table(48 * 2 ** 20)}`, 79_900_000), 'read', 'pipe'],
  ['more through a pipe', () => filled(HEAD, 80_100_000), 'too large', 'pipe'],
])('S34: to read a snapshot takes less than 500 MB: %s', (_name, document, outcome, how) => {
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

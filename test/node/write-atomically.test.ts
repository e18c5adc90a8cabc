/** What a reader of a volume sees after one write, and after several (P28, P29): upstream's atomic_writer_test.go; what a crash left: set-up/atomic. */
import { mkdirSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { containingMount } from '../../src/core/linux/location.ts'
import { parseMountinfo } from '../../src/core/linux/parse-mountinfo.ts'
import type { Undo } from '../../src/core/linux/undo.ts'
import { writeAtomically } from '../../src/core/node/write-atomically.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

const base = realpathSync(temporaryDirectory())
const mountId = containingMount(parseMountinfo(readFileSync('/proc/self/mountinfo')), base)?.id ?? 0

/** Texts by path; of a list text and mode. */
type Payload = Readonly<Record<string, string | readonly [string, number]>>

let made = 0
function volume(): string {
  const path = `${base}/${made++}`
  mkdirSync(path)
  return path
}

async function write(path: string, payload: Payload): Promise<void> {
  const files = Object.entries(payload).map(([name, given]) => {
    const [text, mode] = typeof given === 'string' ? [given, 0o644] : given
    return [name, { value: Buffer.from(text), mode }] as const
  })
  await writeAtomically(path, { mountId, files: new Map(files), nested: [], say: () => {}, made: [] })
}

const isOwn = (name: string) => name.startsWith('..')

/** What containers see: text and mode by path, through the links. */
function seen(path: string): Payload {
  const found = readdirSync(`${path}/..data`, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const top = realpathSync(`${path}/..data`)
  return Object.fromEntries(
    found.map((each) => {
      const name = `${realpathSync(each.parentPath)}/${each.name}`.slice(top.length + 1)
      return [name, [readFileSync(`${path}/${name}`, 'utf8'), statSync(`${path}/${name}`).mode & 0o7777]]
    }),
  )
}

const whole = (payload: Payload): Payload =>
  Object.fromEntries(
    Object.entries(payload).map(([path, given]) => [path, typeof given === 'string' ? [given, 0o644] : given]),
  )

const generationOf = (path: string) => readlinkSync(`${path}/..data`)

/** The links of the top level, and the generation that `..data` leads to: nothing else is left of any write. */
function expectTidy(path: string, payload: Payload): void {
  const top = [...new Set(Object.keys(payload).map((name) => name.split('/')[0] ?? ''))].toSorted()
  const names = readdirSync(path)
  expect(names.filter((name) => !isOwn(name)).toSorted()).toEqual(top)
  expect(top.map((name) => readlinkSync(`${path}/${name}`))).toEqual(top.map((name) => `..data/${name}`))
  expect(names.filter(isOwn).toSorted()).toEqual(['..data', generationOf(path)].toSorted())
}

it.each<{ name: string; payload: Payload }>([
  { name: 'files with modes of their own', payload: { foo: ['foo', 0o444], bar: ['bar', 0o4755] } },
  { name: 'directories', payload: { 'foo/bar.txt': 'a', 'foo/deep/er.txt': 'b', 'bar/zab.txt': 'c' } },
  { name: 'bytes, and nothing at all', payload: { none: '', bytes: '\0\u0001\n' } },
  { name: 'names of 255 bytes, in a path of many', payload: { [`${`${'x'.repeat(255)}/`.repeat(10)}y`]: 'deep' } },
])('one write: $name', async ({ payload }) => {
  const path = volume()
  await write(path, payload)
  expect(seen(path)).toEqual(whole(payload))
  expectTidy(path, payload)
  expect(statSync(`${path}/..data/.`).mode & 0o7777).toBe(0o755)
})

describe('a second write', () => {
  it.each<{ name: string; first: Payload; next: Payload; anew: boolean }>([
    { name: 'the same', first: { foo: 'a', 'b/c': 'd' }, next: { foo: 'a', 'b/c': 'd' }, anew: false },
    { name: 'another text of the same length in a directory', first: { 'a/b': '1' }, next: { 'a/b': '2' }, anew: true },
    {
      name: 'one less in a directory that another file keeps',
      first: { 'd/a': '1', 'd/b': '2', 'd/e/f': '3' },
      next: { 'd/b': '2' },
      anew: true,
    },
    { name: 'a directory where a file was', first: { foo: 'a' }, next: { 'foo/bar': 'b' }, anew: true },
    { name: 'none any more', first: { a: '1', 'b/c': '2' }, next: {}, anew: true },
  ])('$name', async ({ first, next, anew }) => {
    const path = volume()
    await write(path, first)
    const before = generationOf(path)
    await write(path, next)
    expect(generationOf(path) !== before).toBe(anew)
    expect(seen(path)).toEqual(whole(next))
    expectTidy(path, next)
  })

  it('another mode alone is not written (P29)', async () => {
    const path = volume()
    await write(path, { foo: ['a', 0o644] })
    const before = generationOf(path)
    await write(path, { foo: ['a', 0o400] })
    expect([generationOf(path), seen(path)]).toEqual([before, { foo: ['a', 0o644] }])
  })
})

/** Content that puts something else in the place of `..data` as soon as it is written. */
class Meanwhile<K, V> extends Map<K, V> {
  ended: () => void = () => {}

  override *[Symbol.iterator](): MapIterator<[K, V]> {
    yield* super[Symbol.iterator]()
    this.ended()
  }
}

it('leaves no `..data_tmp` where `..data` cannot be replaced: a kubelet that is back could not continue from it (P29, S11)', async () => {
  const path = volume()
  const files = new Meanwhile([['foo', { value: Buffer.from('a'), mode: 0o644 }]])
  files.ended = () => mkdirSync(`${path}/..data`, { recursive: true })
  const undos: Undo[] = []
  const failed = writeAtomically(path, { mountId, files, nested: [], say: () => {}, made: undos })
  await expect(failed).rejects.toMatchObject({ code: 'WriteFailed' })
  const left = readdirSync(path).filter((name) => name !== '..data')
  expect(left).toHaveLength(1)
  expect(undos.map(({ what }) => what)).toEqual([`directory ${path}/${left[0]}`])
})

/** Snapshots of many nodes, from a directory or a stream: what is damaged is named, and memory stays bounded. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { readFleet } from '../../../src/core/cluster/fleet/read-fleet.ts'
import { DocumentSplitter } from '../../../src/core/cluster/fleet/split-documents.ts'
import type { NodeSnapshot } from '../../../src/core/model/snapshot.ts'
import { PUBLISHED, STAGED, snapshotOf } from './fleet-nodes.ts'

const work = mkdtempSync(join(tmpdir(), 'volctl-fleet-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

let number = 0

/** A directory with these files. */
function directory(files: Readonly<Record<string, string | Buffer>>): string {
  const path = join(work, String(++number))
  mkdirSync(path)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content)
  return path
}

function json(...of: Parameters<typeof snapshotOf>): string {
  return JSON.stringify(snapshotOf(...of).snapshot)
}

describe('a directory', () => {
  it('plain and packed files; of two of one node the newest; others are named, and the rest is read', async () => {
    const path = directory({
      'a.json': json('a', STAGED, {}, 5),
      'a-new.json': json('a', undefined, {}, 1),
      'b.json.gz': gzipSync(json('b', PUBLISHED)),
      'cut.json': json('c').slice(0, -200),
      'cut.json.gz': gzipSync(json('d')).subarray(0, 400),
      'empty.json': '',
      'other.json': '{"kind": "Plan", "apiVersion": "volctl.io/v1"}',
      '.hidden': 'x',
    })
    mkdirSync(join(path, 'below'))
    symlinkSync('nowhere', join(path, 'link.json'))
    const { ledgers, defects } = await readFleet(path)
    expect(ledgers.map(({ node, source }) => [node, source])).toEqual([
      ['a', join(path, 'a-new.json')],
      ['b', join(path, 'b.json.gz')],
    ])
    expect(ledgers[1]?.volumes).toMatchObject([{ handle: 'h-x', found: [{ how: 'mounted', certain: true }] }])
    expect(defects.map(({ source, why }) => [source.slice(path.length + 1), why.split(/[:;(]/)[0]?.trim()])).toEqual([
      ['below', 'it is not a plain file'],
      ['cut.json', expect.stringMatching(/cut off|JSON/)],
      ['cut.json.gz', 'the file is cut off'],
      ['empty.json', expect.stringMatching(/empty|JSON|cut off/)],
      ['link.json', expect.stringContaining('no such file')],
      ['other.json', 'kind is "Plan", not NodeSnapshot'],
    ])
    for (const { why } of defects) expect(why).not.toContain(path)
  })

  it('two machines that claim one name are both kept', async () => {
    const path = directory({ '1.json': json('a'), '2.json': json('a', STAGED, { machineID: 'machine-z' }) })
    const { ledgers } = await readFleet(path)
    expect(ledgers.map(({ machineID }) => machineID).toSorted()).toEqual(['machine-a', 'machine-z'])
  })

  it('no more than the limit is read, and that is said', async () => {
    const path = directory({ '1.json': json('a'), '2.json': json('b'), '3.json': json('c') })
    const { ledgers, defects } = await readFleet(path, { maxSnapshots: 2 })
    expect(ledgers).toHaveLength(2)
    expect(defects).toMatchObject([{ source: join(path, '3.json'), why: expect.stringContaining('more than 2') }])
  })

  it.each([
    { name: 'that is empty', make: () => directory({}), why: /no snapshot of a node is in there/ },
    { name: 'that does not exist', make: () => join(work, 'none'), why: /no such file|ENOENT/i },
    { name: 'that is a file', make: () => join(directory({ x: 'x' }), 'x'), why: /not a directory|ENOTDIR/i },
  ])('$name is an error', async ({ make, why }) => {
    await expect(readFleet(make())).rejects.toMatchObject({
      code: 'FileUnreadable',
      message: expect.stringMatching(why),
    })
  })
})

describe('documents of a stream', () => {
  const ONE = '{"a":"}{\\"\\\\","b":[{}]}'
  it.each<{ name: string; text: string; pieces: readonly string[] }>([
    { name: 'one a line', text: `${ONE}\n{"c":1}\n`, pieces: [ONE, '{"c":1}'] },
    { name: 'two on one line, which is one that is no JSON', text: `${ONE}${ONE}\n{}`, pieces: [`${ONE}${ONE}`, '{}'] },
    { name: 'over several lines', text: '{\n  "a": {\n  }\n}\n{}', pieces: ['{\n  "a": {\n  }\n}', '{}'] },
    { name: 'cut off in a text, then another', text: '{"a":"x\n{"c":1}', pieces: ['{"a":"x', '{"c":1}'] },
    { name: 'cut off, then another', text: '{"a":[1,\n{"c":1}', pieces: ['{"a":[1,', '{"c":1}'] },
    { name: 'cut off at the end', text: '{}\n{"a":', pieces: ['{}', '{"a":'] },
    { name: 'an error message between', text: '{}\nerror: no pod\n{}', pieces: ['{}', 'error: no pod', '{}'] },
    {
      name: 'without its beginning',
      text: ' "a": {\n  "b": {\n  }\n }\n}\n{}',
      pieces: ['"a": {\n  "b": {\n  }\n }\n}', '{}'],
    },
    { name: 'too large', text: `{"a":"${'x'.repeat(100)}"}\n{}`, pieces: ['tooLarge', '{}'] },
    { name: 'nothing', text: ' \n\t', pieces: [] },
  ])('$name, in chunks of any size', ({ text, pieces }) => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const splitter = new DocumentSplitter(60)
      const bytes = Buffer.from(text)
      const found = []
      for (let at = 0; at < bytes.length; at += size) found.push(...splitter.add(bytes.subarray(at, at + size)))
      found.push(...splitter.end())
      expect(found.map((each) => each.toString().trim())).toEqual(pieces)
    }
  })
})

describe('standard input', () => {
  /** A process of its own reads it. */
  function readInput(input: Buffer | string, shell = 'cat FILE | exec "$@"'): { readonly [name: string]: unknown } {
    const file = join(directory({ input }), 'input')
    const root = join(import.meta.dirname, '../../..')
    const args = [
      '-c',
      shell.replace('FILE', file),
      'sh',
      process.execPath,
      join(import.meta.dirname, 'workers/read-input.ts'),
    ]
    const { stdout, stderr } = spawnSync('sh', args, { encoding: 'utf8', cwd: root, timeout: 60_000 })
    expect(stderr).toBe('')
    return JSON.parse(stdout) as { readonly [name: string]: unknown }
  }

  it.each([
    { how: 'a pipe', shell: 'cat FILE | exec "$@"' },
    { how: 'a file', shell: 'exec "$@" < FILE' },
  ])('$how with packed documents, one of them damaged', ({ shell }) => {
    const packed = Buffer.concat([gzipSync(`${json('a', STAGED)}\n{"kind":\n`), gzipSync(json('b'))])
    expect(readInput(packed, shell)).toMatchObject({
      nodes: ['a', 'b'],
      defects: [{ source: 'document 2 of standard input', why: 'the file is cut off' }],
    })
  })

  it('1,000 nodes of 10 volumes each take no more memory than a few', () => {
    const one = snapshotOf('NODE', (builder) => {
      for (let each = 0; each < 10; each++) {
        builder.staged(`h-${each}`, `7:${each}`)
        builder.published(
          `00000000-0000-4000-8000-0000000001${String(each).padStart(2, '0')}`,
          `pv-${each}`,
          `7:${each}`,
          {
            handle: `h-${each}`,
          },
        )
      }
    }).snapshot satisfies NodeSnapshot
    const text = JSON.stringify(one)
    const lines = Array.from({ length: 1000 }, (_, index) => text.replaceAll('NODE', `node-${index}`))
    const { count, volumes, grownMB, cpuSeconds } = readInput(gzipSync(lines.join('\n'), { level: 1 }))
    expect({ count, volumes }).toEqual({ count: 1000, volumes: 10_000 })
    expect(grownMB).toBeLessThan(150)
    expect(cpuSeconds).toBeLessThan(10)
  })
})

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { VolctlError } from '../../src/core/errors.ts'
import type { NodeSnapshot } from '../../src/core/model/snapshot.ts'
import { readSnapshot } from '../../src/core/snapshot/read-snapshot.ts'
import { writeSnapshot } from '../../src/core/snapshot/write-snapshot.ts'

const directory = mkdtempSync(join(tmpdir(), 'volctl-snapshot-'))
afterAll(() => rmSync(directory, { recursive: true }))

const SNAPSHOT: NodeSnapshot = {
  apiVersion: 'volctl.io/v1',
  kind: 'NodeSnapshot',
  capturedAt: '2026-11-21T02:05:32Z',
  nodeName: 'node-1',
  rootDir: '/var/lib/kubelet',
  mountinfo: '25 0 254:0 / / rw - ext4 /dev/vda1 rw\n',
  tree: [{ path: '.', type: 'dir', mode: '750' }],
}

describe('writeSnapshot', () => {
  it.each([
    { name: 'plain.json', gzip: false },
    { name: 'packed.json.gz', gzip: true },
  ])('writes $name, which readSnapshot reads back', async ({ name, gzip }) => {
    const path = join(directory, name)
    writeSnapshot(SNAPSHOT, path)
    expect(readFileSync(path)[0] === 0x1f).toBe(gzip)
    const state = await readSnapshot(path)
    expect(state.snapshot).toEqual(SNAPSHOT)
    expect(state.mounts.at('/').map((mount) => mount.source)).toEqual(['/dev/vda1'])
  })

  it('is readable by its owner alone, whatever the umask', () => {
    const path = join(directory, 'mode.json')
    for (const umask of [0o000, 0o777]) {
      const before = process.umask(umask)
      try {
        writeSnapshot(SNAPSHOT, path)
      } finally {
        process.umask(before)
      }
      expect(statSync(path).mode & 0o7777).toBe(0o600)
    }
  })

  it('replaces a link, and leaves what it pointed at', () => {
    const victim = join(directory, 'victim')
    writeFileSync(victim, 'precious')
    const path = join(directory, 'link.json')
    symlinkSync(victim, path)
    writeSnapshot(SNAPSHOT, path)
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(SNAPSHOT)
  })

  it('says where it could not write, and leaves no draft', () => {
    expect(() => writeSnapshot(SNAPSHOT, join(directory, 'missing/x.json'))).toThrow(
      /snapshot .*missing\/x\.json: ENOENT/,
    )
    writeFileSync(join(directory, 'draftless'), '')
    expect(() => writeSnapshot(SNAPSHOT, join(directory, 'draftless/x.json'))).toThrow(VolctlError)
    expect(readdirSync(directory).filter((name) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(name))).toEqual([])
  })

  it('writes a table that is made on demand', async () => {
    const path = join(directory, 'lazy.json')
    const lazy = {
      ...SNAPSHOT,
      get mountinfo() {
        return SNAPSHOT.mountinfo ?? ''
      },
    }
    writeSnapshot(lazy, path)
    expect((await readSnapshot(path)).snapshot.mountinfo).toBe(SNAPSHOT.mountinfo)
  })
})

describe('readSnapshot', () => {
  const text = JSON.stringify(SNAPSHOT)
  const packed = gzipSync(text)
  it.each([
    { name: 'an empty file', bytes: '', code: 'SnapshotTruncated', says: 'empty' },
    { name: 'a document without its end', bytes: text.slice(0, -20), code: 'SnapshotTruncated', says: 'cut off' },
    {
      name: 'a packed document without its end',
      bytes: packed.subarray(0, packed.length - 30),
      code: 'SnapshotTruncated',
      says: 'cut off',
    },
    {
      name: 'a damaged packed document',
      bytes: Buffer.concat([packed.subarray(0, 20), Buffer.alloc(30, 0xff)]),
      code: 'SnapshotTruncated',
      says: '',
    },
    { name: 'text', bytes: 'hello', code: 'SnapshotNotJson', says: 'not JSON' },
    { name: 'a list', bytes: '[]', code: 'SnapshotNotJson', says: 'no JSON object' },
    { name: 'a pod list', bytes: '{"apiVersion":"v1","kind":"PodList"}', code: 'NotASnapshot', says: '"PodList"' },
    { name: 'no kind', bytes: '{}', code: 'NotASnapshot', says: 'missing' },
    {
      name: 'another version',
      bytes: text.replace('volctl.io/v1', 'volctl.io/v2'),
      code: 'SnapshotVersion',
      says: '"volctl.io/v2"',
    },
    { name: 'no root directory', bytes: text.replace('rootDir', 'rootdir'), code: 'SnapshotDamaged', says: 'rootDir' },
    { name: 'a tree that is none', bytes: text.replace('"dir"', '7'), code: 'SnapshotDamaged', says: 'tree[0]' },
    {
      name: 'what is nested too deep',
      bytes: text.replace('"tree"', `"x":${'['.repeat(100)}${']'.repeat(100)},"tree"`),
      code: 'SnapshotTooLarge',
      says: 'it is nested more than 100 deep',
    },
    {
      name: 'what would take more memory than it may',
      bytes: text.replace('"tree"', `"x":[${'[],'.repeat(1_500_000)}0],"tree"`),
      code: 'SnapshotTooLarge',
      says: 'it holds more than 3000000 values',
    },
    {
      name: 'what unpacks to more than it may',
      bytes: gzipSync(Buffer.alloc(101 * 2 ** 20), { level: 1 }),
      code: 'SnapshotTooLarge',
      says: 'it unpacks to more than 104857600 bytes',
    },
    {
      name: 'what says that it unpacks to little, and does not',
      bytes: Buffer.concat([gzipSync(Buffer.alloc(101 * 2 ** 20, 'x'), { level: 1 }), gzipSync('x')]),
      code: 'SnapshotTooLarge',
      says: 'it unpacks to more than 104857600 bytes',
    },
    {
      name: 'a mount table of more than the kernel can have',
      bytes: text.replace('25 0 254:0', 'x'.repeat(65 * 2 ** 20)),
      code: 'SnapshotTooLarge',
      says: 'its mount table is larger than 67108864 bytes',
    },
    { name: 'a damaged mount table', bytes: text.replace('254:0', '254'), code: 'MountinfoDamaged', says: 'line 1' },
    {
      name: 'an api section of another shape',
      bytes: text.replace('"tree"', '"api":{"pods":[{}]},"tree"'),
      code: 'SnapshotDamaged',
      says: 'api.pods[0]',
    },
  ])('refuses $name in one line', async ({ bytes, code, says }) => {
    const path = join(directory, 'bad')
    writeFileSync(path, bytes)
    const failure = await readSnapshot(path).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(VolctlError)
    expect(failure).toMatchObject({ code, exit: 1 })
    expect(String(failure)).toContain(says)
    expect(String(failure)).not.toContain('\n')
  })

  it('says that a file is missing', async () => {
    await expect(readSnapshot(join(directory, 'nowhere'))).rejects.toThrow(/no such file/)
    await expect(readSnapshot(directory)).rejects.toThrow(/directory/)
  })

  it('leaves absent what the snapshot lacks', async () => {
    const path = join(directory, 'sparse.json')
    const { apiVersion, kind, capturedAt, nodeName, rootDir } = SNAPSHOT
    writeFileSync(path, JSON.stringify({ apiVersion, kind, capturedAt, nodeName, rootDir }))
    const { snapshot, mounts } = await readSnapshot(path)
    expect(Object.keys(snapshot)).toEqual(['apiVersion', 'kind', 'capturedAt', 'nodeName', 'rootDir'])
    expect(mounts.size).toBe(0)
  })

  const captures = new URL('../fixtures/captures/', import.meta.url).pathname
  it('reads every capture of a real node', async () => {
    const files = readdirSync(captures, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(node|before|after)\.json(\.gz)?$/.test(name),
    )
    expect(files.length).toBeGreaterThan(0)
    for (const file of files) {
      const { snapshot, mounts } = await readSnapshot(join(captures, file))
      expect(mounts.size).toBe(snapshot.mountinfo?.trim().split('\n').length)
    }
  })
})

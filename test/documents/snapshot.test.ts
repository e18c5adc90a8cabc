import { execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { VolctlError } from '../../src/core/messages/findings.ts'
import { readSource } from '../../src/core/plan/documents/document-frame.ts'
import { readSnapshot, writeSnapshot } from '../../src/core/plan/documents/snapshot-file.ts'
import { TooLarge } from '../../src/core/trust/plain-files.ts'
import type { NodeSnapshot } from '../../src/core/volumes/snapshot.ts'
import { NOBODY, noOthersFiles, TRICKS } from '../helpers/others-files.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'
import { failureOf } from '../kube/connect.ts'

const directory = temporaryDirectory()

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

  it.for(TRICKS.filter(({ name }) => name !== 'a file of another user'))(
    'neither replaces nor writes to $name, and nothing waits',
    ({ make, says, skip }, context) => {
      context.skip(skip !== undefined, skip)
      const path = join(mkdtempSync(join(directory, 'odd-')), 'odd.json')
      writeFileSync(`${path}.victim`, 'precious')
      make(path, `${path}.victim`)
      const before = lstatSync(path)
      expect(() => writeSnapshot(SNAPSHOT, path, 'odd.json')).toThrow(
        expect.objectContaining({
          code: 'NotWritten',
          message: `snapshot odd.json: it is ${says}`,
          hint: expect.any(String),
        }),
      )
      expect(readFileSync(`${path}.victim`, 'utf8')).toBe('precious')
      expect(lstatSync(path)).toEqual(before)
      expect(readdirSync(dirname(path))).toHaveLength(2)
    },
  )

  it.skipIf(noOthersFiles !== undefined)('does not write into a disk', () => {
    const path = join(directory, 'disk')
    execFileSync('mknod', [path, 'b', '7', '255'])
    expect(() => writeSnapshot(SNAPSHOT, path)).toThrow('it is a device')
  })

  it.skipIf(noOthersFiles !== undefined)('replaces the file of another user, and writes nothing into it', () => {
    const path = join(directory, 'others.json')
    writeFileSync(path, 'his own')
    chownSync(path, NOBODY, NOBODY)
    const his = openSync(path, 'r')
    try {
      writeSnapshot(SNAPSHOT, path)
      expect(readFileSync(his, 'utf8')).toBe('his own')
      expect(statSync(path)).toMatchObject({ uid: 0 })
    } finally {
      closeSync(his)
    }
  })

  it('goes through links of root on the way', () => {
    mkdirSync(join(directory, 'real'))
    symlinkSync('real', join(directory, 'to-real'))
    writeSnapshot(SNAPSHOT, join(directory, 'to-real/../to-real/x.json'))
    expect(readdirSync(join(directory, 'real'))).toEqual(['x.json'])
  })

  it.skipIf(noOthersFiles !== undefined).each([
    { name: 'a link of another user', foreign: 'link', says: /: \/.*\/link is a link of uid 65534$/ },
    { name: 'a link in a directory of another user', foreign: 'directory', says: /: \/.* belongs to uid 65534$/ },
  ])('does not go through $name', ({ foreign, says }) => {
    const above = mkdtempSync(join(directory, 'above-'))
    mkdirSync(join(above, 'precious'))
    symlinkSync('precious', join(above, 'link'))
    if (foreign === 'link') lchownSync(join(above, 'link'), NOBODY, NOBODY)
    else chownSync(above, NOBODY, NOBODY)
    expect(() => writeSnapshot(SNAPSHOT, join(above, 'link/x.json'))).toThrow(
      expect.objectContaining({ code: 'NotWritten', message: expect.stringMatching(says) }),
    )
    expect(readdirSync(join(above, 'precious'))).toEqual([])
  })

  it.skipIf(noOthersFiles !== undefined)('writes into a directory of another user that is named', () => {
    const his = mkdtempSync(join(directory, 'his-'))
    chownSync(his, NOBODY, NOBODY)
    writeSnapshot(SNAPSHOT, join(his, 'x.json'))
    expect(statSync(join(his, 'x.json'))).toMatchObject({ uid: 0 })
  })

  it('finds a path of another process by its root and its working directory, as a caller in another namespace has it', () => {
    const place = mkdtempSync(join(directory, 'place-'))
    mkdirSync(join(place, 'below'))
    const before = process.cwd()
    process.chdir(join(place, 'below'))
    try {
      writeSnapshot(SNAPSHOT, `/proc/${process.pid}/root${place}/../${basename(place)}/a.json`)
      writeSnapshot(SNAPSHOT, `/proc/${process.pid}/cwd/../b.json`)
      writeSnapshot(SNAPSHOT, `/proc/${process.pid}/cwd/c.json`)
    } finally {
      process.chdir(before)
    }
    expect(readdirSync(place, { recursive: true }).toSorted()).toEqual(['a.json', 'b.json', 'below', 'below/c.json'])
  })

  it('says where it could not write, and leaves no draft', () => {
    expect(() => writeSnapshot(SNAPSHOT, join(directory, 'missing/x.json'))).toThrow(
      /snapshot .*missing\/x\.json: no such directory$/,
    )
    writeFileSync(join(directory, 'draftless'), '')
    expect(() => writeSnapshot(SNAPSHOT, join(directory, 'draftless/x.json'))).toThrow(VolctlError)
    expect(readdirSync(directory).filter((name) => /[0-9a-f]{8}-[0-9a-f]{4}/.test(name))).toEqual([])
  })
})

describe('readSnapshot', () => {
  const text = JSON.stringify(SNAPSHOT)
  const packed = gzipSync(text)
  it.each<[name: string, bytes: string | Buffer, says: string, code?: string]>([
    ['an empty file', '', 'empty'],
    ['a document without its end', text.slice(0, -20), 'cut off'],
    ['a packed document without its end', packed.subarray(0, packed.length - 30), 'cut off'],
    ['a damaged packed document', Buffer.concat([packed.subarray(0, 20), Buffer.alloc(30, 0xff)]), ''],
    ['a pod list', '{"apiVersion":"v1","kind":"PodList"}', '"PodList"'],
    [
      'a cluster',
      '{"apiVersion":"volctl.io/v1","kind":"ClusterSnapshot","lists":{}}\n{"node":{}}\n{"end":1}\n',
      'it is of a cluster, not of a node',
    ],
    ['another version', text.replace('volctl.io/v1', 'volctl.io/v2'), '"volctl.io/v2"'],
    ['no root directory', text.replace('rootDir', 'rootdir'), 'rootDir'],
    ['a time that is none', text.replace('2026-11-21T02:05:32Z', 'yesterday'), 'capturedAt'],
    ['a tree that is none', text.replace('"dir"', '7'), 'tree[0]'],
    [
      'what is nested too deep',
      text.replace('"tree"', `"x":${'['.repeat(100)}${']'.repeat(100)},"tree"`),
      'the file is nested more than 100 deep',
    ],
    [
      'what would take more memory than it may',
      text.replace('"tree"', `"x":[${'[],'.repeat(1_500_000)}0],"tree"`),
      'the file has more than 3000000 values',
    ],
    [
      'what unpacks to more than it may',
      gzipSync(Buffer.alloc(101 * 2 ** 20), { level: 1 }),
      'it unpacks to more than 104857600 bytes',
    ],
    [
      'what says that it unpacks to little, and does not',
      Buffer.concat([gzipSync(Buffer.alloc(101 * 2 ** 20, 'x'), { level: 1 }), gzipSync('x')]),
      'it unpacks to more than 104857600 bytes',
    ],
    [
      'a mount table of more than the kernel can have',
      text.replace('25 0 254:0', 'x'.repeat(49 * 2 ** 20)),
      'the mount table is larger than 50331648 bytes',
    ],
    [
      'a mount table of too many lines',
      text.replace('25 0 254:0 / / rw - ext4 /dev/vda1 rw', '1 1 7:1 / / r - a b r\\n'.repeat(400_001)),
      'the mount table has more than 400000 lines',
    ],
    ['a damaged mount table', text.replace('254:0', '254'), 'line 1', 'NodeUnreadable'],
    ['an api section of another shape', text.replace('"tree"', '"api":{"pods":[{}]},"tree"'), 'api.pods[0]'],
  ])('refuses %s in one line', async (_name, bytes, says, code = 'FileDamaged') => {
    const path = join(directory, 'bad')
    writeFileSync(path, bytes)
    const failure = await failureOf(readSnapshot(path))
    expect(failure).toMatchObject({ code, exit: 1 })
    expect(String(failure)).toContain(says)
    expect(String(failure)).not.toContain('\n')
  })

  it('says that a file is missing', async () => {
    await expect(readSnapshot(join(directory, 'nowhere'))).rejects.toThrow(/no such file/)
    await expect(readSnapshot(join(import.meta.filename, 'x'))).rejects.toThrow(/^snapshot \S+: no such file$/)
    await expect(readSnapshot(directory)).rejects.toThrow(/directory/)
  })

  it.skipIf(noOthersFiles !== undefined)(
    'reads what is somebody else’s, and through his links: it is no order',
    async () => {
      const path = join(directory, 'his.json')
      writeFileSync(path, text)
      symlinkSync('his.json', join(directory, 'his-link.json'))
      for (const each of [path, join(directory, 'his-link.json')]) lchownSync(each, NOBODY, NOBODY)
      expect((await readSnapshot(join(directory, 'his-link.json'))).snapshot).toEqual(SNAPSHOT)
    },
  )

  it.each(['/dev/zero', '/dev/null', '/dev/tty'])('opens no device: %s', async (path) => {
    await expect(readSnapshot(path)).rejects.toMatchObject({
      code: 'FileUnreadable',
      message: `snapshot ${path}: a device, not a plain file`,
    })
  })

  it('opens no named pipe', async () => {
    const path = join(directory, 'fifo')
    execFileSync('mkfifo', [path])
    const message = `snapshot ${path}: a FIFO, not a plain file`
    await expect(readSnapshot(path)).rejects.toMatchObject({ code: 'FileUnreadable', message })
  })

  /** A pipe that a shell would give, with what a script writes to it. */
  async function piped<T>(script: string, read: (name: string) => Promise<T>): Promise<T> {
    const path = join(mkdtempSync(join(directory, 'pipe-')), 'fifo')
    execFileSync('mkfifo', [path])
    const writer = spawn('sh', ['-c', `exec >"$0"; ${script}`, path], { stdio: 'ignore' })
    try {
      return await read(`/dev/fd/${openSync(path, constants.O_RDONLY)}`)
    } finally {
      writer.kill('SIGKILL')
    }
  }

  it('does not wait for a writer that never ends', () =>
    piped('printf "{"; exec sleep 1000', (path) =>
      expect(readSnapshot(path, 300)).rejects.toMatchObject({
        code: 'FileUnreadable',
        message: `snapshot ${path}: the data did not end within 0.3 s`,
        hint: 'Save it to a file first, and give that file.',
      }),
    ))

  it('waits in time for a writer that stops in between', async () => {
    const large = { ...SNAPSHOT, kernelVersion: 'x'.repeat(300_000) }
    const path = join(directory, 'large.json')
    writeFileSync(path, JSON.stringify(large))
    const script = `sleep 0.2; head -c 50 ${path}; sleep 0.1; tail -c +51 ${path}`
    await piped(script, async (pipe) => expect((await readSnapshot(pipe, 20_000)).snapshot).toEqual(large))
  })

  it('ends a pipe that never ends by its bytes', () =>
    piped('exec cat /dev/zero', (path) =>
      expect(readSource(path, { maxBytes: 10_000_000, pipeMs: 20_000 })).rejects.toThrow(TooLarge),
    ))

  it('leaves absent what the snapshot lacks', async () => {
    const path = join(directory, 'sparse.json')
    const { apiVersion, kind, capturedAt, nodeName, rootDir } = SNAPSHOT
    writeFileSync(path, JSON.stringify({ apiVersion, kind, capturedAt, nodeName, rootDir }))
    const { snapshot, mounts } = await readSnapshot(path)
    expect(Object.keys(snapshot)).toEqual(['apiVersion', 'kind', 'capturedAt', 'nodeName', 'rootDir'])
    expect(mounts.all).toEqual([])
  })
})

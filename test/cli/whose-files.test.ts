/** The built volctl, where files that it writes, or remembers by, are not what they should be (S33). */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LAZY_FILE, rememberLazy } from '../../src/core/journal/lazy-memory.ts'
import { JOURNAL_FILE } from '../../src/core/journal/write-journal.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { noOthersFiles } from '../helpers/others-files.ts'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'
import { CAPTURES, type Result } from './run-volctl.ts'

let node: WarmNode
let directory: string
let journalDir: string
beforeAll(async () => {
  node = await startWarmNode(join(CAPTURES, 'forcedel-killed', 'before.json'))
  const home = dirname(node.env.VOLCTL_TEST_HOST ?? '')
  journalDir = join(home, 'journal')
  directory = mkdtempSync(join(home, 'written-'))
})
afterAll(() => node[Symbol.asyncDispose]())

/** Nothing here takes long: what waits for somebody is ended, and fails. */
async function bash(script: string): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa('bash', ['-c', script], {
    ...{ reject: false, stdin: 'ignore', timeout: 30_000, stripFinalNewline: false, cwd: directory },
    env: { ...node.env, VOLCTL: TEST_BUNDLE },
  })
  return { status: exitCode, stdout: String(stdout), stderr: String(stderr) }
}

const kindOf = (text: string): unknown => (JSON.parse(text) as { kind: unknown }).kind
const readBack = (name: string): string => readFileSync(join(directory, name), 'utf8')

describe('snapshot -o', () => {
  it.each(['-', '/dev/stdout', '/dev/fd/1', '/proc/self/fd/1'])('%s is standard output', async (name) => {
    const { status, stdout, stderr } = await bash(`"$VOLCTL" snapshot -o ${name} | cat`)
    expect({ status, kind: kindOf(stdout), stderr }).toEqual({ status: 0, kind: 'NodeSnapshot', stderr: '' })
  })

  it('of what the shell has opened writes there: a pipe of its own, a file, and that from where it stands', async () => {
    const packed = await bash('"$VOLCTL" snapshot -o >(gzip >packed.gz) && wait $! && sync')
    expect(packed).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(kindOf(gunzipSync(readFileSync(join(directory, 'packed.gz'))).toString())).toBe('NodeSnapshot')
    const added = await bash('echo first >added && "$VOLCTL" snapshot -o /dev/fd/5 5>>added')
    expect(added).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(readBack('added')).toMatch(/^first\n\{/)
    expect((await bash('"$VOLCTL" snapshot -o /dev/stderr')).stderr).toMatch(/^\{/)
  })

  it('/dev/null is accepted, and nothing is written', async () => {
    expect(await bash('"$VOLCTL" snapshot -o /dev/null')).toEqual({ status: 0, stdout: '', stderr: '' })
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true)
  })

  it.each([
    { name: 'a descriptor that is not open', to: '/dev/fd/63', says: 'descriptor 63 is not open here' },
    { name: 'a pipe whose reader is gone', to: '>(exit)', says: 'EPIPE: broken pipe, write' },
    { name: 'a FIFO that nobody reads', to: 'fifo', says: 'it is a FIFO', before: 'mkfifo fifo' },
    {
      name: 'a FIFO that somebody reads',
      to: 'read',
      says: 'it is a FIFO',
      before: 'mkfifo read; cat read >got & sleep .1',
    },
    { name: 'a terminal by its name', to: '/dev/tty', says: 'it is a device' },
    { name: 'a link', to: 'link', says: 'it is a symbolic link', before: 'ln -s packed.gz link' },
    { name: 'no directory', to: 'missing/x', says: 'ENOENT: no such file or directory' },
  ])('$name: one line, and nothing is written', async ({ to, says, before = ':' }) => {
    const names = readdirSync(directory)
    const { status, stdout, stderr } = await bash(`${before}; "$VOLCTL" snapshot -o ${to}; s=$?; kill %1 2>&-; exit $s`)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^volctl: snapshot [^\n]*\n {8}Give a plain file [^\n]*\n$/)
    expect(stderr.split('\n')[0]).toMatch(new RegExp(`: ${says}$`))
    expect(readdirSync(directory).filter((name) => /[0-9a-f]{8}-/.test(name))).toEqual([])
    expect(names.filter((name) => !existsSync(join(directory, name)))).toEqual([])
    if (existsSync(join(directory, 'got'))) expect(readBack('got')).toBe('')
  })

  it.skipIf(noOthersFiles !== undefined)('a disk that is open is not written to', async () => {
    writeFileSync(join(directory, 'image'), Buffer.alloc(1024 * 1024))
    const loop = execFileSync('losetup', ['--show', '-f', join(directory, 'image')], { encoding: 'utf8' }).trim()
    try {
      const { status, stderr } = await bash(`"$VOLCTL" snapshot -o /dev/fd/5 5<>${loop}`)
      expect({ status, stderr }).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('descriptor 5 is a block device'),
      })
      const byName = await bash(`"$VOLCTL" snapshot -o ${loop}`)
      expect(byName.stderr).toContain(`snapshot ${loop}: it is a device`)
      expect(readFileSync(loop).equals(Buffer.alloc(1024 * 1024))).toBe(true)
    } finally {
      execFileSync('losetup', ['-d', loop])
    }
  })
})

describe('plan --snapshot', () => {
  const capture = join(CAPTURES, 'forcedel-killed', 'before.json')
  it.each([
    { name: 'a pipe', how: `cat ${capture} | "$VOLCTL" plan --snapshot -` },
    { name: 'a file that the shell has opened', how: `"$VOLCTL" plan --snapshot - <${capture}` },
    { name: 'a pipe of the shell', how: `"$VOLCTL" plan --snapshot <(gzip <${capture})` },
    { name: 'standard input by its name', how: `cat ${capture} | "$VOLCTL" plan --snapshot /dev/stdin` },
  ])('reads $name', async ({ how }) => {
    const { status, stdout, stderr } = await bash(how)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/\n\d+ operations: /)
  })

  it.each([
    { name: 'an endless device', how: '--snapshot /dev/zero', says: 'a device, not a plain file' },
    { name: 'the same as standard input', how: '--snapshot - </dev/zero', says: 'a device, not a plain file' },
    { name: 'a descriptor that is not open', how: '--snapshot /dev/fd/999', says: 'EBADF: bad file descriptor, fstat' },
  ])('does not read $name', async ({ how, says }) => {
    const { status, stderr } = await bash(`"$VOLCTL" plan ${how}`)
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining(`: ${says}\n`) })
  })
})

describe('what was detached lazily', () => {
  const record = { path: '/nowhere', dev: '0:999', fsType: 'nfs', bootID: undefined }
  const planned = async (args: string): Promise<Plan> => {
    return JSON.parse((await bash(`"$VOLCTL" plan --orphans -o json ${args}`)).stdout) as Plan
  }

  it.each([
    { name: 'a FIFO in its place', make: (path: string) => execFileSync('mkfifo', [path]), says: 'it is a FIFO' },
    {
      name: 'written through a second name',
      make: (path: string) => {
        rememberLazy(dirname(path), record)
        execFileSync('ln', [path, `${path}.second`])
      },
      says: 'it has a second name (hard link)',
    },
  ])(
    '$name: the plan of the node and that of its snapshot say so alike, and take no device',
    async ({ make, says }) => {
      mkdirSync(journalDir)
      try {
        make(join(journalDir, LAZY_FILE))
        const live = await planned('')
        await bash('"$VOLCTL" snapshot -o lazy.json')
        const offline = await planned('--snapshot lazy.json')
        for (const { problems } of [live, offline])
          expect(problems).toContainEqual(
            expect.objectContaining({
              code: 'LazyMemoryUnusable',
              message: expect.stringMatching(`${says}`.replace(/[()]/g, '.')),
            }),
          )
        expect([live.complete, offline.complete]).toEqual([false, false])
        expect(offline.operations).toEqual(live.operations)
        expect(offline.problems).toEqual(live.problems)
        const free = live.operations.filter((each) => each.blocked === undefined).map(({ kind }) => kind)
        expect(free.filter((kind) => /Device|Detach|Unmap/.test(kind))).toEqual([])
      } finally {
        rmSync(journalDir, { recursive: true })
      }
    },
  )
})

it.each(['json', 'table'])('journal -o %s waits for nobody', async (format) => {
  mkdirSync(journalDir)
  try {
    execFileSync('mkfifo', [join(journalDir, JOURNAL_FILE)])
    const { status, stdout, stderr } = await bash(`"$VOLCTL" journal -o ${format}`)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`the journal ${journalDir}/${JOURNAL_FILE} cannot be read: it is a FIFO`)
  } finally {
    rmSync(journalDir, { recursive: true })
  }
})

it('a snapshot that no shell has made is for its owner alone', async () => {
  writeFileSync(join(directory, 'mine.json'), 'older', { mode: 0o644 })
  const { status, stderr } = await bash('umask 0; "$VOLCTL" snapshot -o mine.json')
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringMatching(/^wrote mine\.json: /) })
  expect(statSync(join(directory, 'mine.json')).mode & 0o777).toBe(0o600)
})

/** Where files that volctl writes, reads, or remembers by, are not what they should be (S33). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rememberLazy } from '../../src/core/apply/journal/write-journal.ts'
import { ownDescriptor } from '../../src/core/linux/paths.ts'
import { LAZY_FILE } from '../../src/core/node/read-lazily-detached.ts'
import type { Plan } from '../../src/core/plan/plan.ts'
import { BROKEN } from '../helpers/captures.ts'
import { noOthersFiles } from '../helpers/others-files.ts'
import { type Result, volctl } from '../helpers/run-main.ts'
import { TEST_BUNDLE } from '../helpers/volctl-program.ts'
import { startWarmNode, type WarmNode } from '../helpers/warm-node.ts'

let node: WarmNode
let directory: string
let journalDir: string
beforeAll(async () => {
  node = await startWarmNode(BROKEN)
  const home = dirname(node.env.VOLCTL_TEST_HOST ?? '')
  journalDir = join(home, 'journal')
  directory = mkdtempSync(join(home, 'written-'))
})
afterAll(() => node[Symbol.asyncDispose]())

const run = (...args: string[]): Promise<Result> => volctl(args, { env: node.env, cwd: directory })

/** A shell opens what only another process can. Nothing here takes long: what waits for somebody is ended, and fails. */
async function bash(script: string): Promise<Result> {
  const { exitCode, stdout, stderr } = await execa('bash', ['-c', script], {
    ...{ reject: false, stdin: 'ignore', timeout: 120_000, stripFinalNewline: false, cwd: directory },
    env: { ...node.env, VOLCTL: TEST_BUNDLE },
  })
  return { status: exitCode, stdout: String(stdout), stderr: String(stderr) }
}

const kindOf = (text: string): unknown => (JSON.parse(text) as { kind: unknown }).kind

it.each([
  ['-', 0],
  ['/dev/stdin', 0],
  ['/dev/stderr', 2],
  ['/dev/fd/63', 63],
  ['/proc/self/fd/1', 1],
  ['/dev/fd/x', undefined],
  ['stdout', undefined],
])('%s is descriptor %s', (text, fd) => expect(ownDescriptor(text)).toBe(fd))

describe('snapshot -o', () => {
  it('- is standard output', async () => {
    const { status, stdout, stderr } = await run('snapshot', '-o', '-')
    expect({ status, kind: kindOf(stdout), stderr }).toEqual({ status: 0, kind: 'NodeSnapshot', stderr: '' })
  })

  it.each([
    { to: '/dev/stdout', says: 'it is a symbolic link' },
    { to: '/dev/tty', says: 'it is a device' },
    { to: 'missing/x', says: 'no such directory' },
  ])('$to: one line, and nothing is written', async ({ to, says }) => {
    const names = readdirSync(directory)
    const { status, stdout, stderr } = await run('snapshot', '-o', to)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/^volctl: snapshot [^\n]*\n {8}Give a plain file [^\n]*\n$/)
    expect(stderr.split('\n')[0]).toMatch(new RegExp(`: ${says}$`))
    expect(readdirSync(directory)).toEqual(names)
  })

  it('says what it wrote', async () =>
    expect(await run('snapshot', '-o', 'mine.json')).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/^wrote mine\.json: /),
    }))

  it.skipIf(noOthersFiles !== undefined)('a disk that is open is not written to', async () => {
    writeFileSync(join(directory, 'image'), Buffer.alloc(1024 * 1024))
    const loop = execFileSync('losetup', ['--show', '-f', join(directory, 'image')], { encoding: 'utf8' }).trim()
    try {
      expect(await bash(`"$VOLCTL" snapshot -o /dev/fd/5 5<>${loop}`)).toMatchObject({ status: 1, stdout: '' })
      expect(await bash(`"$VOLCTL" snapshot >${loop}`)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('standard output is a block device'),
      })
      expect((await run('snapshot', '-o', loop)).stderr).toContain(`snapshot ${loop}: it is a device`)
      expect(readFileSync(loop).equals(Buffer.alloc(1024 * 1024))).toBe(true)
    } finally {
      execFileSync('losetup', ['-d', loop])
    }
  })
})

describe('plan --snapshot', () => {
  it('reads standard input: a file, and a pipe', async () => {
    const file = await volctl(['plan', '--snapshot', '/dev/stdin'], { input: readFileSync(BROKEN, 'utf8') })
    const pipe = await bash(`"$VOLCTL" plan --snapshot <(gzip <${BROKEN})`)
    for (const { status, stdout, stderr } of [file, pipe]) {
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toMatch(/\n\d+ operations: /)
    }
  })

  it('does not read what is not open', async () =>
    expect(await run('plan', '--snapshot', '/dev/fd/999')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(': EBADF: bad file descriptor, fstat\n'),
    }))
})

describe('the journal', () => {
  beforeEach(() => void mkdirSync(journalDir))
  afterEach(() => rmSync(journalDir, { recursive: true }))

  it.each([
    { name: 'a FIFO', make: (path: string) => execFileSync('mkfifo', [path]), says: /it is a FIFO/ },
    {
      name: 'a file with a second name',
      make: (path: string) => {
        rememberLazy(dirname(path), { path: '/nowhere', dev: '0:999', fsType: 'nfs', bootID: undefined })
        execFileSync('ln', [path, `${path}.second`])
      },
      says: /it has a second name .hard link./,
    },
  ])(
    '$name remembers lazily: the plan of node and snapshot say so alike, and take no device',
    async ({ make, says }) => {
      make(join(journalDir, LAZY_FILE))
      const planned = async (...args: string[]): Promise<Plan> =>
        JSON.parse((await run('plan', '--orphans', '-o', 'json', ...args)).stdout) as Plan
      const live = await planned()
      await run('snapshot', '-o', 'lazy.json')
      const offline = await planned('--snapshot', join(directory, 'lazy.json'))
      expect(live.problems).toContainEqual(
        expect.objectContaining({ code: 'LazyMemoryUnusable', message: expect.stringMatching(says) }),
      )
      expect([live.complete, offline.complete]).toEqual([false, false])
      expect([offline.operations, offline.problems]).toEqual([live.operations, live.problems])
      const free = live.operations.filter((each) => each.blocked === undefined).map(({ kind }) => kind)
      expect(free.filter((kind) => /Device|Detach|Unmap/.test(kind))).toEqual([])
    },
  )
})

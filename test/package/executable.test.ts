/** The executable by itself: what it answers, what it reads and writes, and whom it obeys. */
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { volctl } from '../cli/run-volctl.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { CAPTURE, noPackages, ROOT, run, sha256, theExecutable, VERSION, where } from './roots.ts'

const NOBODY = 65534
const work = temporary('volctl-executable-')
let executable: string

afterAll(() => sweep(work))

describe.skipIf(noPackages !== undefined)(`the executable${where}`, () => {
  beforeAll(async () => {
    executable = await theExecutable(work)
  })

  it('has the same bytes when it is made again', async () => {
    const again = join(work, 'again')
    await makeExecutable('x64', join(ROOT, 'dist'), again)
    expect(sha256(again)).toBe(sha256(executable))
  })

  it.each([
    { args: ['--version'] },
    { args: ['plan', '--orphans', '-o', 'json', '--snapshot', CAPTURE] },
    { args: ['explain', 'S11'] },
    { args: ['completion', 'bash'] },
    { args: ['plan', '--help'] },
    { args: ['plan', '--nonsense'] },
    { args: ['version', '-o', 'json'] },
  ])('answers as the npm package does: $args', async ({ args }) => {
    const { status, stdout, stderr } = await volctl(args)
    const timeless = (text: string): string => text.replace(/"createdAt": "[^"]*"/, '')
    const mine = await run([executable, ...args], { stripFinalNewline: false })
    expect({ ...mine, stdout: timeless(mine.stdout) }).toEqual({ status, stderr, stdout: timeless(stdout) })
  })

  it('S34: takes nothing from the environment of Node.js and OpenSSL', async () => {
    const marker = join(work, 'marker')
    writeFileSync(join(work, 'evil.cjs'), `require('fs').writeFileSync(${JSON.stringify(marker)}, '')`)
    const env = {
      NODE_OPTIONS: `--require=${join(work, 'evil.cjs')}`,
      NODE_V8_COVERAGE: join(work, 'coverage'),
      NODE_REDIRECT_WARNINGS: join(work, 'warnings'),
      NODE_DEBUG_NATIVE: 'SEA',
      NODE_EXTRA_CA_CERTS: join(work, 'evil.cjs'),
      OPENSSL_CONF: join(work, 'evil.cnf'),
      SSL_CERT_FILE: join(work, 'evil.cjs'),
    }
    const trace = join(work, 'trace')
    const command = ['strace', '-f', '-e', 'trace=openat,execve', '-o', trace, executable, '--version']
    const told = await run(command, { env })
    expect(told).toMatchObject({ status: 0, stdout: expect.stringMatching(VERSION) })
    expect(readFileSync(trace, 'utf8').match(/execve\(/g)).toHaveLength(2)
    expect(readFileSync(trace, 'utf8')).not.toContain('evil')
    expect([marker, env.NODE_V8_COVERAGE, env.NODE_REDIRECT_WARNINGS].filter((path) => existsSync(path))).toEqual([])
  })

  it.each([
    { args: ['--version'], status: 1, stdout: '' },
    { args: ['check'], status: 2, stdout: 'unknown: volctl cannot start' },
  ])('says that /proc is not mounted: $args', async (row) => {
    const hidden = [
      'unshare',
      '-m',
      'sh',
      '-c',
      'mount -t tmpfs tmpfs /proc && exec "$0" "$@"',
      executable,
      ...row.args,
    ]
    for (const env of [{}, { NODE_OPTIONS: '--inspect' }]) {
      const told = await run(hidden, { env: { PATH: '/usr/bin:/bin', ...env }, extendEnv: false })
      expect(told).toMatchObject({ status: row.status, stdout: row.stdout })
      expect(told.stderr).toBe('volctl: /proc is not mounted here. Mount it: mount -t proc proc /proc')
    }
  })

  it('says that it cannot tell who may write to it, here for want of descriptors', async () => {
    const limited = async (files: number, ...args: readonly string[]) =>
      await run(['sh', '-c', `ulimit -n ${files} && exec "$0" "$@"`, executable, ...args])
    // Node.js itself needs more than a few, so that it is the first look that fails.
    let files = 64
    while (files > 0 && (await limited(files, '--version')).status === 0) files -= 1
    expect(await limited(files, 'check')).toEqual({
      status: 2,
      stdout: 'unknown: volctl cannot start',
      stderr: expect.stringMatching(/^volctl: not run as root: cannot tell who may write to \S+: EMFILE$/),
    })
  })

  it('S34: goes on after SIGUSR1, and opens no debugger', async () => {
    const volctl = execa(executable, ['plan', '--snapshot', '-', '-o', 'json'], { stdin: 'pipe' })
    const caught = (): bigint =>
      BigInt(`0x${/^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${volctl.pid}/status`, 'utf8'))?.[1]}`)
    await expect.poll(() => (caught() >> BigInt(constants.signals.SIGUSR1 - 1)) & 1n, { timeout: 10_000 }).toBe(1n)
    volctl.kill('SIGUSR1')
    volctl.stdin.end(readFileSync(CAPTURE))
    const { stdout, stderr } = await volctl
    expect(JSON.parse(stdout)).toHaveProperty('operations')
    expect(stderr).not.toContain('Debugger')
  })

  it.each([
    { name: 'all may write to it', spoil: (path: string) => chmodSync(path, 0o757), why: 'can be written by others' },
    { name: "it is another user's", spoil: (path: string) => chownSync(path, NOBODY, NOBODY), why: 'belongs to uid' },
    {
      name: 'all may write to its directory',
      spoil: (path: string) => chmodSync(dirname(path), 0o777),
      why: 'can be written',
    },
  ])('S33: root does not run it where $name', async ({ name, spoil, why }) => {
    const copy = join(work, `spoilt ${name}`, 'volctl')
    mkdirSync(dirname(copy))
    copyFileSync(executable, copy)
    spoil(copy)
    const told = await run([copy, '--version'])
    expect(told).toMatchObject({ status: 1, stdout: '' })
    expect(told.stderr).toMatch(
      /^volctl: not run as root: .+ Install volctl where only root may write, such as \/opt\.$/,
    )
    expect(told.stderr).toContain(why)
    expect(await run([copy, 'check'])).toMatchObject({ status: 2, stdout: 'unknown: volctl cannot start' })
  })
})

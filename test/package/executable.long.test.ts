/** The executable by itself: what it needs, and whom it obeys. */
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { BROKEN } from '../helpers/captures.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { executableForAll, noPackages, ROOT, run, sha256 } from './roots.ts'

const NOBODY = 65534

describeUnless(noPackages, 'the executable', () => {
  const { work, executable } = executableForAll()

  it('has the same bytes when it is made again', async () => {
    const again = join(work, 'again')
    await makeExecutable('x64', join(ROOT, 'dist'), again)
    expect(sha256(again)).toBe(sha256(executable))
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
    volctl.stdin.end(readFileSync(BROKEN))
    const { stdout, stderr } = await volctl
    expect(JSON.parse(stdout)).toHaveProperty('operations')
    expect(stderr).not.toContain('Debugger')
  })

  it.each([
    ['all may write to it', (path: string) => chmodSync(path, 0o757), 'can be written by others'],
    ["it is another user's", (path: string) => chownSync(path, NOBODY, NOBODY), 'belongs to uid'],
    ['all may write to its directory', (path: string) => chmodSync(dirname(path), 0o777), 'can be written'],
  ])('S33: root does not run it where %s', async (name, spoil, why) => {
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

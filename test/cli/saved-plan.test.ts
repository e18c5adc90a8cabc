import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acceptCaller, callerPath } from '../../src/core/trust/run.ts'
import { BROKEN } from '../helpers/captures.ts'
import { volctl } from '../helpers/run-main.ts'
import { temporaryDirectory } from '../helpers/temporary-directory.ts'

describe('plan --out', () => {
  it.each(['table', 'json'])('prints the same -o %s as without it', async (format) => {
    const file = join(temporaryDirectory(), 'node.plan')
    const args = ['plan', '--orphans', '--snapshot', BROKEN, '-o', format]
    const plain = await volctl(args)
    const saved = await volctl([...args, '--out', file])
    expect(saved.stdout).toBe(plain.stdout)
    expect(saved.stderr).toMatch(/^wrote .*: plan [0-9a-f]{12}, \d+ operations\n$/)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({
      kind: 'Plan',
      options: { orphans: true, remount: false },
    })
  })

  it('that fails prints the answer all the same, and exits with 1', async () => {
    const { status, stdout, stderr } = await volctl(['plan', '--snapshot', BROKEN, '--out', '/dev/stdout'])
    expect(status).toBe(1)
    expect(stdout).toMatch(/\n\d+ operations: /)
    expect(stderr).toMatch(/^volctl: plan file \/dev\/stdout: it is a symbolic link\n/)
  })
})

describe('apply FILE', () => {
  it('takes no flag that would change the plan', async () => {
    const { status, stderr } = await volctl(['apply', 'x.plan', '--yes', '--handle', 'a=b', '--settle=1s'])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^volctl: --handle, --settle cannot be combined with a plan file\n/)
  })

  it('takes those that do not, and says what is wrong with the file', async () => {
    const more = ['--yes', '--parallel', '1', '--timeout', '1m', '-v', '--no-color']
    const { status, stderr } = await volctl(['apply', '/nonexistent.plan', ...more])
    expect(status).toBe(1)
    expect(stderr).toMatch(/^volctl: plan file \/nonexistent\.plan: no such file\n/)
  })

  it('takes a journal directory that is absolute', async () => {
    const relative = await volctl(['apply', '--journal', 'here'])
    expect(relative.stderr).toMatch(/^volctl: --journal: "here" is not an absolute path\.\n/)
  })
})

const CALLER = { pid: 12, depth: 1, directory: '/home/me' }

it.each([
  { path: '/a/b', caller: undefined, want: '/a/b' },
  { path: 'b', caller: undefined, want: join(process.cwd(), 'b') },
  { path: '/a/b', caller: CALLER, want: '/proc/12/root/a/b' },
  { path: 'b', caller: CALLER, want: '/proc/12/root/home/me/b' },
  { path: '../b', caller: CALLER, want: '/proc/12/root/home/b' },
])('$path, started by $caller.pid, is $want', ({ path, caller, want }) => expect(callerPath(path, caller)).toBe(want))

it.each([
  { name: 'of a process that is not the parent', word: '--internal-reentered=1' },
  { name: 'that is none', word: '--internal-reentered=1:3' },
])('S34: a word $name is an unknown flag', ({ word }) => {
  expect(acceptCaller([word, 'plan'])).toEqual({ args: [word, 'plan'] })
})

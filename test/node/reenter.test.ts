import { spawnSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { noRoot } from '../helpers/namespace.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { holdElsewhere } from '../privileged/holder.ts'

const PRINT = new URL('./helpers/print-namespace.ts', import.meta.url).pathname

describeUnless(noRoot, 'S6: reenter', () => {
  it('runs the same program in the namespace of another process, and gives its status', async () => {
    // In its namespace this project is covered: the program must be reached through /proc.
    const project = new URL('../../', import.meta.url).pathname
    await using holder = await holdElsewhere(`mount -t tmpfs x "${project}"`)
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, [PRINT, String(holder.pid), ...args], { encoding: 'utf8', timeout: 20_000 })
    const { pid, status, stdout, stderr } = run('plan', '-o', 'json')
    expect(stderr).toBe('')
    expect(status).toBe(7)
    expect(JSON.parse(stdout)).toEqual({
      namespace: readlinkSync(`/proc/${holder.pid}/ns/mnt`),
      rest: ['plan', '-o', 'json'],
      caller: { pid, depth: 1, directory: process.cwd() },
    })
    const again = run('again')
    expect(again.status).not.toBe(0)
    expect(again.stderr).toContain('could not enter the kubelet')
  })
})

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { askProgram, runCommand } from '../../src/core/trust/programs.ts'

it('a helper dies with the program that started it: a mount.nfs that hangs is not left to mount later', async () => {
  // The helper holds the pipe: it closes only when the helper has ended too.
  const result = await runCommand('/bin/sh', ['-c', 'sleep 1000 & echo begun; wait'], 300)
  expect(result).toEqual({ status: undefined, stdout: 'begun\n', stderr: '', timedOut: true })
})

it('a helper that outlives its program is ended at the deadline, and the program has its own status', async () => {
  const result = await runCommand('/bin/sh', ['-c', 'sleep 1000 & exit 3'], 300)
  expect(result).toMatchObject({ status: 3, timedOut: false })
})

it('what a program makes is not at the mercy of the umask that volctl was called with', async () => {
  const before = process.umask(0o077)
  try {
    expect((await runCommand('/bin/sh', ['-c', 'umask'], 5000)).stdout).toMatch(/^0*22$/m)
    expect(process.umask()).toBe(0o077)
  } finally {
    process.umask(before)
  }
})

it('a program that cannot be started for want of descriptors is a failure, not the end of the apply', () => {
  const module = new URL('../../src/core/trust/programs.ts', import.meta.url)
  const script = `
    const { openSync } = await import('node:fs')
    const { runCommand } = await import(${JSON.stringify(module.href)})
    await runCommand('true', [], 5000)
    try { for (;;) openSync('/dev/null') } catch {}
    const code = await runCommand('true', [], 5000).catch((error) => error.code)
    await new Promise(setImmediate)
    process.stdout.write(code)`
  const node = `exec ${process.execPath} --no-warnings --input-type=module -e "$0"`
  const { stdout, status } = spawnSync('/bin/bash', ['-c', `ulimit -n 200; ${node}`, script], { encoding: 'utf8' })
  expect({ stdout, status }).toEqual({ stdout: 'CommandFailed', status: 0 })
})

it('a program that is asked has the fixed environment and no input, and its answer comes whole', async () => {
  expect(await askProgram('/bin/sh', ['-c', 'echo $LC_ALL $HOME; cat; pwd; echo no >&2; exit 3'], 5000)).toEqual({
    status: 3,
    stdout: 'C\n/\n',
    stderr: 'no\n',
    timedOut: false,
  })
})

it('a program that cannot be asked: it is missing, or cannot be started', async () => {
  await expect(askProgram('no-such-program', [], 5000)).rejects.toMatchObject({ code: 'CommandMissing' })
  await expect(askProgram('/etc/passwd', [], 5000)).rejects.toMatchObject({ code: 'CommandFailed' })
})

import { expect, it } from 'vitest'
import { runCommand } from '../../src/core/apply/run-command.ts'

it('a helper dies with the program that started it: a mount.nfs that hangs is not left to mount later', async () => {
  // The helper holds the pipe: it closes only when the helper has ended too.
  const result = await runCommand('/bin/sh', ['-c', 'sleep 1000 & echo begun; wait'], 300)
  expect(result).toEqual({ status: undefined, stdout: 'begun\n', stderr: '', timedOut: true })
})

it('a helper that outlives its program is ended at the deadline, and the program has its own status', async () => {
  const result = await runCommand('/bin/sh', ['-c', 'sleep 1000 & exit 3'], 300)
  expect(result).toMatchObject({ status: 3, timedOut: false })
})

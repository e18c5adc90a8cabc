/** A reader that does not read (a stopped pager, a full pipe) keeps nobody from leaving. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { nodeProgram } from '../helpers/programs.ts'

it('a second Ctrl-C leaves while standard output is blocked; the first does not', async () => {
  const child = spawn(...nodeProgram(join(import.meta.dirname, 'workers/blocked-output.ts')), { stdio: 'pipe' })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  try {
    await expect.poll(() => said).toContain('printed')
    child.kill('SIGINT')
    await expect.poll(() => said).toContain('Interrupt again to leave at once')
    expect(child.exitCode).toBe(null)
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(10_000) })
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  } finally {
    child.kill('SIGKILL')
  }
})

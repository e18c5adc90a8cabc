/** The demo on a terminal, interrupted, and killed. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { noMounts } from '../helpers/namespace.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { describeUnless } from '../privileged/describe-unless.ts'
import { commands, demo, directory, expectMainJob, expectNothingLeft, onceShown } from './run-demo.ts'

describeUnless(noMounts, 'the demo', () => {
  it('shows the main job on a terminal', () => expectMainJob({ terminal: true }))

  it.each([
    { when: 'while the node is made', mark: 'A node is set up', signal: 'SIGTERM' },
    { when: 'while volctl repairs it', mark: '$ volctl apply', signal: 'SIGINT' },
  ] as const)('interrupted $when, it leaves nothing behind', async ({ mark, signal }) => {
    const { status, text } = await demo({ onText: onceShown(mark, (pid) => process.kill(pid, signal)) })
    expect(status, text).toBe(130)
    expect(text).toContain('Interrupted: cleaning up.')
    expectNothingLeft()
  })

  it('stops at the first command that fails, and says so', async () => {
    const program = join(directory, 'failing')
    writeFileSync(program, `#!/bin/sh\n[ "$1" != status ] || exit 5\nexec '${VOLCTL}' "$@"\n`, { mode: 0o755 })
    const { status, text } = await demo({ program })
    expect(status, text).toBe(1)
    expect(commands(text).at(-1)).toBe('$ volctl status')
    expect(text).toContain('The demo stops: volctl status ended with exit status 5\n')
    rmSync(program)
    expectNothingLeft()
  })

  it('killed with all its processes, it leaves nothing that the next one does not sweep', async () => {
    const { status } = await demo({ onText: onceShown('$ volctl apply', (pid) => process.kill(-pid, 'SIGKILL')) })
    expect(status).toBe(null)
    const left = readdirSync(directory)
    expect(left).toHaveLength(1)
    const { text } = await demo({ onText: onceShown('A node is set up', (pid) => process.kill(pid, 'SIGINT')) })
    const where = join(directory, left[0] ?? '')
    expect(text).toContain(`An earlier demo was killed: what it left in ${where} is removed.\n`)
    expectNothingLeft()
  })
})

/** The demo on a terminal, beside a kubelet, interrupted, and killed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { moveInto, noCgroups } from '../helpers/cgroup.ts'
import { noMounts } from '../helpers/namespace.ts'
import { VOLCTL } from '../helpers/volctl-program.ts'
import { commands, demo, directory, expectMainJob, expectNothingLeft, onceShown } from './run-demo.ts'

const KILLS = ['A node is set up', '$ volctl apply', '$ volctl status']

describe.skipIf(noMounts !== undefined)('the demo', () => {
  it('shows the main job on a terminal', () => expectMainJob({ terminal: true }))

  it.skipIf(noCgroups !== undefined)(
    `takes no pod of a kubelet on this machine for one of its own${noCgroups === undefined ? '' : ` (${noCgroups})`}`,
    async () => {
      const podProcess = spawn('sleep', ['infinity'])
      await once(podProcess, 'spawn')
      const podUid = '5b0f6f0e-9d0c-4f0e-8a55-0123456789ab'
      const cgroup = moveInto(`/kubepods/burstable/pod${podUid}/container`, podProcess.pid ?? 0)
      try {
        const { status, text } = await demo()
        expect(status, text).toBe(0)
        expect(text).not.toContain(podUid)
        expectNothingLeft()
      } finally {
        podProcess.kill()
        await once(podProcess, 'exit')
        cgroup[Symbol.dispose]()
      }
    },
  )

  it.each([
    { when: 'while the node is made', mark: 'A node is set up', signal: 'SIGINT' },
    { when: 'while the node breaks', mark: 'The kubelet goes down', signal: 'SIGTERM' },
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
    expect(text).toContain('The demo stops: volctl status --no-pager ended with exit status 5\n')
    rmSync(program)
    expectNothingLeft()
  })

  it('killed with all its processes, it leaves nothing that the next one does not sweep', async () => {
    let left: string | undefined
    const expectSwept = (text: string): void => {
      if (left !== undefined)
        expect(text).toContain(`An earlier demo was killed: what it left in ${left} is removed.\n`)
    }
    for (const mark of KILLS) {
      const { status, text } = await demo({ onText: onceShown(mark, (pid) => process.kill(-pid, 'SIGKILL')) })
      expect(status, text).toBe(null)
      expectSwept(text)
      const directories = readdirSync(directory)
      expect(directories).toHaveLength(1)
      left = join(directory, directories[0] ?? '')
    }
    const { text } = await demo({ onText: onceShown('A node is set up', (pid) => process.kill(pid, 'SIGINT')) })
    expectSwept(text)
    expectNothingLeft()
  })
})

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readlinkSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { noRoot } from '../helpers/namespace.ts'

const PRINT = new URL('./helpers/print-namespace.ts', import.meta.url).pathname

describe.skipIf(noRoot !== undefined)(`S6: reenter${noRoot === undefined ? '' : ` (${noRoot})`}`, () => {
  it('runs the same program in the namespace of another process, and gives its status', async () => {
    // In its namespace this project is covered: the program must be reached through /proc.
    const project = new URL('../../', import.meta.url).pathname
    const holder = spawn('unshare', [
      '-m',
      '--propagation',
      'private',
      'sh',
      '-c',
      'mount -t tmpfs x "$1"; echo ready; exec sleep 60',
      'sh',
      project,
    ])
    try {
      await once(holder.stdout, 'data')
      const namespace = `/proc/${holder.pid}/ns/mnt`
      const { status, stdout, stderr } = spawnSync(process.execPath, [PRINT, namespace, 'plan', '-o', 'json'], {
        encoding: 'utf8',
        timeout: 20_000,
      })
      expect(stderr).toBe('')
      expect(status).toBe(7)
      expect(JSON.parse(stdout)).toEqual({
        namespace: readlinkSync(namespace),
        rest: ['plan', '-o', 'json'],
        depth: '1',
      })
      const again = spawnSync(process.execPath, [PRINT, namespace], {
        encoding: 'utf8',
        env: { ...process.env, VOLCTL_REENTERED: '2' },
      })
      expect(again.status).not.toBe(0)
      expect(again.stderr).toContain('could not get into the mount namespace')
    } finally {
      holder.kill('SIGKILL')
    }
  })
})

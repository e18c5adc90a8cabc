/** S33, S34: what another user may mount: what a FUSE file system says proves nothing, and what a user can fill is read within bounds. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { expect } from 'vitest'
import { readOtherNamespaces, unseenNamespaces } from '../../../src/core/processes/mount-namespaces.ts'
import { checkTrusted } from '../../../src/core/trust/files.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot } from '../../helpers/namespace.ts'
import { describeUnless } from '../describe-unless.ts'
import { STRANGER } from './strangers.ts'

const MIB = 1 << 20

/** Its daemon is gone: it must be known without asking it. */
function mountFuse(type: string, source: string, path: string): void {
  mkdirSync(path)
  const device = openSync('/dev/fuse', 'r+')
  const options = `fd=3,rootmode=40000,user_id=${STRANGER},group_id=${STRANGER},allow_other`
  const { status, stderr } = spawnSync('mount', ['-i', '-t', type, '-o', options, source, path], {
    stdio: ['ignore', 'pipe', 'pipe', device],
    encoding: 'utf8',
  })
  closeSync(device)
  if (status !== 0) throw new Error(`mount -t ${type}: ${stderr}`)
}

/** A user's process with 32,768 mounts, each bind of the whole tree into itself doubling it, and more of it with copies of them all. */
const MANY = `mount -t tmpfs t /mnt
i=0; while [ $i -lt 15 ]; do mkdir /mnt/d$i; mount --rbind /mnt /mnt/d$i; i=$((i+1)); done
i=0; while [ $i -lt 8 ]; do unshare -m sleep 300 & i=$((i+1)); done; echo ready; wait`

describeUnless(noRoot, 'mounts of another user', () => {
  it.for<readonly [type: string, source: string]>([
    ['fuse', 'source'],
    ['fuse.a b', 'a b'],
    ['fuse.a\rb', 'a\rb'],
    ['fuse.a\u00a0b', 'source'],
  ])(
    'S33: a FUSE file system is not trusted, whatever its type and source are called: %j',
    ([type, source], { directory }) => {
      chmodSync(directory, 0o1777)
      mountFuse(type, source, `${directory}/fuse`)
      const why = `${directory}/fuse is a FUSE file system of another user`
      expect(() => checkTrusted(`${directory}/fuse/kubeconfig`)).toThrow(why)
    },
  )

  it('S34, S39: many mounts are read until it is enough, and the namespaces beyond count for nothing', async () => {
    const as = ['--reuid', `${STRANGER}`, '--regid', `${STRANGER}`, '--clear-groups']
    const child = spawn('setpriv', [...as, 'unshare', '-U', '-r', '-m', 'sh', '-c', MANY], {
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    try {
      await once(child.stdout, 'data')
      await expect.poll(() => readOtherNamespaces().length).toBe(9)
      const before = process.memoryUsage().rss
      const others = readOtherNamespaces()
      expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(150)
      expect(unseenNamespaces(others)).toEqual([])
      expect(others.filter(({ table }) => table.size === 0).length).toBeGreaterThan(1)
      expect(others.reduce((sum, { table }) => sum + table.text.length, 0) / MIB).toBeLessThanOrEqual(16)
    } finally {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    }
  })
})

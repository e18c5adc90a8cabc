/** FUSE mounts whose daemon never answers, or is gone: every look at them would hang or fail. */

import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { linuxHost } from '../../../src/core/host/linux-host.ts'
import { statesOf } from '../../helpers/apply-plan.ts'
import { runScenario } from '../../helpers/scenario.ts'
import { apply, expectNow, makeDir, operation, readMounts, unmount, volumeDir } from './real-node.ts'

/** @returns the daemon's side: as long as it is open and unread, every request hangs; once closed, it is dead */
function fuse(path: string): number {
  makeDir(path)
  const fd = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const { status, stderr } = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'test', path], {
    stdio: ['ignore', 'pipe', 'pipe', fd],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`mount -t fuse: ${stderr}`)
  return fd
}

await runScenario({
  possible(directory) {
    closeSync(fuse(`${directory}/mnt`))
  },

  /** Next to a healthy volume: neither waits for the other. */
  async hung(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = volumeDir(root, 1, 'v', 'kubernetes.io~nfs')
    const fd = fuse(dir)
    const dead = await linuxHost.isDead(dir, 300)
    const started = performance.now()
    const result = await apply(root, [unmount('a', 1, dir)])
    const ms = performance.now() - started
    closeSync(fd)
    return {
      dead,
      states: statesOf(result),
      quick: ms < 15_000,
      left: readMounts().under(root).length,
      exists: existsSync(dir),
    }
  },

  async gone(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const dir = volumeDir(root, 1, 'v', 'kubernetes.io~nfs')
    closeSync(fuse(dir))
    const dead = await linuxHost.isDead(dir, 5000)
    const alive = await linuxHost.isDead(root, 5000)
    const expects = expectNow(dir)
    const steps = [
      { op: 'umount', target: dir, detail: 'dead' },
      { op: 'rmdir', target: dir },
    ] as const
    return {
      dead,
      alive,
      states: statesOf(await apply(root, [operation('a', 1, steps, { expects })])),
      exists: existsSync(dir),
    }
  },

  async lazyAndForce(directory) {
    const root = makeDir(`${directory}/kubelet`)
    const [lazy, forced] = [
      volumeDir(root, 1, 'lazy', 'kubernetes.io~nfs'),
      volumeDir(root, 2, 'force', 'kubernetes.io~nfs'),
    ]
    const fds = [fuse(lazy), fuse(forced)]
    const given = { timeoutMs: 1000 }
    const operations = [
      operation('lazy', 1, [{ op: 'umount', target: lazy, detail: 'lazy' }], { expects: expectNow(lazy) }),
      operation('force', 2, [{ op: 'umount', target: forced, detail: 'force' }], { expects: expectNow(forced) }),
    ]
    const result = await apply(root, operations, given)
    for (const fd of fds) closeSync(fd)
    return { states: statesOf(result), left: readMounts().under(root).length }
  },
})

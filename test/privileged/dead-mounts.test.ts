/** FUSE mounts whose daemon never answers, or is gone: every look at them would hang or fail. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { readJournal } from '../../src/core/apply/journal/read-journal.ts'
import { containingMount } from '../../src/core/linux/location.ts'
import { deadMounts } from '../../src/core/node/dead-mounts.ts'
import { linuxHost } from '../../src/core/rules/host.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { it } from '../helpers/machine.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { sh } from '../helpers/scenario.ts'
import { describeUnless } from './describe-unless.ts'
import { noFuse } from './faults/no-fuse.ts'
import { mountFuse, startFuse } from './fuse/start.ts'
import { apply, expectNow, makeDir, operation, readMounts, unmount, volumeDir } from './workers/real-node.ts'

const isDead = (mountPoint: string, deadlineMs: number): Promise<boolean> =>
  linuxHost.isDead({ id: containingMount(readMounts(), mountPoint)?.id ?? 0, mountPoint }, deadlineMs)
const nfs = (root: string, pod: number, name: string): string => volumeDir(root, pod, name, 'kubernetes.io~nfs')

describeUnless(noFuse, 'dead mounts', () => {
  it('S18: are unmounted without being looked at, though their daemon never answers', async ({ directory }) => {
    const root = makeDir(`${directory}/kubelet`)
    const dir = nfs(root, 1, 'v')
    const fd = mountFuse(dir)
    expect(await isDead(dir, 300)).toBe(true)
    expect(statesOf(await apply(root, [unmount('a', 1, dir)]))).toEqual({ a: 'done' })
    closeSync(fd)
    expect([readMounts().under(root), existsSync(dir)]).toEqual([[], false])
  })

  it('are told from living ones, and unmounted, when their daemon is gone', async ({ directory }) => {
    const root = makeDir(`${directory}/kubelet`)
    const dir = nfs(root, 1, 'v')
    closeSync(mountFuse(dir))
    expect([await isDead(dir, 5000), await isDead(root, 5000)]).toEqual([true, false])
    const steps = [
      { op: 'umount', target: dir, detail: 'dead' },
      { op: 'rmdir', target: dir },
    ] as const
    const result = await apply(root, [operation('a', 1, steps, { expects: expectNow(dir) })])
    expect([statesOf(result), existsSync(dir)]).toEqual([{ a: 'done' }, false])
  })

  it('S19, S20: go by force where nothing shares the connection; by a lazy umount nothing follows unless it is shown to be gone', async ({
    directory,
  }) => {
    const root = makeDir(`${directory}/kubelet`)
    const [lazy, force] = [nfs(root, 1, 'lazy'), nfs(root, 2, 'force')]
    const fds = [mountFuse(lazy), mountFuse(force)]
    const operations = Object.entries({ lazy, force }).map(([detail, target], pod) =>
      operation(detail, pod + 1, [{ op: 'umount', target, detail }], { expects: expectNow(target) }),
    )
    const states = statesOf(await apply(root, operations, { timeoutMs: 1000 }))
    for (const fd of fds) closeSync(fd)
    expect(readMounts().under(root)).toEqual([])
    expect(states).toEqual({ force: 'done', lazy: expect.stringMatching(/^done( DetachedLazily)?$/) })
  })

  it('S36: are asked by one process each, however often: it is left behind where they hang', async ({ directory }) => {
    const path = `${directory}/k/pods`
    const askers = (): string => sh('sh', '-c', 'grep -lz "^volctl asks mount" /proc/[0-9]*/cmdline | wc -l')
    const fuse = await startFuse(`${directory}/fuse`, 'silent')
    // Where nothing else can go on meanwhile, too, and the mount table that was read before does not have the mount.
    const worker = new URL('./workers/late-mount.ts', import.meta.url)
    const child = spawn(...nodeProgram(worker, [`${directory}/fuse`, `${directory}/k`, makeDir(path)]))
    // Nothing else ends a walk that hangs there.
    const giveUp = setTimeout(fuse.kill, 15_000)
    expect(await text(child.stdout)).toMatch(/^the journal .* cannot be written: its file system does not answer/)
    clearTimeout(giveUp)
    expect(() => readJournal(path)).toThrow(/^the journal .* cannot be read: its file system does not answer/)
    for (const _ of [1, 2, 3]) {
      expect(await deadMounts(readMounts(), `${directory}/k`, 1000)).toEqual([{ path, error: 'Timeout' }])
      expect(askers()).toBe('1')
    }
    await fuse.kill()
    await expect.poll(askers).toBe('0')
    expect(await deadMounts(readMounts(), `${directory}/k`)).toEqual([{ path, error: 'ENOTCONN' }])
  })
})

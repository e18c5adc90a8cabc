import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { statesOf } from '../helpers/apply-plan.ts'
import { it } from '../helpers/machine.ts'
import { sh } from '../helpers/scenario.ts'
import { holdByShell, holdElsewhere } from './holder.ts'
import { apply, makeDir, operation, readMounts, tmpfs, unmount, volumeDir } from './workers/real-node.ts'

describe('unmounting for real', () => {
  it('S27: unmounts hundreds in one go, believes the mount table read after it, and names who holds the one that is busy', async ({
    directory,
  }) => {
    const root = makeDir(`${directory}/kubelet`)
    const volumes = Array.from({ length: 300 }, (_, n) => ({ pod: n % 30, dir: volumeDir(root, n % 30, `v${n}`) }))
    for (const { dir } of volumes) tmpfs(dir)
    const held = volumes[7]?.dir ?? ''
    const holder = await holdByShell(':', held)
    const { outcomes } = await apply(
      root,
      volumes.map(({ pod, dir }, n) => unmount(`v${n}`, pod, dir)),
    )
    const left = readMounts()
      .under(root)
      .map(({ mountPoint }) => mountPoint)
    await holder.end()
    expect(outcomes.filter(({ state }) => state === 'done')).toHaveLength(299)
    expect(outcomes.filter(({ state }) => state !== 'done')).toMatchObject([
      { id: 'v7', code: 'HeldBy', message: expect.stringContaining(`sh (pid ${holder.pid}, cwd)`) },
    ])
    expect(left).toEqual([held])
    expect(statesOf(await apply(root, [unmount('v7', 7, held)]))).toEqual({ v7: 'done' })
    expect(volumes.filter(({ dir }) => existsSync(dir))).toEqual([])
  })

  it('S6: removes no directory that is a mount point in another namespace: rmdir would detach it there (R036)', async ({
    directory,
  }) => {
    const root = makeDir(`${directory}/kubelet`)
    const dir = makeDir(volumeDir(root, 1, 'v'))
    const other = await holdElsewhere(`mount -t tmpfs tmpfs ${dir}; echo data > ${dir}/file`)
    const result = await apply(root, [operation('a', 1, [{ op: 'rmdir', target: dir }])])
    const data = sh('nsenter', `--mount=/proc/${other.pid}/ns/mnt`, 'cat', `${dir}/file`)
    await other.end()
    expect(statesOf(result)).toEqual({ a: 'failed HeldBy' })
    expect([data, existsSync(dir)]).toEqual(['data', true])
  })

  it('does nothing that cannot be written into the journal first: its disk is full after a few lines', async ({
    directory,
  }) => {
    const root = makeDir(`${directory}/kubelet`)
    sh('mount', '-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', makeDir(`${root}.journal`))
    const operations = Array.from({ length: 12 }, (_, n) => {
      const dir = makeDir(volumeDir(root, n, 'scratch', 'kubernetes.io~empty-dir'))
      return operation(`o${n}`, n, [
        { op: 'deleteContent', target: dir },
        { op: 'rmdir', target: dir },
      ])
    })
    const result = await apply(root, operations, { parallel: 1 })
    const states = statesOf(result)
    const ids = (state: string) => Object.keys(states).filter((id) => states[id] === state)
    const left = operations.filter(({ steps }) => existsSync(steps[0]?.target ?? '')).map(({ id }) => id)
    expect(ids('done').length).toBeGreaterThan(0)
    expect(left).toEqual([...ids('failed JournalFailed'), ...ids('refused JournalFailed')])
    expect(left.length + ids('done').length).toBe(12)
    expect(result.exit).toBe(3)
  })

  it('S27: another mount in the place of the one that the plan was made on is told by its id, and stays', async ({
    directory,
  }) => {
    const root = makeDir(`${directory}/kubelet`)
    const dir = tmpfs(volumeDir(root, 1, 'v'))
    const planned = unmount('a', 1, dir)
    // Made before the other goes: the kernel gives the lowest numbers that are free, to mounts and to devices.
    const other = tmpfs(`${directory}/other`)
    writeFileSync(`${other}/file`, 'x')
    sh('umount', dir)
    // Without its own notes (-n), which are root's.
    sh('mount', '-n', '--move', other, dir)
    expect(statesOf(await apply(root, [planned]))).toEqual({ a: 'refused ForeignMount' })
    expect(readdirSync(dir)).toEqual(['file'])
  })
})

/** fsGroup on real files, links and mounts, and on FUSE file systems whose daemon answers, stops, hangs and ends. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { expect } from 'vitest'
import { containingMount } from '../../../src/core/linux/location.ts'
import { type ChangeOwnershipOptions, changeOwnership, type Ownership } from '../../../src/core/linux/ownership.ts'
import { linuxHost } from '../../../src/core/rules/host.ts'
import { endOf } from '../../helpers/apply-plan.ts'
import { LiveNode, OTHER, POD } from '../../helpers/live-node.ts'
import { it } from '../../helpers/machine.ts'
import { noRoot, noSystemCalls } from '../../helpers/namespace.ts'
import { claimOf } from '../../helpers/node-builder.ts'
import { sh } from '../../helpers/scenario.ts'
import { until } from '../../helpers/until.ts'
import { describeUnless } from '../describe-unless.ts'
import { noFuse } from '../faults/no-fuse.ts'
import { type Fuse, startFuse } from '../fuse/start.ts'
import { race } from '../swapping.ts'
import { makeDir, readMounts } from '../workers/real-node.ts'

const GROUP: Ownership = { gid: 2000, policy: 'Always', readOnly: false, ignoreErrors: false }

/** "gid mode" of each; a link's mode says nothing. */
function look(...paths: readonly string[]): string[] {
  return paths.map((path) => {
    const stat = lstatSync(path)
    return stat.isSymbolicLink() ? `${stat.gid} link` : `${stat.gid} ${(stat.mode & 0o7777).toString(8)}`
  })
}

function change(path: string, ownership: Partial<Ownership> = {}, more: Partial<ChangeOwnershipOptions> = {}) {
  const mountId = containingMount(readMounts(), path)?.id ?? -1
  return changeOwnership(path, { mountId, ownership: { ...GROUP, ...ownership }, ...more })
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ code }) => code,
  )

function place(directory: string): { volume: string; outside: string } {
  const volume = makeDir(`${directory}/volume`)
  const outside = makeDir(`${directory}/outside`)
  writeFileSync(`${outside}/file`, 'precious', { mode: 0o600 })
  chmodSync(outside, 0o700)
  chmodSync(volume, 0o777)
  return { volume, outside }
}

const isUntouched = (outside: string): void => expect(look(outside, `${outside}/file`)).toEqual(['0 700', '0 600'])

describeUnless(noRoot, 'fsGroup for real', () => {
  it('gives files and directories to the group, and links themselves, never what they lead to (P31)', async ({
    directory,
  }) => {
    const { volume, outside } = place(directory)
    makeDir(`${volume}/sub/deep`)
    writeFileSync(`${volume}/sub/deep/file`, 'x', { mode: 0o640 })
    writeFileSync(`${volume}/program`, 'x')
    chmodSync(`${volume}/program`, 0o4755)
    symlinkSync(`${outside}/file`, `${volume}/file-link`)
    symlinkSync(outside, `${volume}/dir-link`)
    symlinkSync('nowhere', `${volume}/dangling`)
    sh('mkfifo', '-m', '600', `${volume}/fifo`)
    expect(await change(volume)).toMatchObject({ entries: 9, failed: 0, mounts: [] })
    const links = ['/file-link', '/dir-link', '/dangling'].map((name) => volume + name)
    expect(look(...links)).toEqual(Array(3).fill('2000 link'))
    const others = ['', '/sub', '/sub/deep', '/sub/deep/file', '/program', '/fifo'].map((name) => volume + name)
    const modes = ['2777', '2775', '2775', '660', '4775', '660']
    expect(look(...others)).toEqual(modes.map((mode) => `2000 ${mode}`))
    expect(lstatSync(`${volume}/program`).uid).toBe(0)
    isUntouched(outside)
  })

  it('leaves what is bound into the volume alone, directory or file, and names it', async ({ directory }) => {
    const { volume, outside } = place(directory)
    makeDir(`${volume}/0-dir`)
    writeFileSync(`${volume}/1-file`, '')
    writeFileSync(`${volume}/own`, '', { mode: 0o600 })
    // The same device, another mount.
    sh('mount', '--bind', outside, `${volume}/0-dir`)
    sh('mount', '--bind', `${outside}/file`, `${volume}/1-file`)
    expect((await change(volume)).mounts.toSorted()).toEqual([`${volume}/0-dir`, `${volume}/1-file`])
    isUntouched(outside)
    expect(look(volume, `${volume}/own`)).toEqual(['2000 2777', '2000 660'])
  })

  it('changes the root last, so that a walk that was interrupted is made again', async ({ directory }) => {
    const { volume } = place(directory)
    const policy = { policy: 'OnRootMismatch' } as const
    for (let index = 0; index < 40; index++) writeFileSync(`${volume}/f${index}`, 'x', { mode: 0o600 })
    const controller = new AbortController()
    const onEntry = (entries: number): void => (entries === 10 ? controller.abort() : undefined)
    expect(await codeOf(change(volume, policy, { onEntry, signal: controller.signal }))).toBe('Interrupted')
    const given = (): number => readdirSync(volume).filter((name) => lstatSync(`${volume}/${name}`).gid === 2000).length
    expect([...look(volume), given()]).toEqual(['0 777', 10])
    expect(await change(volume, policy)).toMatchObject({ entries: 41 })
    expect([...look(volume), given()]).toEqual(['2000 2777', 40])
    expect(await change(volume, policy)).toMatchObject({ entries: 0 })
  })

  it('never leaves the volume while names are swapped for links and mounts hundreds of times', async ({
    directory,
    skip,
  }) => {
    skip(noSystemCalls !== undefined, noSystemCalls)
    for (const kind of ['links', 'traps', 'mounts']) {
      const walk = async (volume: string): Promise<number> => (await change(volume)).entries
      const { untouched, changed } = await race(makeDir(`${directory}/${kind}`), kind, 300, walk)
      expect({ untouched, kind }).toEqual({ untouched: true, kind })
      expect(changed).toBeGreaterThan(0)
    }
  })
})

const FUSE_GROUP = { securityContext: { fsGroup: 4711 } }
const podDir = ({ root }: LiveNode) => `${root}/pods/${POD}/volumes/kubernetes.io~local-volume/fuse`

/** Two pods: one with a directory of a FUSE file system, one with a directory of the disk. */
async function nodeOn(directory: string, mode: 'well' | 'unowned' = 'well'): Promise<{ node: LiveNode; daemon: Fuse }> {
  const path = `${directory}/fuse`
  const daemon = await startFuse(path, mode, `${directory}/asked`)
  mkdirSync(`${directory}/other`)
  const node = new LiveNode(directory)
  node
    .persistentVolume('fuse', { source: { local: { path } } })
    .persistentVolume('other', { source: { local: { path: `${directory}/other` } } })
  for (const [uid, name] of [
    [POD, 'fuse'],
    [OTHER, 'other'],
  ] as const)
    node.pod(uid, name, [claimOf(name)], { spec: FUSE_GROUP })
  return { node, daemon }
}

/** Something happens right before the walk in a child. @param deadlineMs of that walk alone: all else has its time on a busy machine */
function beforeWalk(node: LiveNode, happens: () => unknown, deadlineMs = 60_000): AbortController {
  const host: typeof linuxHost = {
    ...linuxHost,
    changeOwnership: async (path, options, apart) => {
      if (apart !== undefined) await happens()
      return linuxHost.changeOwnership(path, options, apart && { ...apart, deadlineMs })
    },
  }
  const controller = new AbortController()
  node.context = { host, signal: controller.signal }
  return controller
}

/** Applies; how it ended for the volume on FUSE. The other pod's is always done. */
async function applied(node: LiveNode): Promise<readonly [state: string, message: string]> {
  const ends = (await node.outcomes()).map((each) => [endOf(each), each.message] as const)
  const fuse =
    ends.find(([, message]) => message.includes('fuse')) ?? ends.find(([state]) => state !== 'done') ?? ends[0]
  expect(ends.filter((each) => each !== fuse).every(([state]) => state === 'done')).toBe(true)
  return fuse ?? ['', '']
}

/** Whether the pod's directory is mounted, and how many walkers are still there. */
function left(node: LiveNode): [boolean, number] {
  const isWalker = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('walker+main.')
    } catch {
      return false
    }
  }
  const walkers = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && isWalker(pid))
  return [node.mounts().reached(podDir(node)).length > 0, walkers.length]
}

describeUnless(noFuse, 'fsGroup on a file system that may not answer', () => {
  it('whose daemon has stopped fails with TimedOut, is taken back, and holds up nothing else; it is given by a child later', async ({
    directory,
  }) => {
    const { node, daemon } = await nodeOn(directory)
    beforeWalk(node, () => daemon.stop(), 1000)
    const message = expect.stringMatching(/was not given to a group within 1 s$/)
    expect(await applied(node)).toEqual(['failed TimedOut', message])
    expect(left(node)).toEqual([false, 0])
    daemon.resume()
    node.context = {}
    expect((await applied(node))[0]).toBe('done')
    expect([...look(podDir(node)), ...left(node)]).toEqual(['4711 2775', true, 0])
    await daemon.kill()
  })

  it('whose child cannot be killed is left behind, named, and not touched any more', async ({ directory }) => {
    const { node, daemon } = await nodeOn(directory, 'unowned')
    node.forget(OTHER)
    const controller = beforeWalk(
      node,
      () => void until(() => existsSync(`${directory}/asked`), 60_000).then(() => controller.abort()),
    )
    const message = expect.stringMatching(
      /interrupted .*; pid \d+ cannot be killed and was left behind; left as it is: .*the mount on /,
    )
    expect(await applied(node)).toEqual(['failed Interrupted', message])
    expect(left(node)).toEqual([true, 1])
    await daemon.kill()
  })

  it('whose daemon is gone fails, and says so', async ({ directory }) => {
    const { node, daemon } = await nodeOn(directory)
    beforeWalk(node, () => daemon.kill())
    expect(await applied(node)).toEqual([
      'failed WriteFailed',
      expect.stringContaining('could not be read: its disk or server fails (ENOTCONN)'),
    ])
    expect(left(node)).toEqual([false, 0])
  })

  it('is interrupted at once', async ({ directory }) => {
    const { node, daemon } = await nodeOn(directory)
    node.forget(OTHER)
    const controller = beforeWalk(node, () => {
      daemon.stop()
      controller.abort()
    })
    expect((await applied(node))[0]).toBe('interrupted Interrupted')
    expect(left(node)).toEqual([false, 0])
    await daemon.kill()
  })
})

/** Who uses what would be taken away, beside users who choose paths and namespaces of their own (S12, S36, S39). */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { contentHolders } from '../../../src/core/holders/content-holders.ts'
import { lookForUsers } from '../../../src/core/holders/content-look.ts'
import type { Holders } from '../../../src/core/holders/find-holders.ts'
import { locate } from '../../../src/core/mountinfo/location.ts'
import { parseMountinfo } from '../../../src/core/mountinfo/parse-mountinfo.ts'
import { kernelTextIfAny } from '../../../src/core/trust/kernel.ts'
import { detachLoop } from '../../helpers/detach-loops.ts'
import { it } from '../../helpers/machine.ts'
import { noBlockDevices } from '../../helpers/namespace.ts'
import { PROCESS_READER } from '../../helpers/process-reader/command.ts'
import { sh } from '../../helpers/scenario.ts'
import { startFuse } from '../fuse/start.ts'

const table = () => parseMountinfo(readFileSync('/proc/self/mountinfo'))
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).error !== undefined

async function usersOf(path: string): Promise<Holders> {
  const mounts = table()
  const fileSystems = [locate(mounts, path)?.dev ?? '']
  const reader = { command: PROCESS_READER, deadlineMs: 30_000 }
  const look = await lookForUsers({ table: mounts, fileSystems, named: [], reader })
  return contentHolders(look, { path, rootDir: path })
}

/** Says "ready" once it has done this, and waits. */
async function whileRuns<T>(command: readonly string[], look: (pid: number) => Promise<T>): Promise<T> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    await once(child.stdout, 'data')
    return await look(child.pid ?? 0)
  } finally {
    child.stdin.end()
    child.kill()
    await once(child, 'close')
  }
}

const inNamespaces = (kinds: string, does: string, ...args: readonly string[]): readonly string[] =>
  ['unshare', kinds, 'sh', '-c', `${does}; echo ready; read end`].concat(args)

function made(directory: string, ...names: readonly string[]): string {
  for (const name of names) mkdirSync(`${directory}/${name}`, { recursive: true })
  return `${directory}/${names[0]}`
}

describe('S12: content', () => {
  it('a layer that is a relative path, beside a directory of that name where the overlay has another layer', async ({
    directory,
  }) => {
    const content = made(directory, 'v', 'v/data', 'data', 'up', 'work', 'out', 'free')
    const options = `lowerdir=data,upperdir=${directory}/up,workdir=${directory}/work`
    sh('sh', '-c', `cd ${content} && mount -t overlay -o ${options} overlay ${directory}/out`)
    expect((await usersOf(content)).kernel).toEqual([expect.stringContaining(`the overlay on ${directory}/out`)])
    expect((await usersOf(`${directory}/free`)).kernel).toEqual([])
  })

  it('a thread whose root is in a mount that is detached: its link reads "/"', async ({ directory, skip }) => {
    skip(isMissing('python3'), 'there is no python3')
    const content = made(directory, 'v', 'out')
    sh('mount', '--bind', content, `${directory}/out`)
    const script = `import ctypes, os, sys, threading
def enter():
  ctypes.CDLL(None).unshare(0x200)
  os.chroot('${directory}/out')
  print('ready', flush=True)
  sys.stdin.read()
threading.Thread(target=enter).start()`
    await whileRuns(['python3', '-c', script], async (pid) => {
      sh('umount', '-l', `${directory}/out`)
      const [task] = readdirSync(`/proc/${pid}/task`).filter((each) => each !== `${pid}`)
      expect(sh('readlink', `/proc/${pid}/root`, `/proc/${pid}/task/${task}/root`)).toBe('/\n/')
      expect((await usersOf(content)).processes).toContainEqual(expect.objectContaining({ pid, what: 'root' }))
    })
    expect((await usersOf(content)).processes).toEqual([])
  })

  it('a snapshot is named as one', async ({ directory, skip }) => {
    skip(noBlockDevices !== undefined, noBlockDevices)
    skip(isMissing('mkfs.btrfs'), 'there is no mkfs.btrfs')
    const root = made(directory, 'btrfs')
    sh('truncate', '-s', '128M', `${directory}/image`)
    sh('mkfs.btrfs', '-q', `${directory}/image`)
    const loop = sh('losetup', '-f', '--show', `${directory}/image`)
    try {
      sh('mount', '-t', 'btrfs', loop, root)
      sh('btrfs', 'subvolume', 'create', `${root}/v`)
      mkdirSync(`${root}/v/plain`)
      expect((await usersOf(`${root}/v`)).kernel).toEqual([])
      sh('btrfs', 'subvolume', 'snapshot', '-r', `${root}/v`, `${root}/v/plain/before`)
      sh('btrfs', 'subvolume', 'snapshot', `${root}/v`, `${root}/v/writable`)
      expect((await usersOf(`${root}/v`)).kernel).toEqual([expect.stringContaining('read-only snapshot')])
    } finally {
      sh('umount', root)
      detachLoop(loop)
    }
  })
})

describe('S39: in a mount namespace', () => {
  const does = {
    'a bind': 'mount --bind "$0" "$1" && mount --bind "$0" "$0"',
    'an overlay whose layer was renamed':
      'mount -t tmpfs t "$1"; cd "$1"; mkdir l u w m; mount -t overlay -o lowerdir=$1/l,upperdir=$1/u,workdir=$1/w o m; mv l gone',
    'a namespace that a mount keeps':
      'mount -t tmpfs t "$1"; mount --make-private "$1"; touch "$1/k"; unshare --mount="$1/k" true',
  }

  it.for(
    Object.entries(does).flatMap(([what, script]) => [
      { whose: "of a user's own", kinds: '-Urm', what, script, held: false },
      { whose: 'control: of root', kinds: '-m', what, script, held: true },
    ]),
  )('$whose $what holds content back: $held', async ({ kinds, script, held }, { directory }) => {
    const content = made(directory, 'v', 'out')
    const parts = [content, `${directory}/out`]
    await whileRuns(inNamespaces(kinds, `${script}; cd /`, ...parts), async () => {
      const { namespaces, unseen } = await usersOf(content)
      expect(namespaces.length + unseen.length).toBe(held ? 1 : 0)
    })
  })

  it('of a user’s own a working directory in the content holds it back, by its pid', async ({ directory }) => {
    const content = made(directory, 'v')
    await whileRuns(inNamespaces('-Urm', 'cd "$0"', content), async (pid) => {
      expect((await usersOf(content)).processes).toEqual([expect.objectContaining({ pid, what: 'cwd' })])
    })
  })
})

describe('S36: nobody asks', () => {
  /** stat(1) of volctl's own, that wait. */
  const askers = (): number =>
    readdirSync('/proc').filter((pid) => /^\d+ \(stat\) [^Z]/.test(kernelTextIfAny(`/proc/${pid}/stat`) ?? '')).length

  it('an overlay over a file system that hangs, in which somebody stands and has files open', async ({ directory }) => {
    const content = made(directory, 'v', 'top', 'out')
    const fuse = await startFuse(`${directory}/fuse`)
    sh('mount', '-t', 'tmpfs', 'tmpfs', `${directory}/top`)
    made(directory, 'top/upper', 'top/work')
    const options = `lowerdir=${directory}/fuse,upperdir=${directory}/top/upper,workdir=${directory}/top/work`
    sh('mount', '-t', 'overlay', '-o', options, 'overlay', `${directory}/out`)
    try {
      await whileRuns(['sh', '-c', `cd ${directory}/out; exec 8<.; echo ready; read end`], async () => {
        fuse.stop()
        const control = spawn('stat', [`${directory}/out/nothing`], { stdio: 'ignore' })
        const ended = once(control, 'exit')
        expect(await Promise.race([ended, new Promise((end) => setTimeout(end, 1000, 'hangs'))])).toBe('hangs')
        expect(await usersOf(content)).toMatchObject({ processes: [], kernel: [], unseen: [] })
        expect(askers()).toBe(1)
        fuse.resume()
        await ended
      })
    } finally {
      fuse.resume()
    }
  })
})

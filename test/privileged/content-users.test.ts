/** S12, S13: the data of a pod that is gone stays while something uses it under another name: what plan and apply say of each use. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { cpus, release } from 'node:os'
import { describe, expect } from 'vitest'
import { deleteContent } from '../../src/core/linux/delete-content.ts'
import { containingMount } from '../../src/core/linux/location.ts'
import { statesOf } from '../helpers/apply-plan.ts'
import { LiveNode } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices, noRoot, noSystemCalls } from '../helpers/namespace.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { sh } from '../helpers/scenario.ts'
import { end } from './trust/strangers.ts'

const POD = '00000000-0000-4000-8000-000000000001'

interface Use {
  /** What the user sees of the data; something else once it is hurt. */
  readonly view: () => unknown
  readonly end?: () => unknown
}

type Begin = (dir: string, directory: string, node: LiveNode) => Use | Promise<Use>

/** A shell that does and says what it is told; ends with its standard input. */
class Shell {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #closed: Promise<unknown>
  #said = ''

  constructor(command: readonly string[] = ['sh']) {
    const [program = '', ...args] = command
    this.#child = spawn(program, args)
    this.#closed = once(this.#child, 'close')
    this.#child.stdout.on('data', (text) => {
      this.#said += text
    })
    this.#child.stderr.on('data', (text) => {
      this.#said += text
    })
  }

  async ask(command: string): Promise<string> {
    this.#said = ''
    this.#child.stdin.write(`${command}\necho; echo END-OF-IT\n`)
    const died = this.#closed.then(() => Promise.reject(new Error(`the shell ended: ${this.#said}`)))
    while (!this.#said.includes('END-OF-IT')) await Promise.race([once(this.#child.stdout, 'data'), died])
    died.catch(() => undefined)
    return this.#said.replace(/\n?END-OF-IT\n/, '').trim()
  }

  async end(): Promise<void> {
    this.#child.stdin.end()
    await this.#closed
  }
}

const ELSEWHERE = ['unshare', '-m', '--propagation', 'private', 'sh']

const elsewhere = (): Shell => new Shell(ELSEWHERE)

/**
 * Keeps a mount namespace in which a command has run by a mount in this one. The kernel does so only for a namespace with a
 * higher number than this one's, and each CPU gives out numbers of its own: higher for certain is one of the CPU that made this.
 */
async function keepByMount(kept: string, command: string): Promise<void> {
  const refused = []
  for (const cpu of cpus().keys()) {
    const inside = new Shell(['taskset', '--cpu-list', String(cpu), ...ELSEWHERE])
    try {
      await inside.ask(command)
      sh('mount', '--bind', `/proc/${await inside.ask('echo $$')}/ns/mnt`, kept)
      return
    } catch (error) {
      refused.push(error)
    } finally {
      await inside.end()
    }
  }
  throw new AggregateError(refused, refused.join('; '))
}

/** Told to a shell before the pod's data is looked at. */
function inShell(shell: () => Shell, begin: (dir: string, directory: string) => string, view: string): Begin {
  return async (dir, directory) => {
    const user = shell()
    const said = await user.ask(begin(dir, directory))
    if (said !== '') throw new Error(said)
    const command = view.replaceAll('$DIR', dir).replaceAll('$OUT', `${directory}/out`)
    return { view: () => user.ask(command), end: () => user.end() }
  }
}

function mounted(...args: readonly string[]): Begin {
  return (dir, directory) => {
    const out = `${directory}/out`
    sh('mount', ...args.map((arg) => arg.replaceAll('$DIR', dir).replaceAll('$OUT', out)), out)
    return { view: () => readdirSync(out), end: () => sh('umount', out) }
  }
}

const overlay = (options: string): Begin => mounted('-t', 'overlay', 'overlay', '-o', options)
const overlayInShell = (shell: () => Shell, options: string, before = 'true'): Begin =>
  inShell(
    shell,
    (dir, directory) =>
      `${before}; mount -t overlay overlay -o ${options} $OUT`
        .replaceAll('$DIR', dir)
        .replaceAll('$OUT', `${directory}/out`),
    'ls $OUT',
  )

const isMissing = (program: string): string | undefined =>
  spawnSync(program, ['--version']).error === undefined ? undefined : `there is no ${program}`

/** Without a loop device (CONFIG_EROFS_FS_BACKED_BY_FILE). */
const noErofs =
  noSystemCalls ??
  (readFileSync('/proc/filesystems', 'utf8').includes('erofs') && isFrom(6, 12)
    ? undefined
    : 'this kernel mounts no EROFS by its file')

function isFrom(major: number, minor: number): boolean {
  const [a = 0, b = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10))
  return a > major || (a === major && b >= minor)
}

interface Row {
  readonly use: string
  readonly by: string
  readonly code?: string
  /** The mount tables alone show it. */
  readonly atPlan?: boolean
  /** Why it cannot be tried here. */
  readonly cannot?: string | undefined
  readonly begin: Begin
}

const USES: readonly Row[] = [
  {
    use: 'something mounted on it in a namespace',
    by: '/v/sub in the mount namespace of sh',
    begin: inShell(elsewhere, (dir) => `mount -t tmpfs x ${dir}/sub; echo data > ${dir}/sub/f`, 'cat $DIR/sub/f'),
  },
  {
    use: 'an overlay, data',
    by: 'lowerdir',
    atPlan: true,
    begin: async (dir, directory, node) => {
      const options = 'metacopy=on,redirect_dir=on,lowerdir=$OUT:$OUT/../bound::$DIR/sub'
      return { ...(await overlay(options)(dir, directory, node)), view: () => existsSync(`${dir}/sub/inside`) }
    },
  },
  { use: 'an overlay by a link', by: '/link/sub', begin: overlay('lowerdir=$OUT:$OUT/../link/sub') },
  {
    use: 'an overlay by a relative path',
    by: 'a path that is not absolute',
    begin: overlayInShell(() => new Shell(), 'lowerdir=sub:more', 'cd $DIR'),
  },
  {
    use: 'an overlay by a relative path, beside a directory of that name where it has other layers',
    by: 'the overlay on /out',
    begin: (dir, directory, node) => {
      for (const name of ['sub', 'work']) mkdirSync(`${directory}/beside-up/${name}`)
      const layers = 'lowerdir=sub,upperdir=$OUT/../bound,workdir=$OUT/../beside-up/work'
      return overlayInShell(() => new Shell(), layers, 'cd $DIR')(dir, directory, node)
    },
  },
  {
    use: 'an overlay on a bind that is gone',
    by: 'the overlay on /out (lowerdir /bound',
    code: 'UsersUnknown',
    begin: inShell(
      elsewhere,
      (dir, directory) => {
        const layers = `lowerdir=${directory}/bound/sub:${directory}/bound/more`
        return `mount --bind ${dir} ${directory}/bound; mount -t overlay overlay -o ${layers} ${directory}/out; umount ${directory}/bound`
      },
      'ls $OUT',
    ),
  },
  {
    use: 'an overlay by descriptors',
    by: 'the overlay on /out (lowerdir /',
    code: 'UsersUnknown',
    begin: (dir, directory) => {
      const options = 'lowerdir=/dev/fd/9:/proc/self/fd/8'
      sh('sh', '-c', `exec 9<${dir}/sub 8<${dir}/more && exec mount -t overlay overlay -o ${options} ${directory}/out`)
      return { view: () => readdirSync(`${directory}/out`), end: () => sh('umount', `${directory}/out`) }
    },
  },
  {
    use: 'a namespace that a descriptor keeps',
    by: 'has a mount namespace open that no process is in',
    code: 'UsersUnknown',
    begin: async (dir, directory) => {
      const inside = elsewhere()
      await inside.ask(`mount --bind ${dir} ${directory}/out`)
      const keeper = new Shell()
      await keeper.ask(`exec 9</proc/${(await inside.ask('echo $$')).trim()}/ns/mnt`)
      await inside.end()
      const view = (): Promise<string> => keeper.ask(`nsenter --mount=/proc/$$/fd/9 ls ${directory}/out`)
      return { view, end: () => keeper.end() }
    },
  },
  {
    use: 'a namespace that a mount keeps',
    by: 'that no process is in is kept by /kept',
    code: 'UsersUnknown',
    begin: async (dir, directory) => {
      const kept = `${directory}/kept`
      writeFileSync(kept, '')
      await keepByMount(kept, `mount --bind ${dir} ${directory}/out`)
      return { view: () => sh('nsenter', `--mount=${kept}`, 'ls', `${directory}/out`), end: () => sh('umount', kept) }
    },
  },
  {
    use: 'a file open, too deep for a name',
    by: ', file)',
    begin: tooDeep('echo x > f; exec 9<f; cd /', 'stat -L -c %h /proc/$$/fd/9'),
  },
  {
    use: "a user's working directory in a namespace of his own",
    by: ', cwd)',
    begin: inShell(
      () => new Shell(['unshare', '-Urm', 'sh']),
      (dir) => `cd ${dir}/sub`,
      'ls -d ../sub',
    ),
  },
  {
    use: 'a root directory of a thread, in a mount that is detached: its link reads "/"',
    by: 'root',
    cannot: isMissing('python3'),
    begin: async (dir, directory) => {
      const script = `import ctypes, os, sys, threading
def enter():
  ctypes.CDLL(None).unshare(0x200)
  os.chroot('${directory}/out')
  print(threading.get_native_id(), flush=True)
  sys.stdin.read()
threading.Thread(target=enter).start()`
      sh('mount', '--bind', dir, `${directory}/out`)
      const child = spawn('python3', ['-c', script])
      const task = String((await once(child.stdout, 'data'))[0]).trim()
      sh('umount', '-l', `${directory}/out`)
      const root = `/proc/${child.pid}/task/${task}/root`
      if (readlinkSync(root) !== '/') throw new Error(readlinkSync(root))
      return { view: () => existsSync(`${root}/file`), end: () => end(child) }
    },
  },
  {
    use: 'a working directory in a mount that is detached',
    by: ', cwd)',
    begin: detached('cd $OUT/sub', 'ls -d ../sub'),
  },
  {
    use: 'a library mapped from a mount that is detached',
    by: ', map)',
    begin: async (dir, directory) => {
      sh('mount', '--bind', dir, `${directory}/out`)
      const use = await mapped(`${directory}/out/library.so`)
      sh('umount', '-l', `${directory}/out`)
      return use
    },
  },
  {
    use: 'an NFS export',
    by: 'the NFS export of /link/sub',
    begin: (dir, directory) => exported(dir, `${directory}/link/sub`),
  },
  {
    use: 'a socket bound in a mount that is detached',
    by: 'the unix socket that is bound to /out/volctl.sock',
    begin: async (dir, directory) => {
      sh('mount', '--bind', dir, `${directory}/out`)
      const use = await boundTo(`${directory}/out/volctl.sock`, dir)
      sh('umount', '-l', `${directory}/out`)
      return use
    },
  },
  {
    use: 'an image mounted from a namespace',
    by: 'the EROFS mount on /out of /bound/image',
    cannot: noErofs,
    begin: (dir, directory) => {
      const script = 'mount --bind "$0" "$1" && shift && exec "$@"'
      const namespace = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script, dir, `${directory}/bound`]
      return mountedImage(dir, [`${directory}/bound/image`, `${directory}/out`, `${directory}/bound`], namespace)
    },
  },
  {
    use: 'the hostPath of another pod',
    by: 'the hostPath /kubelet/pods/',
    atPlan: true,
    begin: (dir, _, node) => ofAnotherPod(dir, `${dir}/sub/`, node),
  },
  {
    use: 'the hostPath of another pod, by a link',
    by: 'the hostPath /link/sub of pod default/other',
    begin: (dir, directory, node) => ofAnotherPod(dir, `${directory}/link/sub`, node),
  },
  {
    use: 'a FUSE file system on it',
    by: 'bindfs',
    cannot: isMissing('bindfs'),
    begin: (dir, directory) => {
      sh('bindfs', dir, `${directory}/out`)
      return { view: () => readdirSync(`${directory}/out`), end: () => sh('umount', `${directory}/out`) }
    },
  },
]

/** No server runs here: exportfs's own table says it. */
function exported(dir: string, path: string): Use {
  sh('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib')
  mkdirSync('/var/lib/nfs')
  writeFileSync('/var/lib/nfs/etab', `/srv/other\t*(ro)\n${path}\t10.0.0.0/8(rw,sync,nocrossmnt)\n`)
  return { view: () => readdirSync(dir), end: () => sh('umount', '/var/lib') }
}

/** Nothing of it runs: it is only in the API. */
function ofAnotherPod(dir: string, path: string, node: LiveNode): Use {
  node.pod('00000000-0000-4000-8000-000000000002', 'other', [{ name: 'h', hostPath: { path } }])
  return { view: () => readdirSync(dir) }
}

/** This process is a server there. */
async function boundTo(path: string, dir: string): Promise<Use> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const end = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
  return { view: () => existsSync(`${dir}/volctl.sock`), end }
}

async function mountedImage(dir: string, mount: readonly string[], by: readonly string[] = []): Promise<Use> {
  writeFileSync(`${dir}/image`, emptyImage())
  const [node, args] = nodeProgram(new URL('./workers/image-mounted.ts', import.meta.url), mount, [
    '--experimental-ffi',
  ])
  const [command = '', ...rest] = [...by, node, ...args]
  const child = spawn(command, rest)
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (child.exitCode !== null) throw new Error(`it was not mounted: ${child.stderr.read()}`)
  return {
    view: () => existsSync(`${dir}/image`),
    end: async () => {
      await end(child)
      if (by.length === 0) sh('umount', mount[1] ?? '')
    },
  }
}

/** An EROFS with an empty root directory: superblock and inode in the first block, the directory's two names in the second. */
function emptyImage(): Buffer {
  const image = Buffer.alloc(8192)
  const [superblock, inode, names] = [1024, 1152, 4096]
  const root = inode / 32
  image.writeUInt32LE(0xe0f5e1e2, superblock)
  image[superblock + 12] = 12
  image.writeUInt16LE(root, superblock + 14)
  image.writeUInt32LE(2, superblock + 36)
  image.writeUInt16LE(0o40755, inode + 4)
  image.writeUInt16LE(2, inode + 6)
  image.writeUInt32LE(27, inode + 8)
  image.writeUInt32LE(1, inode + 16)
  for (const [at, name] of [
    [names, 24],
    [names + 12, 25],
  ] as const) {
    image.writeUInt32LE(root, at)
    image.writeUInt16LE(name, at + 8)
    image[at + 10] = 2
  }
  image.write('...', names + 24)
  return image
}

function detached(begin: string, view: string): Begin {
  return inShell(
    () => new Shell(),
    (dir, directory) => {
      const out = `${directory}/out`
      return `mount --bind ${dir} ${out}; ${begin.replaceAll('$OUT', out)}; umount -l ${out}`
    },
    view,
  )
}

/** So far down that the kernel has no name for it. */
function tooDeep(begin: string, view: string): Begin {
  const name = '0'.repeat(250)
  const down = `i=0; while [ $i -lt 20 ]; do mkdir ${name}; cd -P ${name} 2>/dev/null; i=$((i+1)); done`
  return inShell(
    () => new Shell(),
    (dir) => `cd ${dir}/sub; ${down}; ${begin}`,
    view,
  )
}

/** Nothing of the directory but the library that it has mapped. */
async function mapped(library: string): Promise<Use> {
  const child = spawn('sh', ['-c', 'echo ready; exec sleep 1000'], { env: { ...process.env, LD_PRELOAD: library } })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  const maps = `/proc/${child.pid}/maps`
  for (let tries = 0; !sh('cat', maps).includes('/library.so'); tries++) {
    if (tries === 1000) throw new Error('it did not start')
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { view: () => sh('cat', maps).includes('(deleted)'), end: () => end(child) }
}

async function forgotten(directory: string, medium: 'disk' | 'memory'): Promise<{ node: LiveNode; dir: string }> {
  const node = new LiveNode(directory)
  node.pod(POD, 'gone', [{ name: 'v', emptyDir: medium === 'memory' ? { medium: 'Memory' } : {} }])
  const made = Object.values(statesOf(await node.apply()))
  if (made.some((state) => state !== 'done')) throw new Error(made.join())
  const dir = `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/v`
  for (const name of ['sub', 'more', 'up', 'work', 'co:lon']) mkdirSync(`${dir}/${name}`)
  for (const name of ['file', 'sub/inside', 'more/other', 'co:lon/c']) writeFileSync(`${dir}/${name}`, 'precious')
  copyFileSync(libraryPath(), `${dir}/library.so`)
  for (const name of ['out', 'bound', 'beside-up']) mkdirSync(`${directory}/${name}`)
  symlinkSync(dir, `${directory}/link`)
  node.forget(POD)
  return { node, dir }
}

/** Any that every process could have. */
function libraryPath(): string {
  const [path] = sh('sh', '-c', 'grep -o "/[^ ]*libc[.-][^ ]*" /proc/self/maps | head -n 1').split('\n')
  return path ?? ''
}

const ORPHANS = { orphans: true }

interface Found {
  readonly plan: string
  readonly apply: string
  readonly message: string
  /** After the apply. */
  readonly unhurt: boolean
  /** By a deletion that asks nobody. */
  readonly hurt: boolean
}

async function tried(directory: string, begin: Begin): Promise<Found> {
  const { node, dir } = await forgotten(directory, 'disk')
  const use = await begin(dir, directory, node)
  try {
    const before = JSON.stringify(await use.view())
    const plan = await node.plan(ORPHANS)
    const { outcomes } = await node.apply(ORPHANS)
    const outcome = outcomes.find(({ kind }) => kind === 'UnmountVolume')
    const unhurt = JSON.stringify(await use.view()) === before && existsSync(`${dir}/file`)
    // As it would be without the question: the data goes.
    await deleteContent(dir, { mountId: containingMount(node.mounts(), dir)?.id ?? -1 }).catch(() => undefined)
    return {
      plan: plan.operations.map(({ blocked }) => blocked?.code ?? 'planned')[0] ?? '',
      apply: `${outcome?.state} ${outcome?.code}`,
      message: outcome?.message?.replaceAll(directory, '') ?? '',
      unhurt,
      hurt: JSON.stringify(await use.view()) !== before,
    }
  } finally {
    await use.end?.()
  }
}

const why = noRoot === undefined ? '' : ` (${noRoot})`

describe.skipIf(noRoot !== undefined)(`S12: content that is in use${why}`, () => {
  it.for(USES)('$use: refused and named, and hurt where nobody asks', async (row, { directory, skip }) => {
    const { by, code = 'HeldBy', atPlan = false, cannot, begin } = row
    skip(cannot !== undefined, cannot)
    expect(await tried(directory, begin)).toEqual({
      plan: atPlan ? 'HeldBy' : 'planned',
      apply: atPlan ? 'blocked HeldBy' : `refused ${code}`,
      message: expect.stringContaining(by),
      unhurt: true,
      hurt: true,
    })
  })
})

it('S12: a snapshot in it is named as one, and one that can be written to goes as all else', async ({
  directory,
  skip,
}) => {
  skip(noBlockDevices !== undefined, noBlockDevices)
  skip(isMissing('mkfs.btrfs') !== undefined, 'there is no mkfs.btrfs')
  sh('truncate', '-s', '128M', `${directory}/image`)
  sh('mkfs.btrfs', '-q', `${directory}/image`)
  mkdirSync(`${directory}/kubelet`)
  sh('mount', '-o', 'loop', `${directory}/image`, `${directory}/kubelet`)
  const { node, dir } = await forgotten(directory, 'disk')
  sh('btrfs', 'subvolume', 'create', `${dir}/v`)
  for (const [name, ...how] of [['before', '-r'], ['writable']] as const)
    sh('btrfs', 'subvolume', 'snapshot', ...how, `${dir}/v`, `${dir}/sub/${name}`)
  const { outcomes } = await node.apply(ORPHANS)
  expect(outcomes.find(({ kind }) => kind === 'UnmountVolume')).toMatchObject({
    ...{ state: 'refused', code: 'HeldBy', message: expect.stringContaining('/sub/before (btrfs subvolume delete)') },
  })
  sh('btrfs', 'subvolume', 'delete', `${dir}/sub/before`)
  expect(Object.values(statesOf(await node.apply(ORPHANS)))).toEqual(['done', 'done'])
})

describe.skipIf(noRoot !== undefined)(`S12: content that nobody uses${why}`, () => {
  it.for(['disk', 'memory'] as const)(
    'goes with its pod, from %s, while others do as others do',
    async (medium, { directory }) => {
      // A namespace that is cloned later has a copy of the memory's mount, and is one that uses it.
      const others = [elsewhere(), new Shell()]
      for (const other of others) await other.ask('true')
      const { node, dir } = await forgotten(directory, medium)
      const [lower, upper, work, merged] = ['1/fs', '2/fs', '2/work', 'merged', '3/fs'].map((name) => {
        mkdirSync(`${directory}/snapshots/${name}`, { recursive: true })
        return `${directory}/snapshots/${name}`
      })
      writeFileSync(`${lower}/x`, 'x')
      // As containerd shortens it, which has some of the same names in the data.
      mkdirSync(`${dir}/1/fs`, { recursive: true })
      sh(
        'sh',
        '-c',
        `cd ${directory}/snapshots && mount -t overlay overlay -o lowerdir=1/fs:3/fs,upperdir=${upper},workdir=${work} ${merged}`,
      )
      writeFileSync(`${directory}/image`, Buffer.alloc(1 << 20))
      const device = sh('losetup', '--show', '-f', `${directory}/image`)
      rmSync(`${directory}/image`)
      const beside = `${directory}/bound`
      const image = noErofs ?? (await mountedImage(beside, [`${beside}/image`, `${directory}/beside-up`]))
      // One that is bound to a name that is gone, and one that is not bound any more.
      const server = await boundTo(`${directory}/volctl.sock`, directory)
      rmSync(`${directory}/volctl.sock`)
      const left = await boundTo(`${directory}/link/left.sock`, dir)
      renameSync(`${dir}/left.sock`, `${dir}/stale.sock`)
      await left.end?.()
      for (const other of others)
        await other.ask(`mount --bind ${directory}/snapshots ${directory}/out; cd ${directory}`)
      try {
        expect(Object.values(statesOf(await node.apply(ORPHANS)))).toEqual(['done', 'done'])
        expect(readdirSync(`${node.root}/pods`)).not.toContain(POD)
      } finally {
        for (const other of others) await other.end()
        await server.end?.()
        if (typeof image !== 'string') await image.end?.()
        sh('losetup', '-d', device)
      }
    },
  )
})

/** S12, S13: the data of a pod that is gone stays while something uses it under another name: what plan and apply say of each use. */
import {
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
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { LiveNode, POD } from '../helpers/live-node.ts'
import { it } from '../helpers/machine.ts'
import { noBlockDevices, noProgram, noRoot, noSystemCalls } from '../helpers/namespace.ts'
import { nodeProgram } from '../helpers/programs.ts'
import { sh } from '../helpers/scenario.ts'
import { describeUnless } from './describe-unless.ts'
import { type Holder, hold, holdByShell, holdElsewhere, STAYS } from './holder.ts'

/** Ends a use. */
type End = () => unknown

type Begin = (dir: string, directory: string, node: LiveNode) => End | undefined | Promise<End>

/**
 * Keeps a mount namespace in which a command has run by a mount in this one. The kernel does so only for a namespace with a
 * higher number than this one's, and each CPU gives out numbers of its own: higher for certain is one of the CPU that made this.
 */
async function keepByMount(kept: string, command: string): Promise<void> {
  const elsewhere = ['unshare', '-m', '--propagation', 'private', 'sh', '-c', `${command}; ${STAYS}`]
  const refused = []
  for (const cpu of cpus().keys()) {
    const inside = await hold(['taskset', '--cpu-list', String(cpu), ...elsewhere])
    try {
      sh('mount', '--bind', `/proc/${inside.pid}/ns/mnt`, kept)
      return
    } catch (error) {
      refused.push(error)
    } finally {
      await inside.end()
    }
  }
  throw new AggregateError(refused, refused.join('; '))
}

const placed = (text: string, dir: string, directory: string): string =>
  text.replaceAll('$DIR', dir).replaceAll('$OUT', `${directory}/out`)

/** What a shell does that stays. */
const inShell =
  (script: string, shell: (script: string) => Promise<Holder> = holdByShell): Begin =>
  async (dir, directory) =>
    (await shell(placed(script, dir, directory))).end

const overlay =
  (options: string): Begin =>
  (dir, directory) => {
    const out = `${directory}/out`
    sh('mount', '-t', 'overlay', 'overlay', '-o', placed(options, dir, directory), out)
    return () => sh('umount', out)
  }

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
    begin: inShell('mount -t tmpfs x $DIR/sub; echo data > $DIR/sub/f', holdElsewhere),
  },
  {
    use: 'an overlay, data',
    by: 'lowerdir',
    atPlan: true,
    begin: overlay('metacopy=on,redirect_dir=on,lowerdir=$OUT:$OUT/../bound::$DIR/sub'),
  },
  { use: 'an overlay by a link', by: '/link/sub', begin: overlay('lowerdir=$OUT:$OUT/../link/sub') },
  {
    use: 'an overlay by a relative path',
    by: 'a path that is not absolute',
    begin: inShell('cd $DIR; mount -t overlay overlay -o lowerdir=sub:more $OUT'),
  },
  {
    use: 'an overlay by a relative path, beside a directory of that name where it has other layers',
    by: 'the overlay on /out',
    begin: (dir, directory, node) => {
      for (const name of ['sub', 'work']) mkdirSync(`${directory}/beside-up/${name}`)
      const layers = 'lowerdir=sub,upperdir=$OUT/../bound,workdir=$OUT/../beside-up/work'
      return inShell(`cd $DIR; mount -t overlay overlay -o ${layers} $OUT`)(dir, directory, node)
    },
  },
  {
    use: 'an overlay on a bind that is gone',
    by: 'the overlay on /out (lowerdir /bound',
    code: 'UsersUnknown',
    begin: inShell(
      `mount --bind $DIR $OUT/../bound; cd $OUT/..
mount -t overlay overlay -o lowerdir=$PWD/bound/sub:$PWD/bound/more $OUT; umount bound`,
      holdElsewhere,
    ),
  },
  {
    use: 'an overlay by descriptors',
    by: 'the overlay on /out (lowerdir /',
    code: 'UsersUnknown',
    begin: (dir, directory) => {
      const options = 'lowerdir=/dev/fd/9:/proc/self/fd/8'
      sh('sh', '-c', `exec 9<${dir}/sub 8<${dir}/more && exec mount -t overlay overlay -o ${options} ${directory}/out`)
      return () => sh('umount', `${directory}/out`)
    },
  },
  {
    use: 'a namespace that a descriptor keeps',
    by: 'has a mount namespace open that no process is in',
    code: 'UsersUnknown',
    begin: async (dir, directory) => {
      const inside = await holdElsewhere(`mount --bind ${dir} ${directory}/out`)
      const keeper = await holdByShell(`exec 9</proc/${inside.pid}/ns/mnt`)
      await inside.end()
      return keeper.end
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
      return () => sh('umount', kept)
    },
  },
  {
    use: 'a file open, too deep for a name',
    by: ', file)',
    begin: tooDeep('echo x > f; exec 9<f; cd /'),
  },
  {
    use: "a user's working directory in a namespace of his own",
    by: ', cwd)',
    begin: inShell('cd $DIR/sub', (script) => holdElsewhere(script, '-Urm')),
  },
  {
    use: 'a root directory of a thread, in a mount that is detached: its link reads "/"',
    by: 'root',
    cannot: noProgram('python3'),
    begin: async (dir, directory) => {
      const script = `import ctypes, os, sys, threading
def enter():
  ctypes.CDLL(None).unshare(0x200)
  os.chroot('${directory}/out')
  print(threading.get_native_id(), flush=True)
  sys.stdin.read()
threading.Thread(target=enter).start()`
      sh('mount', '--bind', dir, `${directory}/out`)
      const { pid, said, end } = await hold(['python3', '-c', script])
      sh('umount', '-l', `${directory}/out`)
      const root = `/proc/${pid}/task/${said.trim()}/root`
      if (readlinkSync(root) !== '/') throw new Error(readlinkSync(root))
      return end
    },
  },
  {
    use: 'an NFS export',
    by: 'the NFS export of /link/sub',
    begin: (_, directory) => exported(`${directory}/link/sub`),
  },
  {
    use: 'a socket bound in a mount that is detached',
    by: 'the unix socket that is bound to /out/volctl.sock',
    begin: async (dir, directory) => {
      sh('mount', '--bind', dir, `${directory}/out`)
      const use = await boundTo(`${directory}/out/volctl.sock`)
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
    // By the kernel's name for it, once the namespace of the bind mount is gone.
    use: "a loop device by another file's name",
    by: 'backed by /etc/passwd',
    cannot: noBlockDevices,
    begin: (dir, directory) => {
      mkdirSync(`${dir}/sub/etc`)
      writeFileSync(`${dir}/sub/etc/passwd`, Buffer.alloc(4096))
      const script = 'mount --bind "$0" "$1" && exec losetup --find --show "$1/etc/passwd"'
      const place = [`${dir}/sub`, `${directory}/out`]
      const loop = sh('unshare', '-m', '--propagation', 'private', 'sh', '-c', script, ...place).trim()
      return () => sh('losetup', '--detach', loop)
    },
  },
  {
    use: 'the hostPath of another pod',
    by: 'the hostPath /kubelet/pods/',
    atPlan: true,
    begin: (dir, _, node) => ofAnotherPod(`${dir}/sub/`, node),
  },
  {
    use: 'the hostPath of another pod, by a link',
    by: 'the hostPath /link/sub of pod default/other',
    begin: (_, directory, node) => ofAnotherPod(`${directory}/link/sub`, node),
  },
  {
    use: 'a FUSE file system on it',
    by: 'bindfs',
    cannot: noProgram('bindfs'),
    begin: (dir, directory) => {
      sh('bindfs', dir, `${directory}/out`)
      return () => sh('umount', `${directory}/out`)
    },
  },
]

/** No server runs here: exportfs's own table says it. */
function exported(path: string): End {
  sh('mount', '-t', 'tmpfs', 'tmpfs', '/var/lib')
  mkdirSync('/var/lib/nfs')
  writeFileSync('/var/lib/nfs/etab', `/srv/other\t*(ro)\n${path}\t10.0.0.0/8(rw,sync,nocrossmnt)\n`)
  return () => sh('umount', '/var/lib')
}

/** Nothing of it runs: it is only in the API. */
function ofAnotherPod(path: string, node: LiveNode): undefined {
  node.pod('00000000-0000-4000-8000-000000000002', 'other', [{ name: 'h', hostPath: { path } }])
}

/** This process is a server there. */
async function boundTo(path: string): Promise<End> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return () => new Promise<void>((resolve) => server.close(() => resolve()))
}

async function mountedImage(dir: string, mount: readonly string[], by: readonly string[] = []): Promise<End> {
  writeFileSync(`${dir}/image`, emptyImage())
  const worker = new URL('./workers/image-mounted.ts', import.meta.url)
  const { end } = await hold([...by, ...nodeProgram(worker, mount, ['--experimental-ffi']).flat()])
  return async () => {
    await end()
    if (by.length === 0) sh('umount', mount[1] ?? '')
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

/** So far down that the kernel has no name for it. */
function tooDeep(begin: string): Begin {
  const name = '0'.repeat(250)
  const down = `i=0; while [ $i -lt 20 ]; do mkdir ${name}; cd -P ${name} 2>/dev/null; i=$((i+1)); done`
  return inShell(`cd $DIR/sub; ${down}; ${begin}`)
}

async function forgotten(directory: string, medium: 'disk' | 'memory'): Promise<{ node: LiveNode; dir: string }> {
  const node = new LiveNode(directory)
  node.pod(POD, 'gone', [{ name: 'v', emptyDir: medium === 'memory' ? { medium: 'Memory' } : {} }])
  const made = await node.applied()
  if (made.some((state) => state !== 'done')) throw new Error(made.join())
  const dir = `${node.root}/pods/${POD}/volumes/kubernetes.io~empty-dir/v`
  for (const name of ['sub', 'more', 'up', 'work', 'co:lon']) mkdirSync(`${dir}/${name}`)
  for (const name of ['file', 'sub/inside', 'more/other', 'co:lon/c']) writeFileSync(`${dir}/${name}`, 'precious')
  for (const name of ['out', 'bound', 'beside-up']) mkdirSync(`${directory}/${name}`)
  symlinkSync(dir, `${directory}/link`)
  node.forget(POD)
  return { node, dir }
}

const ORPHANS = { orphans: true }

interface Found {
  readonly plan: string
  readonly apply: string
  readonly message: string
  /** After the apply. */
  readonly unhurt: boolean
}

async function tried(directory: string, begin: Begin): Promise<Found> {
  const { node, dir } = await forgotten(directory, 'disk')
  const endUse = await begin(dir, directory, node)
  const content = (): string[] => ['', 'sub', 'more'].flatMap((name) => readdirSync(`${dir}/${name}`))
  try {
    const before = content()
    const plan = await node.plan(ORPHANS)
    const { outcomes } = await node.apply(ORPHANS)
    const outcome = outcomes.find(({ kind }) => kind === 'UnmountVolume')
    return {
      plan: plan.operations.map(({ blocked }) => blocked?.code ?? 'planned')[0] ?? '',
      apply: `${outcome?.state} ${outcome?.code}`,
      message: outcome?.message?.replaceAll(directory, '') ?? '',
      unhurt: isDeepStrictEqual(content(), before),
    }
  } finally {
    await endUse?.()
  }
}

describeUnless(noRoot, 'S12: content that is in use', () => {
  it.for(USES)('$use: refused and named', async (row, { directory, skip }) => {
    const { by, code = 'HeldBy', atPlan = false, cannot, begin } = row
    skip(cannot !== undefined, cannot)
    expect(await tried(directory, begin)).toEqual({
      plan: atPlan ? 'HeldBy' : 'planned',
      apply: atPlan ? 'blocked HeldBy' : `refused ${code}`,
      message: expect.stringContaining(by),
      unhurt: true,
    })
  })
})

it('S12: a snapshot in it is named as one, and one that can be written to goes as all else', async ({
  directory,
  skip,
}) => {
  const noMkfs = noBlockDevices ?? noProgram('mkfs.btrfs')
  skip(noMkfs !== undefined, noMkfs)
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
  expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
})

describeUnless(noRoot, 'S12: content that nobody uses', () => {
  it.for(['disk', 'memory'] as const)(
    'goes with its pod, from %s, while others do as others do',
    async (medium, { directory }) => {
      // A namespace that is cloned later has a copy of the memory's mount, and is one that uses it.
      const stands = `cd ${directory}`
      const others = [await holdElsewhere(stands), await holdByShell(stands)]
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
      const endServer = await boundTo(`${directory}/volctl.sock`)
      rmSync(`${directory}/volctl.sock`)
      const endLeft = await boundTo(`${directory}/link/left.sock`)
      renameSync(`${dir}/left.sock`, `${dir}/stale.sock`)
      await endLeft()
      for (const { pid } of others)
        sh('nsenter', `--mount=/proc/${pid}/ns/mnt`, 'mount', '--bind', `${directory}/snapshots`, `${directory}/out`)
      try {
        expect(await node.applied(ORPHANS)).toEqual(['done', 'done'])
        expect(readdirSync(`${node.root}/pods`)).not.toContain(POD)
      } finally {
        for (const other of others) await other.end()
        await endServer()
        if (typeof image !== 'string') await image()
        sh('losetup', '-d', device)
      }
    },
  )
})

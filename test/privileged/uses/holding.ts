/** Somebody begins to use a volume, in one of the ways of the table; it is asked later whether that was hurt. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { nodeProgram } from '../../helpers/programs.ts'
import { mountPoints, sh } from '../../helpers/scenario.ts'
import { isBare, isPlainDirectory, mountsFirst, USES, type Use } from './combinations.ts'
import { holds, isWhole, RAW_AT } from './disk.ts'
import { type Held, LINE, PAGE } from './held.ts'
import type { TrialNode } from './node.ts'
import { fill, ownDirectory, type Subject } from './subjects.ts'

export interface Holding {
  /** A text that names any of these names the use. */
  readonly names: readonly string[]
  /** Uses it, and looks at all that it needs; what is wrong, in words, or nothing. */
  check(token: string): Promise<string>
  end(): Promise<void>
}

const USER = new URL('./user.worker.ts', import.meta.url)
/** What this machine cannot do: a trial that needs it is skipped, and says why. */
export class Unavailable extends Error {}

const NO_NAMES = { names: [], check: async () => '', end: async () => undefined }

type Begin = (use: Begun) => Promise<Holding>

/** What a way to use something needs to know. */
interface Begun {
  readonly subject: Subject
  /** The user's own, empty, and not below the root directory. */
  readonly own: string
  /** What is used: a directory with content, the inner one of it, a file in it, the disk. */
  readonly directory: string
  readonly inner: string
  readonly file: string
  readonly device: string
  readonly node: TrialNode
}

type Used = 'directory' | 'inner' | 'file' | 'device'

function heldOf(use: Begun, how: Held['how'], used: Used): Held {
  return { how, path: use[used], mark: use.subject.mark, ...(used === 'device' && { at: RAW_AT }) }
}

/** A process of the user's, where volctl is. */
const byProcess =
  (how: Held['how'], used: Used, more: Partial<Held> = {}): Begin =>
  (use) =>
    process_({ ...heldOf(use, how, used), ...more })

/** A mount in volctl's own namespace. @param args of mount(8), before the user's own directory */
const onHostBy =
  (args: (use: Begun) => readonly string[]): Begin =>
  async (use) => {
    sh('mount', ...args(use), use.own)
    return onHost(use.own, use.subject)
  }

/** A place of the user's own for a bind mount of this. */
function placeFor(used: Used, { own }: Begun): string {
  const path = `${own}.bound`
  if (used === 'file' || used === 'device') writeFileSync(path, '')
  else mkdirSync(path)
  return path
}

const boundOnHost =
  (used: Used): Begin =>
  async (use) => {
    const path = placeFor(used, use)
    sh('mount', '--bind', use[used], path)
    return onHost(path, use.subject, { ...heldOf(use, 'by name', used), path })
  }

/** A bind mount that is in the user's mount namespace alone. @param covered whether he mounts over it what nobody looks below */
const boundElsewhere =
  (used: Used, how: Held['how'], covered = false): Begin =>
  (use) => {
    const path = placeFor(used, use)
    const held = { ...heldOf(use, how, used), path, ...(covered && { cover: path }) }
    return elsewhere(use.node, ['mount', '--bind', use[used], path], held)
  }

const BEGIN: Readonly<Record<Use, Begin>> = {
  none: async () => NO_NAMES,
  'mount of the device': onHostBy(({ device }) => [device]),
  'mount of the device in a namespace': ({ device, own, subject, node }) =>
    elsewhere(node, ['mount', device, own], { how: 'path', path: own, mark: subject.mark }),
  'bind on the host': onHostBy(({ directory }) => ['--bind', directory]),
  'bind of a directory in it': onHostBy(({ inner }) => ['--bind', inner]),
  'bind in a namespace': boundElsewhere('directory', 'path'),
  'bind of a directory in it, in a namespace': boundElsewhere('inner', 'path'),
  'copy of its mount in a namespace': (use) =>
    elsewhere(use.node, ['mount', '--make-private', use.directory], heldOf(use, 'path', 'directory')),
  'nested kubelet': async ({ directory, own, subject, node }) => {
    const path = `${own}/pods/22222222-2222-4333-8444-000000000001/volumes/kubernetes.io~csi/${subject.name}/mount`
    mkdirSync(path, { recursive: true })
    return await elsewhere(node, ['mount', '--bind', directory, path], { how: 'path', path, mark: subject.mark })
  },
  'working directory': byProcess('cwd', 'directory'),
  'working directory in a namespace': boundElsewhere('directory', 'cwd'),
  'root directory': byProcess('root', 'directory'),
  'directory open': byProcess('open directory', 'directory'),
  'bind of a file in it': boundOnHost('file'),
  'bind of a file in it, in a namespace': boundElsewhere('file', 'by name'),
  'file open read-only': byProcess('read-only', 'file'),
  'file open for write': byProcess('for write', 'file'),
  'mapped, descriptor closed': byProcess('mapped', 'file'),
  'loop device on a file': ({ file, subject }) => onLoop(sh('losetup', '--find', '--show', file), 0, subject),
  'loop device on a file, made in a namespace': ({ directory, own, subject }) => {
    // What the kernel calls the file is no path from anywhere once that namespace is gone.
    const script = 'mount --bind "$1" "$2" && exec losetup --find --show "$2/file"'
    const namespace = ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', directory, own]
    return onLoop(sh('unshare', ...namespace), 0, subject)
  },
  'swap file': async ({ directory, subject, device, own }) => {
    const name = `swap-${subject.name}`
    makeSwap(`${directory}/${name}`)
    return {
      names: [name],
      check: async () => (isSwap(`/${name} `) ? '' : 'the swap file has no name any more'),
      end: async () => {
        const paths = [directory, subject.store].flatMap((each) => each ?? []).map((each) => `${each}/${name}`)
        if (paths.some((path) => spawnSync('swapoff', [path]).status === 0)) return
        // Only by a path; and the file system is still there.
        mkdirSync(`${own}.swap`)
        sh('mount', device, `${own}.swap`)
        sh('find', `${own}.swap`, '-name', name, '-exec', 'swapoff', '{}', '+')
        sh('umount', `${own}.swap`)
      },
    }
  },
  'overlay, lower': ({ inner, own, subject }) => overlay({ lower: inner, own, subject }),
  'overlay, upper': ({ inner, directory, own, subject }) => {
    // In one mount with the upper directory.
    const work = isPlainDirectory(subject.combination) ? `${own}.work` : `${directory}/work`
    return overlay({ upper: inner, work, own, subject })
  },
  'overlay, work': ({ inner, own, subject }) => overlay({ work: inner, own, subject }),
  'overlay in a namespace': ({ inner, own, subject, node }) => {
    const options = overlayOptions({ lower: inner, own })
    const command = ['mount', '-t', 'overlay', '-o', options, 'overlay', own]
    return elsewhere(node, command, { how: 'path', path: own, mark: subject.mark })
  },
  'mounted, detached lazily, file open': async ({ device, own, subject }) => {
    sh('mount', device, own)
    const held = await process_({ how: 'for write', path: `${own}/file`, mark: subject.mark })
    sh('umount', '-l', own)
    return held
  },
  'device open read-only': byProcess('read-only', 'device'),
  'device open for write': byProcess('for write', 'device'),
  'device mapped, descriptor closed': byProcess('mapped', 'device'),
  'device open in a namespace': boundElsewhere('device', 'for write'),
  'device open, hidden by a mount of its own': (use) =>
    elsewhere(use.node, ['mount', '-t', 'tmpfs', 'tmpfs', use.own], {
      ...heldOf(use, 'for write', 'device'),
      cover: '/dev',
    }),
  'device open, under the name of a trusted program': byProcess('for write', 'device', { name: 'multipathd' }),
  'device open in a table of one thread': byProcess('in a thread', 'device'),
  'device mapped among many mappings': (use) => {
    const crowd = `${use.own}.many`
    writeFileSync(crowd, Buffer.alloc(PAGE))
    return process_({ ...heldOf(use, 'mapped', 'device'), crowd })
  },
  'file named as if deleted, detached lazily': async ({ directory, own, subject }) => {
    const file = `${directory}/file (deleted)`
    copyFileSync(`${directory}/file`, file)
    sh('mount', '--bind', directory, own)
    const held = await process_({ how: 'for write', path: `${own}/file (deleted)`, mark: subject.mark })
    sh('umount', '-l', own)
    return held
  },
  'working directory, hidden by a mount of its own': boundElsewhere('directory', 'cwd', true),
  'bind of the device node': boundOnHost('device'),
  'bind of the device node in a namespace': boundElsewhere('device', 'by name'),
  'device open, its node deleted': async (use) => {
    const path = nodeOf(use.device, `${use.own}.node`)
    const held = await process_({ ...heldOf(use, 'for write', 'device'), path })
    rmSync(path)
    return held
  },
  'loop device on the disk': ({ device, subject }) =>
    onLoop(sh('losetup', '--find', '--show', device), RAW_AT, subject),
  'loop device on a device node on a disk': ({ device, own, subject }) =>
    onLoop(sh('losetup', '--find', '--show', nodeOf(device, `${own}.node`)), RAW_AT, subject),
  'loop device on a device node on a disk, made in a namespace': ({ device, own, subject }) => {
    mkdirSync(`${own}.nodes`)
    nodeOf(device, `${own}.nodes/x`)
    const script = 'mount --bind "$1" "$2" && exec losetup --find --show "$2/x"'
    const namespace = ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', `${own}.nodes`, own]
    return onLoop(sh('unshare', ...namespace), RAW_AT, subject)
  },
  'loop device on a device node on a disk, deleted': ({ device, own, subject }) => {
    const loop = sh('losetup', '--find', '--show', nodeOf(device, `${own}.node`))
    rmSync(`${own}.node`)
    return onLoop(loop, RAW_AT, subject, false)
  },
  'device mapper on the disk': async (use) => {
    const { device, subject } = use
    if (spawnSync('dmsetup', ['version']).status !== 0) throw new Unavailable('this kernel has no device mapper')
    const name = `volctl-${process.pid}-${subject.name}`
    sh('dmsetup', 'create', name, '--table', `0 ${sh('blockdev', '--getsz', device)} linear ${device} 0`)
    const user = await process_({ ...heldOf(use, 'for write', 'device'), path: `/dev/mapper/${name}` })
    return {
      names: [...user.names, name],
      check: user.check,
      end: async () => {
        await user.end()
        sh('dmsetup', 'remove', name)
      },
    }
  },
  'swap on the disk': async ({ device }) => {
    makeSwap(device)
    return {
      names: [],
      check: async () => (isSwap(`${device} `) ? '' : 'the disk is no swap area any more'),
      end: async () => void sh('swapoff', device),
    }
  },
  'another partition mounted': async ({ own, subject }) => {
    const { other = '' } = subject.disk ?? {}
    sh('mount', other, own)
    fill(own, subject.mark)
    return onHost(own, subject)
  },
  'another partition open': async ({ subject }) => {
    const { other = '' } = subject.disk ?? {}
    sh('dd', `of=${other}`, 'if=/dev/zero', 'bs=1M', 'count=1', 'status=none', 'conv=fsync')
    writeFileSync(other, subject.mark, { flag: 'r+', flush: true })
    return await process_({ how: 'for write', path: other, mark: subject.mark })
  },
}

/**
 * Begins a use. Of a bare disk the user has mounted what he uses himself, and nobody sees that mount any more.
 *
 * @throws Unavailable where this machine does not have what it takes
 */
export async function begin(subject: Subject, node: TrialNode): Promise<Holding> {
  const { combination, disk, mark } = subject
  const { use } = combination
  const own = ownDirectory(node, subject.name)
  mkdirSync(own, { recursive: true })
  const device = disk?.device ?? ''
  const ownMount = `${own}.mounted`
  const first = mountsFirst(combination)
  if (isBare(combination) && (first || USES[use] === 'file system')) {
    mkdirSync(ownMount)
    sh('mount', device, ownMount)
    fill(ownMount, mark)
    if (!first) sh('umount', ownMount)
  }
  const { directory = '', inner = `${directory}/inner` } = first ? { directory: ownMount } : subject
  const holding = await BEGIN[use]({ subject, own, directory, inner, file: `${directory}/file`, device, node })
  if (first && mountPoints().includes(ownMount)) sh('umount', '-l', ownMount)
  return {
    ...holding,
    // Whoever has the disk, in whatever way, is named by its name as well.
    names: [...holding.names, ...[device, disk?.other ?? ''].flatMap(deviceNames)],
    check: async (token) => (await holding.check(token)) || onDisk(subject, token),
  }
}

const deviceNames = (device: string): string[] => (device === '' ? [] : [device, device.slice('/dev/'.length)])

/** What was written must have come to the disk, and all that was there must still be. */
function onDisk({ disk, mark, combination: { use } }: Subject, token: string): string {
  if (disk === undefined || use === 'none') return ''
  if (!isWhole(disk, mark)) return 'the disk is not there any more'
  return WRITES_NOTHING.has(use) || holds(disk, token) ? '' : 'what was written did not come to the disk'
}

/** To this disk. */
const WRITES_NOTHING: ReadonlySet<Use> = new Set([
  'file open read-only',
  'device open read-only',
  'overlay, lower',
  'overlay in a namespace',
  'swap file',
  'swap on the disk',
])

/** A mount of the user's in volctl's own namespace. */
function onHost(path: string, { mark }: Subject, held: Held = { how: 'path', path, mark }): Holding {
  return {
    names: [path],
    check: (token) => checkOnce(token, held),
    end: async () => void sh('umount', path),
  }
}

/** Whatever somebody uses that no process holds. */
async function checkOnce(token: string, held: Held): Promise<string> {
  const user = await process_(held)
  const wrong = await user.check(token)
  await user.end()
  return wrong
}

function process_(held: Held): Promise<Holding> {
  return started(spawn(...nodeProgram(USER, [JSON.stringify(held)], ['--experimental-ffi']), { stdio: 'pipe' }))
}

/** A process in a mount namespace of its own, in which of all of the node nothing but its own mount is left. */
async function elsewhere({ directory }: TrialNode, mount: readonly string[], held: Held): Promise<Holding> {
  const [program, args] = nodeProgram(USER, [JSON.stringify(held)], ['--experimental-ffi'])
  const own = mount.at(-1) ?? ''
  const script = `"$@" || exit 1
for each in $(tac /proc/self/mountinfo | cut -d ' ' -f 5 | grep '^${directory}/' | grep -vx '${own}'); do umount -l $each; done
exec "$USER_PROGRAM" $USER_ARGS "$USER_HELD"`
  const env = {
    ...process.env,
    USER_PROGRAM: program,
    USER_ARGS: args.slice(0, -1).join(' '),
    USER_HELD: args.at(-1) ?? '',
  }
  const namespace = ['-m', '--propagation', 'private', 'sh', '-c', script, 'sh', ...mount]
  const holding = await started(spawn('unshare', namespace, { stdio: 'pipe', env }))
  return { ...holding, names: [...holding.names, own] }
}

async function started(child: ChildProcess): Promise<Holding> {
  let errors = ''
  child.stderr?.on('data', (text) => {
    errors += text
  })
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`a user has ended: ${errors}`)))
  ended.catch(() => undefined)
  await Promise.race([line(lines), ended])
  return {
    names: [`pid ${child.pid}`],
    check: async (token) => {
      child.stdin?.write(`${token}\n`)
      return (await Promise.race([line(lines), ended])) as string
    },
    end: async () => {
      if (child.exitCode !== null) return
      child.stdin?.end()
      await once(child, 'exit')
    },
  }
}

const line = async (lines: Interface): Promise<string> => (await once(lines, 'line'))[0] as string

/** A device file of the user's own. @returns its path */
function nodeOf(device: string, path: string): string {
  const number = readFileSync(`/sys/class/block/${basename(device)}/dev`, 'utf8').trim()
  sh('mknod', path, 'b', ...number.split(':'))
  return path
}

/** @param isNamed whether its file has a name, which it keeps */
async function onLoop(loop: string, at: number, { mark }: Subject, isNamed = true): Promise<Holding> {
  const backing = `/sys/block/${loop.slice('/dev/'.length)}/loop/backing_file`
  return {
    names: [loop],
    check: async (token) => {
      if (isNamed && readFileSync(backing, 'utf8').includes('(deleted)')) return 'the file has no name any more'
      sh('blockdev', '--flushbufs', loop)
      return await checkOnce(token, { how: 'by name', path: loop, mark, at })
    },
    end: async () => void sh('losetup', '--detach', loop),
  }
}

interface Layers {
  readonly lower?: string
  readonly upper?: string
  readonly work?: string
  readonly own: string
}

function overlayOptions({ lower, upper, work, own }: Layers): string {
  const made = (path: string): string => {
    mkdirSync(path, { recursive: true })
    return path
  }
  const lowerdir = made(lower ?? `${own}.lower`)
  const upperdir = made(upper ?? `${own}.upper`)
  const workdir = made(work ?? `${own}.work`)
  return `lowerdir=${lowerdir},upperdir=${upperdir},workdir=${workdir}`
}

/** What it has below lies in the lower directory first: to write it needs the two others. */
async function overlay({ subject, ...layers }: Layers & { readonly subject: Subject }): Promise<Holding> {
  const { own } = layers
  const options = overlayOptions(layers)
  if (layers.lower === undefined) {
    writeFileSync(`${own}.lower/mark`, `${subject.mark}\n`)
    writeFileSync(`${own}.lower/token`, 'x'.repeat(LINE))
  }
  sh('mount', '-t', 'overlay', '-o', options, 'overlay', own)
  return onHost(own, subject)
}

function makeSwap(path: string): void {
  if (!path.startsWith('/dev/')) {
    writeFileSync(path, Buffer.alloc(64 * PAGE), { mode: 0o600 })
    sh('sync', path)
  }
  sh('mkswap', '--force', '--quiet', path)
  sh('swapon', path)
}

/** The kernel tells of one that was deleted. */
const isSwap = (name: string): boolean => readFileSync('/proc/swaps', 'utf8').includes(name)

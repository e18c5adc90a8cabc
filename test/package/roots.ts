/** Root directories that hold little else than what is tried in them, and programs that are run there. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { execa, type Options } from 'execa'
import { afterAll, beforeAll } from 'vitest'
import { makeExecutable } from '../../scripts/package/executable.ts'
import { kubectl, leastRoot } from '../../scripts/package/fetched.ts'
import { BROKEN } from '../helpers/captures.ts'
import { sweep, temporary } from '../helpers/left-behind.ts'
import { noMounts } from '../helpers/namespace.ts'
import type { Run } from '../helpers/scene/volctl.ts'

export const ROOT = join(import.meta.dirname, '..', '..')
export const VERSION = /^volctl\/\d\S* linux-x64 node-v\S+$/

/** Why packages cannot be tried here; undefined: they can. */
export const noPackages = process.arch === 'x64' ? noMounts : 'made on x64'

/** The executable of this source. */
export async function theExecutable(work: string): Promise<string> {
  return await executableIn(work, 'dist')
}

/** The same for all tests of a file, in a directory that goes with them. */
export function executableForAll() {
  const work = temporary('volctl-executable-')
  beforeAll(async () => void (await theExecutable(work)))
  afterAll(() => sweep(work))
  return { work, executable: join(work, 'bin', 'volctl') }
}

/** That of the tests, which looks at their node: what test/e2e starts as well, where that is one; else made here. */
export async function testsExecutable(work: string): Promise<string> {
  const { VOLCTL_PROGRAM: madeBefore } = process.env
  if (madeBefore !== undefined) return madeBefore
  return await executableIn(work, 'dist-tests/dist')
}

async function executableIn(work: string, dist: string): Promise<string> {
  const path = join(work, 'bin', 'volctl')
  mkdirSync(join(work, 'bin'))
  await makeExecutable('x64', join(ROOT, dist), path)
  return path
}

export async function run(command: readonly string[], options: Options = {}): Promise<Run> {
  const [program = '', ...args] = command
  const { exitCode, stdout, stderr } = await execa(program, args, { reject: false, stdin: 'ignore', ...options })
  return { status: exitCode, stdout: String(stdout ?? ''), stderr: String(stderr ?? '') }
}

/** What differs from one plan to the next is left out. */
export const timeless = (run: Run): Run => ({ ...run, stdout: run.stdout.replace(/"createdAt": "[^"]*"/, '') })

export const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** The files below, by their whole paths. */
export function filesBelow(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name))
}

/** Files and directories below, by their paths from there, each with its type and mode. Links are not followed: /dev has some to /proc. */
export function everythingBelow(directory: string): string[] {
  const found = execFileSync('find', [directory, '-xdev', '-mindepth', '1', '-printf', '%P %y%m\\n'], {
    maxBuffer: 1 << 26,
  })
  return found.toString().trimEnd().split('\n').toSorted()
}

const BEYOND_GLIBC = /lib(?:stdc\+\+|atomic|gcc_s)\.so/

/** What every distribution has, and what takes it away. */
const DIRECTORIES = ['bin', 'proc', 'root', 'tmp', 'var/lib', 'usr/bin', 'usr/local', 'usr/share/doc']
export const MANUALS = ['usr/share/man', 'usr/share/man/man7', 'usr/share/man/man8']

/** A root directory with glibc, BusyBox and kubectl, and with the libraries that packages depend on, if asked. */
export async function bareRoot(root: string, libraries: boolean): Promise<string> {
  const filter = (path: string): boolean => libraries || !BEYOND_GLIBC.test(path)
  cpSync(await leastRoot('x64'), root, { recursive: true, verbatimSymlinks: true, filter })
  for (const each of [...DIRECTORIES, ...MANUALS]) mkdirSync(join(root, each), { recursive: true })
  copyFileSync('/bin/busybox', join(root, 'bin', 'busybox'))
  const { stdout } = await run(['/bin/busybox', '--list'])
  for (const applet of stdout.split('\n').filter((each) => each !== 'busybox'))
    symlinkSync('busybox', join(root, 'bin', applet))
  copyFileSync(BROKEN, join(root, 'node.json'))
  copyFileSync(await kubectl('x64'), join(root, 'usr', 'bin', 'kubectl'))
  return root
}

export const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin' }
const ENTER = `mount -t proc proc "$0/proc" &&
{ [ ! -e "$0/dev/null" ] || mount --bind /dev/null "$0/dev/null"; } && root=$0 && exec chroot "$root" "$@"`
/** Nothing can be written but to /tmp, and nothing of /tmp can be run. */
const ENTER_READ_ONLY = `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" &&
mount -t tmpfs -o noexec tmpfs "$0/tmp" && ${ENTER}`

/** In that root, in a mount namespace of its own with /proc, and with nothing in the environment. */
export async function inRoot(root: string, command: readonly string[], enter: string = ENTER): Promise<Run> {
  return await run(['unshare', '-m', 'sh', '-c', enter, root, ...command], { env: ENVIRONMENT, extendEnv: false })
}

/** The same, where the root file system is read-only and /tmp noexec. */
export async function inReadOnlyRoot(root: string, command: readonly string[]): Promise<Run> {
  return await inRoot(root, command, ENTER_READ_ONLY)
}

/**
 * A command that runs another one on this machine as if the packages of that root were installed here: with the machine's own man,
 * shells and systemd. Nothing can be written to /usr.
 */
export function onMachine(root: string): string[] {
  // man(1) keeps what it has printed.
  const enter = `mount -t overlay overlay -o ro,lowerdir="$0/usr:/usr" /usr &&
{ [ ! -d /var/cache/man ] || mount -t tmpfs tmpfs /var/cache/man; } && exec "$@"`
  return ['unshare', '-m', 'sh', '-c', enter, root]
}

export const hasProgram = (name: string): boolean => spawnSync(name, ['--version']).error === undefined

/** More than any pipe or socket takes in before somebody reads. JSON may begin with spaces. */
const AHEAD = Buffer.alloc(1 << 21, ' ')

/**
 * Starts `volctl plan` in a root, and comes back once it reads its snapshot.
 *
 * @returns gives it the rest, and waits for its end
 */
export async function beginPlan(root: string, program: string): Promise<() => Promise<Run>> {
  const command = ['-m', 'sh', '-c', ENTER, root, program, 'plan', '--snapshot', '-']
  const child = spawn('unshare', command, { env: ENVIRONMENT, stdio: 'pipe' })
  const status = new Promise<number | undefined>((resolve) => child.on('close', (code) => resolve(code ?? undefined)))
  const answers = Promise.all([text(child.stdout), text(child.stderr)])
  // The write below says so as well.
  child.stdin.on('error', () => undefined)
  const snapshot = Buffer.concat([AHEAD, readFileSync(BROKEN)])
  await new Promise<void>((resolve, reject) =>
    child.stdin.write(snapshot.subarray(0, AHEAD.length), (error) => (error == null ? resolve() : reject(error))),
  )
  return async () => {
    child.stdin.end(snapshot.subarray(AHEAD.length))
    const [stdout, stderr] = await answers
    return { status: await status, stdout, stderr }
  }
}

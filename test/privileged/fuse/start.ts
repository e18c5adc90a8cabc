/** FUSE file systems of the tests' own: their daemons are processes that can be made to fail, to stop and to end. For workers. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { sh } from '../../helpers/scenario.ts'
import { LOG, type MirrorFault, type MirrorOrders, ORDERS, ORDERS_SIZE } from './faults.ts'

/** Waits until it is mounted; it does not keep its starter alive. */
async function startDaemon(program: URL, args: readonly string[]): Promise<Daemon> {
  const child = spawn(...nodeProgram(program, args), { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('no FUSE here')))])
  child.unref()
  child.stdout.destroy()
  return {
    pid: child.pid ?? 0,
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}

interface Daemon {
  readonly pid: number
  /** The daemon answers nothing any more, and every call on its mount hangs. */
  stop(): void
  /** The daemon answers again. */
  resume(): void
  /** Its process is killed, and its mounts are dead (ENOTCONN). */
  kill(): Promise<void>
}

export interface Fuse extends Daemon {
  /** Of its connection: the minor device number. */
  readonly connection: string
}

/** @param mode see daemon.ts; @param path where it is mounted, made if it is missing */
export async function startFuse(path: string, mode: 'well' | 'eio' | 'unowned' | 'silent' = 'well'): Promise<Fuse> {
  mkdirSync(path, { recursive: true })
  const daemon = await startDaemon(new URL('./daemon.ts', import.meta.url), [mode, path])
  const mount = parseMountinfo(readFileSync('/proc/self/mountinfo')).top(path)
  return { ...daemon, connection: mount?.dev.split(':')[1] ?? '' }
}

/** Without a daemon. @returns its side: as long as it is open and unread, every request hangs; once closed, the mount is dead */
export function mountFuse(path: string, { type = 'fuse', source = 'test', uid = 0 } = {}): number {
  mkdirSync(path, { recursive: true })
  const fd = openSync('/dev/fuse', 'r+')
  const options = `fd=3,rootmode=40000,user_id=${uid},group_id=${uid},allow_other`
  const { status, stderr } = spawnSync('mount', ['-i', '-t', type, '-o', options, source, path], {
    stdio: ['ignore', 'pipe', 'pipe', fd],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`mount -t ${type}: ${stderr}`)
  return fd
}

export interface Mirror extends Daemon {
  /** The directory that it shows, reached directly. */
  readonly behind: string
  /** Replaces all faults: they apply from the next request on, and count from there. */
  fail(...faults: readonly MirrorFault[]): void
  /** Requests that failed since the last call: `OP path`. */
  failed(): readonly string[]
}

/**
 * A file system that shows a directory and fails the requests that a test chooses.
 *
 * @param path where it is mounted; made if it is missing
 * @param behind a directory for its content and its orders
 */
export async function startMirror(path: string, behind: string): Promise<Mirror> {
  const [shown, orders] = [`${behind}/shown`, `${behind}/orders`]
  for (const each of [path, shown, orders]) mkdirSync(each, { recursive: true })
  let id = 0
  const give = (faults: MirrorOrders['faults']): void => {
    id += 1
    const text = JSON.stringify({ id, faults } satisfies MirrorOrders).padEnd(ORDERS_SIZE)
    writeFileSync(`${orders}/${ORDERS}`, text, { flag: id === 1 ? 'w' : 'r+' })
  }
  give([])
  const daemon = await startDaemon(new URL('./mirror.ts', import.meta.url), [path, shown, orders])
  return {
    ...daemon,
    behind: shown,
    fail: (...faults) => give(faults),
    failed: () => {
      const log = `${orders}/${LOG}`
      const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
      rmSync(log, { force: true })
      return lines
    },
  }
}

/**
 * Aborts the connections of these file systems: calls that hang on them return. For a mount namespace of the test's own.
 *
 * @param fusectl a directory, in which all connections of the machine are shown
 */
export function abortConnections(fusectl: string, ...numbers: readonly string[]): void {
  mkdirSync(fusectl)
  sh('mount', '-t', 'fusectl', 'fusectl', fusectl)
  for (const abort of numbers.map((number) => `${fusectl}/${number}/abort`))
    if (existsSync(abort)) writeFileSync(abort, '1')
}

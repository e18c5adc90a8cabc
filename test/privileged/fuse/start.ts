/** FUSE file systems of the tests' own: their daemons are processes that can be made to fail, to stop and to end. For workers. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { parseMountinfo } from '../../../src/core/linux/parse-mountinfo.ts'
import { nodeProgram } from '../../helpers/programs.ts'
import { sh } from '../../helpers/scenario.ts'

export type Fuse = Awaited<ReturnType<typeof startFuse>>

type Mode = 'well' | 'eio' | 'estale' | 'half' | 'unowned' | 'silent'

/**
 * Waits until it is mounted; it does not keep its starter alive.
 *
 * @param path where it is mounted, made if it is missing; @param mode and file: see daemon.ts
 */
export async function startFuse(path: string, mode: Mode = 'well', file = '/') {
  mkdirSync(path, { recursive: true })
  const program = nodeProgram(new URL('./daemon.ts', import.meta.url), [mode, path, file])
  const child = spawn(...program, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('no FUSE here')))])
  child.unref()
  child.stdout.destroy()
  const mount = parseMountinfo(readFileSync('/proc/self/mountinfo')).top(path)
  return {
    /** Of its connection: the minor device number. */
    connection: mount?.dev.split(':')[1] ?? '',
    /** The daemon answers nothing any more, and every call on its mount hangs. */
    stop: () => void child.kill('SIGSTOP'),
    /** The daemon answers again. */
    resume: () => void child.kill('SIGCONT'),
    /** Its process is killed, and its mounts are dead (ENOTCONN). */
    kill: async () => {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
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

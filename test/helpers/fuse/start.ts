/** FUSE file systems of the tests' own, whose daemon can be made to fail, to stop and to end. For workers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { parseMountinfo } from '../../../src/core/mountinfo/parse-mountinfo.ts'
import { nodeProgram } from '../programs.ts'
import { sh } from '../scenario.ts'

const DAEMON = new URL('./daemon.ts', import.meta.url)

export interface Fuse {
  readonly pid: number
  /** Of its connection: the minor device number. */
  readonly connection: string
  /** The daemon answers nothing any more, and every call on its mount hangs. */
  stop(): void
  /** The daemon answers again. */
  resume(): void
  /** Its process is killed, and its mounts are dead (ENOTCONN). */
  kill(): Promise<void>
}

/** @param mode see daemon.ts; @param path where it is mounted, made if it is missing */
export async function startFuse(path: string, mode: 'well' | 'eio' | 'unowned' | 'silent' = 'well'): Promise<Fuse> {
  mkdirSync(path, { recursive: true })
  const child = spawn(...nodeProgram(DAEMON, [mode, path]), { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('no FUSE here')))])
  child.unref()
  child.stdout.destroy()
  return {
    pid: child.pid ?? 0,
    connection: parseMountinfo(readFileSync('/proc/self/mountinfo')).top(path)?.dev.split(':')[1] ?? '',
    stop: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => {
      child.ref()
      child.kill('SIGKILL')
      await ended
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

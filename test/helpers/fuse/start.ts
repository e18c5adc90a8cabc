/** FUSE file systems of the tests' own, whose daemon can be made to fail, to stop and to end. For workers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { nodeProgram } from '../programs.ts'
import { sh } from '../scenario.ts'

const DAEMON = new URL('./daemon.ts', import.meta.url)

export interface Fuse {
  readonly pid: number
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
 * Aborts every FUSE connection that was made since `before`: calls that hang on it return. In a mount namespace of the test's
 * own, which is where fusectl is mounted.
 */
export function abortConnections(fusectl: string, before: readonly string[]): void {
  for (const name of connections(fusectl)) {
    if (!before.includes(name)) writeFileSync(`${fusectl}/${name}/abort`, '1')
  }
}

/** Mounts fusectl in this directory and lists the connections that are there. */
export function connections(fusectl: string): readonly string[] {
  if (!existsSync(fusectl)) {
    mkdirSync(fusectl)
    sh('mount', '-t', 'fusectl', 'fusectl', fusectl)
  }
  return readdirSync(fusectl)
}

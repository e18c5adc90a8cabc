import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeProgram } from './programs.ts'

/** A helper program of the tests that runs beside its starter. */
export interface Program {
  readonly pid: number
  running(): boolean
  /** Ends the program and waits for its end. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/**
 * Starts one of the tests' programs and waits for its first line ("ready"). It does not keep its starter alive, and
 * ends with it: its standard input closes.
 */
export async function startProgram(file: string, args: readonly string[]): Promise<Program> {
  const child = spawn(...nodeProgram(file, args), { stdio: 'pipe' })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const failed = once(child, 'exit').then(() => Promise.reject(new Error(`${file} did not start: ${errors}`)))
  await Promise.race([once(child.stdout, 'data'), failed])
  failed.catch(() => undefined)
  letGo(child)
  return {
    pid: child.pid ?? 0,
    running: () => !hasEnded(child),
    end: async (signal) => {
      if (hasEnded(child)) return
      child.ref()
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function letGo(child: ChildProcess): void {
  child.unref()
  for (const stream of child.stdio) (stream as unknown as { unref?(): void } | null)?.unref?.()
}

/**
 * For the program: says that it is ready, and ends it on SIGTERM or when its starter is gone. A terminal's Ctrl-C reaches it
 * as well, but its starter decides when it is no longer needed.
 */
export function readyUntilEnd(cleanUp: () => void): void {
  const end = (): void => {
    cleanUp()
    process.exit(0)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', () => undefined)
  process.stdin.resume().on('end', end).on('error', end)
  process.stdout.write('ready\n')
}

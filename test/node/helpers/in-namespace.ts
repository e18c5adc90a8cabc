import { spawnSync } from 'node:child_process'
import { unshareArguments } from '../../helpers/namespace.ts'

/** Runs a shell script as root of a private mount namespace, and gives what it printed. */
export function inNamespace(script: string, args: readonly string[], timeout = 20_000): string {
  const child = spawnSync('unshare', [...unshareArguments, 'bash', '-euc', script, 'bash', ...args], {
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (child.status === 0) return child.stdout
  throw new Error(`${child.error ?? ''} status ${child.status}: ${child.stderr}`)
}

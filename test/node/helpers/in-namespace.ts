import { spawnSync } from 'node:child_process'

/** Why mounts cannot be made here, even in a mount namespace of one's own; undefined where they can. */
export const NO_MOUNTS: string | undefined = (() => {
  const { status } = spawnSync('unshare', [...unshareFlags(), 'mount', '-t', 'tmpfs', 'x', '/tmp'])
  return status === 0 ? undefined : 'this machine allows no mount namespace'
})()

/** Runs a shell script as root of a private mount namespace, and gives what it printed. */
export function inNamespace(script: string, args: readonly string[], timeout = 20_000): string {
  const child = spawnSync('unshare', [...unshareFlags(), 'bash', '-euc', script, 'bash', ...args], {
    encoding: 'utf8',
    timeout,
    killSignal: 'SIGKILL',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (child.status === 0) return child.stdout
  throw new Error(`${child.error ?? ''} status ${child.status}: ${child.stderr}`)
}

function unshareFlags(): readonly string[] {
  return process.getuid?.() === 0 ? ['-m', '--propagation', 'private'] : ['-Urm', '--propagation', 'private']
}

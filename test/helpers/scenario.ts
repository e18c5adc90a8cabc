/** Mounts and commands of tests with real mounts. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseMountinfo } from '../../src/core/mountinfo/parse-mountinfo.ts'

/** Below a directory: pods of one UID under two roots are one pod's, whose volumes are not set up twice (S8). */
export function unmountBelow(directory: string): void {
  for (const mount of parseMountinfo(readFileSync('/proc/self/mountinfo')).under(directory).toReversed()) {
    spawnSync('umount', ['-l', mount.mountPoint])
  }
}

/** Runs a command of the test's own; its output is the error's message. */
export function sh(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}

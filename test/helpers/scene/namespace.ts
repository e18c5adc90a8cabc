/** Programs in a mount namespace of their own, so that nothing they mount is seen outside or outlives them. */
import { spawnSync } from 'node:child_process'

/** The command that runs a program there: as root simply so, else in a user namespace; undefined: not allowed here. */
export function privateNamespace(): readonly string[] | undefined {
  const candidates = [
    ['unshare', '--mount', '--propagation', 'private'],
    ['unshare', '--user', '--map-root-user', '--mount', '--propagation', 'private'],
  ]
  return candidates.find(([command = '', ...args]) => {
    const trial = 'mount -t tmpfs tmpfs /tmp && umount /tmp'
    return spawnSync(command, [...args, 'sh', '-c', trial], { stdio: 'ignore' }).status === 0
  })
}

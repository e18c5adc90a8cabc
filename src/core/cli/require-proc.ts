import { existsSync } from 'node:fs'
import { VolctlError } from '../errors/errors.ts'

/**
 * Files are opened, and mounts, processes and privileges read, through /proc. Without it a file that exists seems to be missing,
 * root to have no capability, and no pod to have a process.
 *
 * @throws VolctlError NodeUnreadable
 */
export function requireProc(): void {
  if (process.platform !== 'linux' || existsSync('/proc/self/fd')) return
  throw new VolctlError('NodeUnreadable', '/proc is not mounted: volctl sees neither files nor processes without it', {
    hint: 'Mount it, then run volctl again: mount -t proc proc /proc',
  })
}

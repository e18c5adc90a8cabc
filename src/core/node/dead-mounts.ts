/**
 * Finds dead mounts: file systems whose daemon or server is gone, of every type that may hang.
 *
 * volctl itself must not touch such a mount, not even by an asynchronous call: that would fill libuv's pool and keep the
 * process from ending. A child with a deadline probes each mount (mount-asker.ts).
 */

import { compareText } from '../base/text.ts'
import { cannotHang } from '../linux/location.ts'
import { askMounts } from '../linux/mount-asker.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { isWithin, undeletedPath } from '../linux/paths.ts'
import { runCommand } from '../trust/programs.ts'

const DEADLINE_MS = 2000

/**
 * Probes the topmost mount on every path under the root directory where a file system is mounted that is not of a local kind. A FUSE
 * mount without `allow_other` denies root (EACCES) although it is alive, so that error is no sign of death. A mount that is not probed
 * before the deadline does not count as dead either.
 *
 * @param run starts stat(1)
 */
export async function deadMounts(
  table: MountTable,
  rootDir: string,
  deadlineMs: number = DEADLINE_MS,
  run = runCommand,
) {
  const remote = table.all.filter(
    ({ fsType, mountPoint }) => !cannotHang(fsType) && isWithin(undeletedPath(mountPoint), rootDir),
  )
  const paths = new Map(
    [...new Set(remote.map(({ mountPoint }) => mountPoint))].flatMap((path) => {
      const top = table.top(path)
      return top === undefined || cannotHang(top.fsType) ? [] : [[top.id, path]]
    }),
  )
  const said = await askMounts(paths, ['%T', '-f'], deadlineMs, { run })
  const dead = [...paths].flatMap(([id, path]) => {
    const error = said.get(id)?.error
    return error === undefined ? [] : [{ path, error }]
  })
  return dead.sort((a, b) => compareText(a.path, b.path))
}

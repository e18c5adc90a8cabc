/** Removes what the kernel appends to the names of removed files (P115). A file's own name may end like that, too. */

const DELETED = ' (deleted)'

/** For a mount point, a backing file, or a file that a process has open. */
export function undeletedPath(path: string): string {
  return path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path
}

/** For a mount's root in its file system: a directory that was bind-mounted and then removed is still shown. */
export function undeletedRoot(root: string): string {
  return root.replace(/\/\/deleted$/, '')
}

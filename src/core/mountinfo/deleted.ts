/** What the kernel appends to names of what was removed, and how they read without it (P115). A file may be called so, too. */

const DELETED = ' (deleted)'

/** Of a mount point, a backing file, or what a process has open. */
export function undeletedPath(path: string): string {
  return path.endsWith(DELETED) ? path.slice(0, -DELETED.length) : path
}

/** Of the root of a mount within its file system: what was bound and then removed is still shown. */
export function undeletedRoot(root: string): string {
  return root.replace(/\/\/deleted$/, '')
}

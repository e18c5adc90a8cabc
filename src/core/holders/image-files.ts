/** Files that are mounted as images without a loop device (EROFS, since Linux 6.12): known by the name that was given alone. */
import { closeSync, readSync } from 'node:fs'
import { undeletedPath } from '../mountinfo/deleted.ts'
import { openPlain } from '../trust/plain-files.ts'
import { fileAt, followLinks, type View } from './follow-links.ts'
import type { NamedPath } from './host-paths.ts'

export interface ImageFile extends NamedPath {
  /** In some mount namespace there is a file of this name. */
  readonly isThere: boolean
}

/** Each image once: the same one may be mounted in every namespace, and its name belongs to any of them. */
export function imageFiles(views: readonly View[]): ImageFile[] {
  const mounts = views.flatMap(({ table }) => table.ofTypes((fsType) => fsType === 'erofs'))
  const ofFiles = mounts.filter(({ dev, superOptions }) => dev.startsWith('0:') && !superOptions.some(isOfCache))
  return [...new Map(ofFiles.map((mount) => [mount.dev, mount])).values()].map(({ source: path, mountPoint }) => ({
    path,
    text: `the EROFS mount on ${undeletedPath(mountPoint)} of ${path}`,
    // A descriptor's number, or a relative path, is another file for everybody else.
    isThere:
      path.startsWith('/') &&
      !path.startsWith('/proc/') &&
      views.some((view) => fileAt(view, followLinks(view, path))?.isFile() === true),
  }))
}

/** It is served by fscache, and is no file. */
const isOfCache = (option: string): boolean => option.startsWith('fsid=')

const SUPERBLOCK_AT = 1024
const MAGIC = 0xe0f5e1e2

/** @throws what openPlain throws */
export function isErofsImage(path: Buffer): boolean {
  const { fd } = openPlain(path)
  try {
    const bytes = Buffer.alloc(4)
    return readSync(fd, bytes, 0, 4, SUPERBLOCK_AT) === 4 && bytes.readUInt32LE() === MAGIC
  } finally {
    closeSync(fd)
  }
}

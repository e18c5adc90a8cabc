/** Files that are mounted as images without a loop device (EROFS, since Linux 6.12). */
import { closeSync, readSync } from 'node:fs'
import { undeletedPath } from '../linux/deleted.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { openPlain } from '../trust/plain-files.ts'

/**
 * For messages, each once: the same one may be mounted in every namespace. Only the name that was given to mount(2) is known, which says
 * nothing (S36): so each image file may be that of any of these.
 */
export function mountedImages(tables: readonly MountTable[]): string[] {
  const mounts = tables.flatMap((table) => table.ofTypes((fsType) => fsType === 'erofs'))
  const ofFiles = mounts.filter(({ dev, superOptions }) => dev.startsWith('0:') && !superOptions.some(isOfCache))
  return [...new Map(ofFiles.map((mount) => [mount.dev, mount])).values()].map(
    ({ source, mountPoint }) => `the EROFS mount on ${undeletedPath(mountPoint)} of ${source}`,
  )
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

/** fsGroup of volumes that an atomic writer fills (P31): before the new content is published, so that nobody misses it. */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  openSync,
} from 'node:fs'
import { entryPath, type OpenDirectory, openBelow, readNames } from '../descriptors.ts'

const PERMISSIONS = 0o7777
/** Containers only read these volumes: the group may read, and what is made in a directory stays its own. */
const FILE_BITS = 0o440
const DIRECTORY_BITS = 0o2550

/**
 * Gives everything below a directory, and then the directory, to a group: children before parents, links without what they
 * lead to, bits added and none removed. Nothing outside of the directory's own mount is reached.
 *
 * Unlike the kubelet, which logs what it cannot change and goes on, the first failure is thrown: nothing is published then.
 */
export function giveToGroup(directory: OpenDirectory, gid: number): void {
  for (const name of readNames(directory)) giveEntry(directory, name, gid)
  const itself = `/proc/self/fd/${directory.fd}/.`
  const { mode } = lstatSync(itself)
  chownSync(itself, -1, gid)
  chmodSync(itself, (mode & PERMISSIONS) | DIRECTORY_BITS)
}

function giveEntry(directory: OpenDirectory, name: Buffer, gid: number): void {
  const path = entryPath(directory, name)
  const entry = lstatSync(path)
  if (entry.isDirectory()) {
    const below = openBelow(directory, name)
    try {
      giveToGroup(below, gid)
    } finally {
      closeSync(below.fd)
    }
  } else if (entry.isFile()) {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      fchownSync(fd, -1, gid)
      fchmodSync(fd, (entry.mode & PERMISSIONS) | FILE_BITS)
    } finally {
      closeSync(fd)
    }
  } else {
    lchownSync(path, -1, gid)
  }
}

/** Writes a state file to the disk before the driver is called (C14): after a power cut it is whole, or absent. */
import { closeSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../base/errors.ts'
import { openOwnDirectory } from '../trust/plain-files.ts'
import { createWhole, removeAfterFailure } from './replace-file.ts'

const MODE = 0o644

/**
 * A new file is created under its final name: no driver is called before the file is on the disk. An incomplete one (on a full disk)
 * would keep the kubelet from handling the volume, and is replaced the next time. An existing file is replaced as a whole.
 *
 * @throws the system's error
 */
export function writeStateFile(path: string, text: string): void {
  try {
    createWhole(path, text, MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    replace(path, text)
  }
  syncDirectory(posix.dirname(path))
}

function replace(path: string, text: string): void {
  const temporary = `${path}.new`
  try {
    unlinkSync(temporary)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  createWhole(temporary, text, MODE)
  try {
    renameSync(temporary, path)
  } catch (error) {
    removeAfterFailure(temporary)
    throw error
  }
}

function syncDirectory(path: string): void {
  const fd = openOwnDirectory(path)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

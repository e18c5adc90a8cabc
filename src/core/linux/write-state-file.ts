/** Writes a state file to the disk before the driver is called (C14): after a power cut it is whole, or absent. */
import { closeSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../base/errors.ts'
import { createNew, openOwnDirectory, writeThrough } from '../trust/plain-files.ts'

const MODE = 0o644

/**
 * A new file is created under its final name: no driver is called before the file is on the disk, and an incomplete one is
 * replaced the next time. An existing file is replaced as a whole.
 *
 * @throws the system's error
 */
export function writeStateFile(path: string, text: string): void {
  try {
    create(path, text)
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
  create(temporary, text)
  try {
    renameSync(temporary, path)
  } catch (error) {
    removeAfterFailure(temporary)
    throw error
  }
}

/** The file is whole or absent: an incomplete one (on a full disk) would keep the kubelet from handling the volume. */
function create(path: string, text: string): void {
  const fd = createNew(path, MODE)
  try {
    writeThrough(fd, text)
  } catch (error) {
    removeAfterFailure(path)
    throw error
  } finally {
    closeSync(fd)
  }
}

/** If the disk fails, this may fail as well; the first failure is the one to report. */
function removeAfterFailure(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The file stays; the caller checks for it.
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

/** A state file that is on the disk before the driver is called (C14): after a power cut it is whole, or never was. */
import { closeSync, fsyncSync, renameSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { errnoOf } from '../errors/errors.ts'
import { createNew, openOwnDirectory, writeThrough } from '../trust/plain-files.ts'

const MODE = 0o644

/**
 * A new file is made under its own name: nobody is asked to do anything before it is on the disk, and a piece of one is
 * written anew the next time. What is there already is replaced as a whole.
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

/** Whole, or not there: a piece of one on a full disk would tell a kubelet nothing, and keep it from the rest. */
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

/** On a disk that fails this may fail as well: why the file could not be written is what is told. */
function removeAfterFailure(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It stays, and the caller looks.
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

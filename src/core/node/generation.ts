/** One generation of a volume's content: a directory that is written completely before it becomes visible (section 2.5). */
import { randomInt } from 'node:crypto'
import { chmodSync, closeSync, fchmodSync, fchownSync, fsyncSync, lstatSync, mkdirSync } from 'node:fs'
import { closing } from '../base/closing.ts'
import { allowing } from '../base/errors.ts'
import { entryPath, type OpenDirectory, openBelow, readNames } from '../linux/descriptors.ts'
import { syncDirectory } from '../linux/replace-file.ts'
import { createNew, openPlain, readToLimit, writeAll } from '../trust/plain-files.ts'
import { type PayloadFile, parentsOf } from '../volumes/payload-entries.ts'

export type Files = ReadonlyMap<string, PayloadFile<Buffer>>

/** Set explicitly, whatever the umask is. */
const DIRECTORY_MODE = 0o755
const RANDOM_BELOW = 2 ** 32

/** `..YYYY_MM_DD_HH_MM_SS.` of this moment in UTC, and random digits. */
export function generationName(now: Date): string {
  const time = now.toISOString().slice(0, 19).replace(/[-:T]/g, '_')
  return `..${time}.${randomInt(RANDOM_BELOW)}`
}

/** Writes every file with its mode and owner, and returns when all is on the disk. The directory exists and is empty. */
export function writeGeneration(generation: OpenDirectory, files: Files): void {
  const byDirectory = Map.groupBy(files, ([path]) => parentsOf(path).at(-1) ?? '')
  for (const [parent, entries] of byDirectory) {
    within(generation, parent === '' ? [] : parent.split('/'), makeBelow, (directory) => {
      for (const [path, file] of entries) writeOne(directory, path.slice(path.lastIndexOf('/') + 1), file)
      syncDirectory(`/proc/self/fd/${directory.fd}/.`)
    })
  }
  const itself = `/proc/self/fd/${generation.fd}/.`
  chmodSync(itself, DIRECTORY_MODE)
  syncDirectory(itself)
}

/** True if the directory holds exactly these files, byte by byte. Modes and owners are not compared (P28). */
export function holds(directory: OpenDirectory, name: string, files: Files): boolean {
  const directories = new Set([...files.keys()].flatMap(parentsOf))
  let found = 0
  const isSame = (at: OpenDirectory, prefix: string): boolean =>
    readNames(at).every((bytes) => {
      const path = `${prefix}${bytes.toString()}`
      const entry = entryPath(at, bytes)
      if (lstatSync(entry).isDirectory())
        return directories.has(path) && within(at, [bytes], openBelow, (below) => isSame(below, `${path}/`))
      const wanted = files.get(path)
      found++
      return wanted !== undefined && hasContent(entry, wanted.value)
    })
  // Not the kubelet's directories and files: a new generation is written.
  const isWhole = () =>
    within(directory, [name], openBelow, (generation) => isSame(generation, '')) && found === files.size
  return allowing(NOT_THERE, false, isWhole)
}

const NOT_THERE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'NOT_PLAIN', 'TOO_LARGE']

/** A directory of that name, made with 0755 where there is none; a link in its place is an error. */
export function makeBelow(directory: OpenDirectory, name: string): OpenDirectory {
  const make = () => mkdirSync(entryPath(directory, name), { mode: DIRECTORY_MODE })
  const isThere = allowing(['EEXIST'], true, make) === true
  const below = openBelow(directory, name)
  if (!isThere) chmodSync(`/proc/self/fd/${below.fd}/.`, DIRECTORY_MODE)
  return below
}

/** Goes down name by name, and closes the descriptors that it leaves. */
export function within<T, Name>(
  directory: OpenDirectory,
  names: readonly Name[],
  step: (directory: OpenDirectory, name: Name) => OpenDirectory,
  work: (directory: OpenDirectory) => T,
): T {
  let at = directory
  try {
    for (const name of names) {
      const below = step(at, name)
      if (at !== directory) closeSync(at.fd)
      at = below
    }
    return work(at)
  } finally {
    if (at !== directory) closeSync(at.fd)
  }
}

function writeOne(directory: OpenDirectory, name: string, { value, mode, owner }: PayloadFile<Buffer>): void {
  closing(createNew(entryPath(directory, name), 0o600), (fd) => {
    writeAll(fd, value)
    fchmodSync(fd, mode)
    if (owner !== undefined) fchownSync(fd, owner, -1)
    fsyncSync(fd)
  })
}

function hasContent(path: Buffer, content: Buffer): boolean {
  const { fd, stats } = openPlain(path)
  return closing(fd, () => stats.size === content.length && content.equals(readToLimit(fd, content.length)))
}

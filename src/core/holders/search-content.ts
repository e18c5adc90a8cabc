/** Searches a directory for files that are known by their inode or the end of their path only. Walks by descriptors, as a deletion does (S12). */
import { fstatSync, lstatSync, type Stats } from 'node:fs'
import { deviceNumberFrom } from '../block/device-use.ts'
import { errnoOf } from '../errors/errors.ts'
import { StepInterrupted } from '../errors/operation-error.ts'
import { Descent } from '../files/descent.ts'
import { entryPath, openBelow } from '../files/descriptors.ts'
import { isErofsImage } from './image-files.ts'

/** What to report, by what is known of the file. */
export interface Wanted<T> {
  /** By inode. */
  readonly inodes: ReadonlyMap<string, readonly Identified<T>[]>
  /** By the last parts of a path, without a slash before them. */
  readonly ends: ReadonlyMap<string, T>
  /** By the name of a socket file. */
  readonly sockets: ReadonlyMap<string, T>
  /** Where any file is an EROFS image. */
  readonly images: readonly T[]
}

export interface Identified<T> {
  /** "major:minor", as in stat(2); undefined: any. */
  readonly dev: string | undefined
  readonly report: T
}

const ENTRIES_BETWEEN_BREATHS = 500

/**
 * @param path absolute, without links on the way
 * @param mountId the mount that the directory must be in
 * @param signal ends it
 * @returns each report of what was found; the directory itself counts
 * @throws StepInterrupted; StepFailed where the walk would leave the mount; errors of open(2) and getdents(2)
 */
export async function searchContent<T>(
  path: string,
  mountId: number,
  wanted: Wanted<T>,
  signal?: AbortSignal,
): Promise<T[]> {
  const found = new Set<T>()
  const lastNames = new Set([...wanted.ends.keys()].map((end) => end.slice(end.lastIndexOf('/') + 1)))
  const note = (at: () => string, name: string, file: Stats): void => {
    const { dev, ino } = file
    const socket = file.isSocket() ? wanted.sockets.get(name) : undefined
    if (socket !== undefined) found.add(socket)
    for (const wantedHere of wanted.inodes.get(String(ino)) ?? [])
      if (wantedHere.dev === undefined || wantedHere.dev === deviceNumberFrom(dev)) found.add(wantedHere.report)
    if (!lastNames.has(name)) return
    const path = at()
    for (const [end, what] of wanted.ends) if (path.endsWith(`/${end}`)) found.add(what)
  }
  const descent = new Descent(path, mountId)
  try {
    if (descent.current !== undefined) {
      note(() => path, path.slice(path.lastIndexOf('/') + 1), fstatSync(descent.current.fd))
    }
    for (let count = 1; ; count++) {
      if (count % ENTRIES_BETWEEN_BREATHS === 0) await new Promise((resolve) => setImmediate(resolve))
      if (signal?.aborted) throw new StepInterrupted(`${path}: interrupted while its users were searched for`)
      const directory = descent.current
      if (directory === undefined) break
      const name = descent.next()
      if (name === undefined) {
        descent.leave(() => {})
        continue
      }
      try {
        const entry = lstatSync(entryPath(directory, name))
        note(() => descent.describe(name), name.toString(), entry)
        if (wanted.images.length > 0 && entry.isFile() && isErofsImage(entryPath(directory, name)))
          for (const image of wanted.images) found.add(image)
        if (entry.isDirectory()) descent.enter(openBelow(directory, name), name)
      } catch (error) {
        const code = errnoOf(error)
        // The entry has been removed or replaced meanwhile, and is deleted as what it is then.
        if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ELOOP') throw error
      }
    }
  } finally {
    descent.close()
  }
  return [...found]
}

/**
 * The record of file systems that were detached lazily and may still be alive: no mount table shows them (S20). A small file
 * beside the journal, since every plan reads it; like the journal, written to the disk before the umount, in a place where
 * nobody else may write (S33).
 */
import { closing, closingOnError } from '../../base/closing.ts'
import { allowing } from '../../base/errors.ts'
import { syncDirectory } from '../../linux/replace-file.ts'
import {
  appendKept,
  makeTrustedDirectory,
  nameIn,
  openKept,
  openTrustedDirectory,
  requireOneName,
} from '../../trust/files.ts'
import { readToLimit, writeThrough } from '../../trust/plain-files.ts'

/** The journal's directory, too. Not below /var/log, which others than root may write to: on Ubuntu the group syslog. */
export const DEFAULT_JOURNAL_DIR = '/var/lib/volctl'
export const LAZY_FILE = 'lazy.jsonl'

export interface LazyRecord {
  /** A reboot ends every superblock. */
  readonly bootID: string | undefined
  readonly path: string
  /** "major:minor" */
  readonly dev: string
  readonly fsType: string
  /** Unique name of the volume, otherwise its name. */
  readonly volume?: string
}

/** @throws NotTrusted, NotAFile, or whatever the file system says */
export function rememberLazy(directory: string, record: LazyRecord): void {
  // A line that a crash cut off ends here.
  closing(openToAppend(directory, LAZY_FILE), (fd) => writeThrough(fd, `\n${JSON.stringify(record)}\n`))
}

/**
 * One of volctl's own files, made where it is missing, as is its directory.
 *
 * @param before what comes before it is opened; has the directory
 * @throws NotTrusted, NotAFile, or whatever the file system says
 */
export function openToAppend(directory: string, name: string, before?: (place: number) => void): number {
  return closing(makeTrustedDirectory(directory, 0o700), (place) => {
    before?.(place)
    return closingOnError(appendKept(place, name), (fd) => {
      syncDirectory(nameIn(place, '.'))
      return fd
    })
  })
}

/**
 * The lines of one of volctl's own files; none where there is none.
 *
 * @throws NotTrusted, NotAFile, TooLarge, or a file system error other than ENOENT
 */
export function linesOf(directory: string, name: string, maxBytes: number): string[] {
  return allowing(['ENOENT'], [], () => {
    const { fd, stats } = closing(openTrustedDirectory(directory), (place) => openKept(place, name))
    return closing(fd, () => {
      requireOneName(stats)
      return readToLimit(fd, maxBytes).toString('utf8').split('\n')
    })
  })
}

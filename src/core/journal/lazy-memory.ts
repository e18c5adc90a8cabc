/**
 * The record of file systems that were detached lazily and may still be alive: no mount table shows them (S20). A small file
 * beside the journal, since every plan reads it; like the journal, written to the disk before the umount, in a place where
 * nobody else may write (S33).
 */
import { closeSync } from 'node:fs'
import { syncDirectory } from '../files/replace-file.ts'
import { appendKept, makeTrustedDirectory, nameIn } from '../trust/files.ts'
import { writeThrough } from '../trust/plain-files.ts'

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
  const place = makeTrustedDirectory(directory, 0o700)
  try {
    const fd = appendKept(place, LAZY_FILE)
    try {
      // A line that a crash cut off ends here.
      writeThrough(fd, `\n${JSON.stringify(record)}\n`)
    } finally {
      closeSync(fd)
    }
    syncDirectory(nameIn(place, '.'))
  } finally {
    closeSync(place)
  }
}

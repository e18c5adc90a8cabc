/**
 * What was detached lazily and may still live: no mount table shows it (S20). A small file beside the journal, since
 * every plan reads it; as the journal, on the disk before the umount.
 */
import { appendFileSync, closeSync, constants, fsyncSync, openSync } from 'node:fs'

/** Of the journal, too. */
export const DEFAULT_JOURNAL_DIR = '/var/log/volctl'
export const LAZY_FILE = 'lazy.jsonl'

export interface LazyRecord {
  /** A reboot ends every superblock. */
  readonly bootID: string | undefined
  readonly path: string
  /** "major:minor" */
  readonly dev: string
  readonly fsType: string
  /** Unique name of the volume, else its name. */
  readonly volume?: string
}

/** @throws whatever the file system says */
export function rememberLazy(directory: string, record: LazyRecord): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  const fd = openSync(`${directory}/${LAZY_FILE}`, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600)
  try {
    // A line that a crash cut off ends here.
    appendFileSync(fd, `\n${JSON.stringify(record)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * File systems that an earlier apply has detached lazily, and that are not shown to be gone (S20).
 *
 * The file decides what a plan does, so only root may have been able to write it (S33). If somebody else could have written
 * or removed it, or if it cannot be read, it is unknown what was detached. Then that is reported, since it may be any volume.
 */

import { isSuperblockGone } from '../linux/block/device-use.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { unreadText } from '../messages/disk-trouble.ts'
import { allowing, closing } from '../messages/findings.ts'
import { openTrustedDirectory, readKept } from '../trust/files.ts'

/** Not below /var/log, which others than root may write to: on Ubuntu the group syslog. */
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

/** Some ten thousand records; an apply with --lazy writes each. */
const MAX_BYTES = 4 * 1024 * 1024

/**
 * Records of this boot whose superblock is not shown to be gone. A record whose path is still mounted does not count, since
 * the umount failed. Without the file or its directory there are no records.
 *
 * @param directory where the journal is
 * @returns with a defect where the file exists, but is not trusted or cannot be read: more may have been detached
 */
export function readLazilyDetached(
  directory: string,
  bootID: string | undefined,
  mounts: MountTable,
  isGone = isSuperblockGone,
) {
  const isThere = ({ path, dev, fsType, bootID: then = bootID }: LazyRecord): boolean =>
    (bootID === undefined || then === bootID) &&
    !mounts.at(path).some((mount) => mount.dev === dev) &&
    !isGone(dev, fsType)
  try {
    const records = linesOf(directory, LAZY_FILE, MAX_BYTES).flatMap((line) => parse(line) ?? [])
    return { detached: records.filter(isThere).map(({ path, dev, volume }) => ({ path, dev, volume })) }
  } catch (error) {
    return { detached: [], defect: { path: `${directory}/${LAZY_FILE}`, why: unreadText(error) } }
  }
}

/**
 * Undefined if a crash cut the line off: then the umount was never begun.
 *
 * @throws Error if the line is complete JSON, but not a record
 */
function parse(line: string): LazyRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  const record = (value ?? {}) as Partial<LazyRecord>
  const { path, dev, fsType, volume = '', bootID = '' } = record
  if ([path, dev, fsType, volume, bootID].every((text) => typeof text === 'string')) return record as LazyRecord
  throw new Error(`it has a line that is not a record: ${line.slice(0, 60)}`)
}

/**
 * The lines of one of volctl's own files; none where there is none.
 *
 * @throws NotTrusted, NotAFile, TooLarge, or a file system error other than ENOENT
 */
export function linesOf(directory: string, name: string, maxBytes: number): string[] {
  return allowing(['ENOENT'], [], () =>
    closing(openTrustedDirectory(directory), (place) => readKept(place, name, maxBytes).split('\n')),
  )
}

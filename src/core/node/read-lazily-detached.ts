/**
 * File systems that an earlier apply has detached lazily, and that are not shown to be gone (S20).
 *
 * The file decides what a plan does, so only root may have been able to write it (S33). If somebody else could have written
 * or removed it, or if it cannot be read, it is unknown what was detached. Then that is reported, since it may be any volume.
 */

import type { LazilyDetached, LazyMemoryDefect } from '../facts/actual/snapshot.ts'
import { unreadText } from '../linux/disk-trouble.ts'
import type { MountTable } from '../linux/mount-table.ts'
import { LAZY_FILE, type LazyRecord, linesOf } from '../plan/documents/write-journal.ts'

/** Some ten thousand records; an apply with --lazy writes each. */
const MAX_BYTES = 4 * 1024 * 1024

interface LazyQuestion {
  /** Where the journal is. */
  readonly directory: string
  readonly bootID: string | undefined
  readonly mounts: MountTable
  isSuperblockGone(dev: string, fsType: string): boolean
}

interface LazyMemory {
  readonly detached: readonly LazilyDetached[]
  /** The file exists, but is not trusted or cannot be read: more may have been detached. */
  readonly defect?: LazyMemoryDefect
}

/**
 * Records of this boot whose superblock is not shown to be gone. A record whose path is still mounted does not count, since
 * the umount failed. Without the file or its directory there are no records.
 */
export function readLazilyDetached(question: LazyQuestion): LazyMemory {
  const path = `${question.directory}/${LAZY_FILE}`
  try {
    return { detached: linesOf(question.directory, LAZY_FILE, MAX_BYTES).flatMap((line) => stillThere(line, question)) }
  } catch (error) {
    return { detached: [], defect: { path, why: unreadText(error) } }
  }
}

function stillThere(line: string, { bootID, mounts, isSuperblockGone }: LazyQuestion): LazilyDetached[] {
  const record = parse(line)
  if (record === undefined) return []
  const { path, dev, fsType, volume } = record
  if (bootID !== undefined && record.bootID !== undefined && record.bootID !== bootID) return []
  if (mounts.at(path).some((mount) => mount.dev === dev)) return []
  if (isSuperblockGone(dev, fsType)) return []
  return [{ path, dev, volume }]
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

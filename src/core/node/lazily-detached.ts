/** Which file systems an earlier apply detached lazily and are still alive somewhere (S20). */
import { LAZY_FILE, type LazyRecord } from '../apply/lazy-memory.ts'
import type { LazilyDetached } from '../model/snapshot.ts'
import type { MountTable } from '../mountinfo/mount-table.ts'
import { kernelTextIfAny } from '../trust/kernel.ts'

export interface LazyQuestion {
  /** Where the journal is. */
  readonly directory: string
  readonly bootID: string | undefined
  readonly mounts: MountTable
  isSuperblockGone(dev: string, fsType: string): boolean
}

/**
 * Those of this boot whose superblock is not shown to be gone. What is still mounted where it was is none: the umount
 * failed.
 */
export function readLazilyDetached(question: LazyQuestion): readonly LazilyDetached[] {
  const lines = kernelTextIfAny(`${question.directory}/${LAZY_FILE}`)?.split('\n') ?? []
  return lines.flatMap((line) => {
    const record = parse(line)
    if (record === undefined || record.bootID !== question.bootID) return []
    const { path, dev, fsType, volume } = record
    if (question.mounts.at(path).some((mount) => mount.dev === dev)) return []
    if (question.isSuperblockGone(dev, fsType)) return []
    return [{ path, dev, ...(volume !== undefined && { volume }) }]
  })
}

function parse(line: string): LazyRecord | undefined {
  try {
    const record = JSON.parse(line) as LazyRecord
    return [record.path, record.dev, record.fsType].every((text) => typeof text === 'string') ? record : undefined
  } catch {
    return undefined
  }
}

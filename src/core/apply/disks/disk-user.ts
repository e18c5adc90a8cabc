/** Who or what uses a disk. */
import type { UsedBy } from '../../holders/describe-holders.ts'

export interface DiskUser extends UsedBy {
  /** The disk, or the LUN's address, that was asked about; the user may have its partition or its multipath map. */
  readonly disk: string
}

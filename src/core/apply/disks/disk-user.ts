/** Who or what uses a disk. */

export interface DiskUser {
  /** The disk, or the LUN's address, that was asked about; the user may have its partition or its multipath map. */
  readonly disk: string
  /** For messages. */
  readonly who: string
}

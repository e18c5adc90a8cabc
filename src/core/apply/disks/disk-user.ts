/** Who or what uses a disk. */

export interface DiskUser {
  /** The disk, or the LUN's address, that was asked about; the user may have its partition or its multipath map. */
  readonly disk: string
  /** For messages. */
  readonly who: string
}

/** Nobody is known to use a volume, but not everybody could be asked: that counts as use (S3). */
export interface Unseen {
  /** What could not be seen, for messages. */
  readonly unseen: string
  /** Processes that are the reason. */
  readonly pids?: readonly number[]
}

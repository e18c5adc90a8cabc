/** Somebody or something that uses a disk. */

export interface DiskUser {
  /** The disk, or the address of the LUN, that was asked about: the user may be one of its partition or its map. */
  readonly disk: string
  /** In words. */
  readonly who: string
}

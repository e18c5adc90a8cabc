/**
 * The bounds of a look at who uses something (S34). Any user can fill what it reads: processes, mount tables, descriptors, mappings,
 * sockets, overlays. What lies past a bound was not seen, which is in use, and names the process (S3).
 */

const MIB = 1 << 20

/** Milliseconds. */
export const SCAN_MS = {
  /** For all processes, before something is taken away: enough on a busy machine as well. */
  beforeTaking: 15_000,
  /** For all processes, if only a message depends on it. */
  toTell: 5000,
  /** For one part of one process (PARTS): enough for some hundred thousand descriptors or mappings. */
  part: 3000,
  /** Without a word of the child that reads: it hangs. The next one goes on behind what it hangs on. */
  silent: 3000,
  /** For all mounts that no table shows, each by one process. */
  mounts: 2000,
  /** ss(8), of one network. */
  sockets: 5000,
  /** losetup(8) has the kernel ask for the attributes of each file, and hangs on a file of a dead server. */
  losetup: 2000,
  /** The same of one loop device, which may be on the disk that is taken away. */
  losetupOfOne: 5000,
} as const

/** How many. */
export const SCAN_LIMITS = {
  /** Children that read, one after another. */
  children: 3,
  /** Uses in one part of one process: whoever has more there is in the way in any case. */
  uses: 10_000,
  /** Of all processes together. */
  usesOfAll: 200_000,
  /** Bound sockets, of which the file is kept. */
  sockets: 500_000,
} as const

/** Bytes: of one mount table, and of those of all namespaces together. Kept as text. */
export interface TableBytes {
  readonly each: number
  readonly all: number
}

/** What root made may have a copy of every mount of the node, up to 100,000 (26 MiB). */
export const TABLES_OF_ROOT: TableBytes = { each: 32 * MIB, all: 192 * MIB }
/** Any user may make a user namespace, and in it mounts and mount namespaces up to the limits of the kernel. */
export const TABLES_OF_ANYBODY: TableBytes = { each: 4 * MIB, all: 16 * MIB }
/** Of a table of NFS exports. */
export const EXPORTS_BYTES = 16 * MIB

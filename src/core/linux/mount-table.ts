/** The mount table as volctl uses it. `parseMountinfo` makes one; tests may make small ones by hand. */

/** One line of /proc/PID/mountinfo, decoded (proc_pid_mountinfo(5)). */
export interface MountInfo {
  readonly id: number
  readonly parentId: number
  /** "major:minor". */
  readonly dev: string
  /** Root of the mount within its file system, escapes decoded, a trailing "//deleted" kept. */
  readonly root: string
  /** Escapes decoded; a trailing " (deleted)" kept. */
  readonly mountPoint: string
  readonly options: readonly string[]
  /** shared:N, master:N, propagate_from:N, unbindable. */
  readonly optionalFields: readonly string[]
  readonly fsType: string
  readonly source: string
  readonly superOptions: readonly string[]
  /** Position in the table: later is newer on the same path. */
  readonly index: number
}

/** Mounts below a directory, without those on it. A name has no " (deleted)" of the kernel's (P115). */
export interface MountsBelow {
  /** Names at or below which anything is mounted, by the oldest mount. */
  names(): Iterable<string>
  /** How many mounts are at or below this name. */
  count(name: string): number
  /** Mounts at or below this name, in table order. */
  of(name: string): readonly MountInfo[]
  /** All of them, in table order. */
  all(): readonly MountInfo[]
}

/** Mounts directly in a directory, by the name in it; hidden ones are left out (O35). */
export interface ChildMounts {
  /** Is anything mounted on this name. Costs less than the mount itself. */
  has(name: string): boolean
  /** The visible mount on this name. */
  get(name: string): MountInfo | undefined
}

export interface MountTable {
  /** The raw text, as the kernel gave it. */
  readonly text: string
  /** Number of mounts in the table. */
  readonly size: number
  /** Mounts at or below `prefix` (compared by path component), in table order. */
  under(prefix: string): readonly MountInfo[]
  /** Mounts that are not below a directory, those on it included, in table order. */
  notBelow(directory: string): readonly MountInfo[]
  /** Mounts below a directory, by the name in it. */
  below(directory: string): MountsBelow
  /** Every mount on exactly this path, in table order, hidden ones included (O35). */
  at(path: string): readonly MountInfo[]
  /** Mounts on exactly this path that are not hidden, oldest first, whatever their order in the table. */
  reached(path: string): readonly MountInfo[]
  /** The visible mount on exactly this path. */
  top(path: string): MountInfo | undefined
  /** What is mounted directly in the directory; undefined: nothing. */
  childrenOf(directory: string): ChildMounts | undefined
  /** Is anything mounted below this directory. */
  isAbove(directory: string): boolean
  /** All mounts of one file system ("major:minor"), in table order. */
  ofDevice(dev: string): readonly MountInfo[]
  /** All mounts of these types of file system, in table order. @param isMeant is asked about each type once */
  ofTypes(isMeant: (fsType: string) => boolean): readonly MountInfo[]
  /** The mount with this id, if the table has it. */
  byId(id: number): MountInfo | undefined
}

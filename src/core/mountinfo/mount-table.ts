/** What volctl asks of a mount table. `parseMountinfo` makes one; tests may make small ones by hand. */

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

export interface MountTable {
  /** The raw text, as the kernel gave it. */
  readonly text: string
  /** Number of mounts in the table. */
  readonly size: number
  /** Mount points at or below `prefix` (compared by path component), in table order; records are made on demand. */
  under(prefix: string): readonly MountInfo[]
  /** Every mount stacked on exactly this path, in table order: also what no path leads to (O35). */
  at(path: string): readonly MountInfo[]
  /** Those on exactly this path that the path leads to, oldest first, whatever their order in the table is. */
  reached(path: string): readonly MountInfo[]
  /** The mount that this path leads to, where it is a mount point. */
  top(path: string): MountInfo | undefined
  /** The newest mount on each name in a directory, by a function of the name; undefined where nothing in it is mounted. */
  childrenOf(directory: string): ((name: string) => MountInfo | undefined) | undefined
  /** Is anything mounted in a directory, or deeper. */
  isAbove(directory: string): boolean
  /** All mounts of one file system ("major:minor"), in table order. */
  ofDevice(dev: string): readonly MountInfo[]
  /** The mount with this id, if the table has it. */
  byId(id: number): MountInfo | undefined
}

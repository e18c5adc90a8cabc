/**
 * A walk down a directory tree; each level is a directory that is held by a descriptor (S12).
 *
 * A path that was checked may have been swapped since, a descriptor cannot: entries are named through the descriptor of their
 * directory. The levels are a list, not recursive calls, so that a deep tree cannot exhaust the stack.
 */
import { closeSync, type Dirent } from 'node:fs'
import type { StepInterrupted } from '../base/operation-error.ts'
import { Entries, nameOf, type OpenDirectory, openDirectory, openParent } from './descriptors.ts'

interface Level {
  directory: OpenDirectory | undefined
  readonly identity: string
  /** Entries that are not read yet. */
  readonly rest: Entries
  /** Entries that are read and not examined yet. */
  names: Dirent[]
  /** Its name in the level above. */
  readonly name: Buffer
}

interface Visits {
  readonly visit: (directory: OpenDirectory, name: Buffer) => void
  /** Called with the directory that the walk leaves, its name, and its parent (none for the first level). */
  readonly leave: (left: OpenDirectory, name: Buffer, above: OpenDirectory | undefined) => void
  readonly signal: AbortSignal | undefined
  readonly interrupted: () => StepInterrupted
}

const ENTRIES_BETWEEN_BREATHS = 500
/** Descriptors that are kept open. Levels further up are opened again through `..`, and compared. */
const KEPT_OPEN = 200
/** Names that are read of a directory at a time. */
const MOST_NAMES = 10_000

export class Descent {
  readonly #path: string
  readonly #levels: Level[] = []

  /**
   * @param path absolute, without links on the way
   * @param mountId the mount that the directory must be in
   * @throws StepFailed ForeignMount, Swapped; errors of open(2) and getdents(2)
   */
  constructor(path: string, mountId: number) {
    this.#path = path
    this.enter(openDirectory(path, mountId), Buffer.from(path))
  }

  /** The deepest level; undefined once the first level was left. */
  get current(): OpenDirectory | undefined {
    return this.#levels.at(-1)?.directory
  }

  /** Whether the deepest level has no entry that is not examined yet. @throws errors of getdents(2) */
  get isDone(): boolean {
    const level = this.#levels.at(-1)
    if (level?.names.length === 0) level.names = level.rest.upTo(MOST_NAMES)
    return level === undefined || level.names.length === 0
  }

  /** The next entry of the deepest level, by the bytes of its name; undefined: it is done. @throws errors of getdents(2) */
  next(): Buffer | undefined {
    const entry = this.isDone ? undefined : this.#levels.at(-1)?.names.pop()
    return entry && nameOf(entry)
  }

  /** Goes down into a directory, whose descriptor is closed by this object from now on. */
  enter(directory: OpenDirectory, name: Buffer): void {
    this.#levels.push({ directory, identity: directory.identity, rest: entriesOf(directory), names: [], name })
    const above = this.#levels.at(-1 - KEPT_OPEN)
    // The first level stays open: the walk is anchored there.
    if (above?.directory !== undefined && above !== this.#levels[0]) {
      closeSync(above.directory.fd)
      above.directory = undefined
    }
  }

  /**
   * Goes back up.
   *
   * @throws StepFailed Swapped where the directory above is not the one that the walk came from; what `last` throws
   */
  leave(last: Visits['leave']): void {
    const level = this.#levels.at(-1)
    const above = this.#levels.at(-2)
    if (level?.directory === undefined) return
    try {
      if (above !== undefined) above.directory ??= openParent(level.directory, above.identity)
      last(level.directory, level.name, above?.directory)
    } finally {
      this.#levels.pop()
      level.rest.close()
      closeSync(level.directory.fd)
    }
  }

  /**
   * Visits every entry, and leaves each directory after what was in it.
   *
   * @param visit may enter what it is given
   * @param interrupted what is thrown once the signal is aborted
   */
  async run({ visit, leave, signal, interrupted }: Visits): Promise<void> {
    for (let count = 1; ; count++) {
      if (count % ENTRIES_BETWEEN_BREATHS === 0) await new Promise((resolve) => setImmediate(resolve))
      const directory = this.current
      if (directory === undefined) return
      if (signal?.aborted) throw interrupted()
      const name = this.next()
      if (name === undefined) this.leave(leave)
      else visit(directory, name)
    }
  }

  /** The path of an entry of the current level, or of the level itself by its own name, for messages. */
  describe(name: Buffer): string {
    const parts = this.#levels.slice(1).map((level) => level.name.toString())
    return [this.#path, ...(parts.at(-1) === name.toString() ? parts : [...parts, name.toString()])].join('/')
  }

  close(): void {
    for (const { directory, rest } of this.#levels) {
      rest.close()
      if (directory !== undefined) closeSync(directory.fd)
    }
    this.#levels.length = 0
  }
}

function entriesOf(directory: OpenDirectory): Entries {
  try {
    return new Entries(directory.fd)
  } catch (error) {
    closeSync(directory.fd)
    throw error
  }
}

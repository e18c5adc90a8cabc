/**
 * Gives a volume to a group: every entry below a directory, children before their directory, and the directory itself last
 * (P31). So OnRootMismatch never takes an interrupted walk for a complete one, and another walk does the rest.
 *
 * Every entry is held by a descriptor before it is examined. Links are changed themselves and never followed. An entry in
 * another mount is left alone: unlike the kubelet, volctl does not change content that belongs to somebody else.
 */
import { chmodSync, chownSync, closeSync, fstatSync, type Stats } from 'node:fs'
import { errnoOf } from '../base/errors.ts'
import { StepFailed, StepInterrupted } from '../base/operation-error.ts'
import { Descent } from './descent.ts'
import { asDirectory, isInMount, type OpenDirectory, openEntry } from './descriptors.ts'
import { diskFailure } from './disk-trouble.ts'
import { isSkipped, type Ownership, ownedMode } from './ownership-bits.ts'

export interface ChangeOwnershipOptions {
  /** Id of the mount that the directory must be in. */
  readonly mountId: number
  readonly ownership: Ownership
  /** Called for every entry, with the number of entries so far. */
  readonly onEntry?: (entries: number) => void
  readonly signal?: AbortSignal
}

export interface OwnershipChange {
  readonly entries: number
  /** The root directory already has the right group and mode, and the policy OnRootMismatch relies on it. */
  readonly skipped: boolean
  /** Entries whose group or mode the file system did not change (P31: that is no failure). */
  readonly failed: number
  /** Entries that were left alone because another mount is on them. */
  readonly mounts: readonly string[]
}

/**
 * @throws StepFailed Interrupted, Swapped, ForeignMount where the directory itself is in another mount, WriteFailed
 * where the walk cannot go on
 */
export async function changeOwnership(path: string, options: ChangeOwnershipOptions): Promise<OwnershipChange> {
  const walk = new Walk(path, options)
  try {
    return await walk.run()
  } finally {
    walk.descent.close()
  }
}

class Walk {
  readonly descent: Descent
  readonly #path: string
  readonly #options: ChangeOwnershipOptions
  readonly #mounts: string[] = []
  #entries = 0
  #failed = 0

  constructor(path: string, options: ChangeOwnershipOptions) {
    this.#path = path
    this.#options = options
    this.descent = new Descent(path, options.mountId)
  }

  async run(): Promise<OwnershipChange> {
    const { ownership, signal } = this.#options
    const root = this.descent.current
    const skipped = root !== undefined && isSkipped(fstatSync(root.fd), ownership)
    const interrupted = (): StepInterrupted =>
      new StepInterrupted(`${this.#path}: interrupted after ${this.#entries} files`, {
        hint: 'Plan again: the next apply changes the remaining files.',
      })
    const visit = (directory: OpenDirectory, name: Buffer): void => this.#visit(directory, name)
    const leave = ({ fd }: OpenDirectory): void => this.#change(fd, fstatSync(fd))
    if (!skipped) await this.descent.run({ visit, leave, signal, interrupted })
    return { entries: this.#entries, skipped, failed: this.#failed, mounts: this.#mounts }
  }

  /** An entry that was deleted meanwhile is skipped. */
  #visit(directory: OpenDirectory, name: Buffer): void {
    let fd: number | undefined
    try {
      fd = openEntry(directory, name)
      const entry = fstatSync(fd)
      if (entry.isDirectory()) {
        const below = asDirectory(fd, directory)
        if (below === undefined) this.#mounts.push(this.descent.describe(name))
        else {
          fd = undefined
          this.descent.enter(below, name)
        }
      } else if (this.#isRight(entry)) this.#count()
      else if (isInMount(fd, directory.mountId)) this.#change(fd, entry)
      else this.#mounts.push(this.descent.describe(name))
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw this.#failure(name, error)
    } finally {
      if (fd !== undefined) closeSync(fd)
    }
  }

  #isRight(entry: Stats): boolean {
    return entry.gid === this.#options.ownership.gid && (entry.isSymbolicLink() || this.#modeOf(entry) === undefined)
  }

  /** The mode to set; undefined: the entry has all bits already. */
  #modeOf(entry: Stats): number | undefined {
    const mode = ownedMode(entry.mode, entry.isDirectory(), this.#options.ownership.readOnly)
    return mode === (entry.mode & 0o7777) ? undefined : mode
  }

  /** The group first, since changing it may clear setuid and setgid. Through /proc the entry itself is changed, even a link. */
  #change(fd: number, entry: Stats): void {
    this.#count()
    if (this.#isRight(entry)) return
    const { gid, readOnly } = this.#options.ownership
    const itself = `/proc/self/fd/${fd}`
    const changed = [
      attempt(() => chownSync(itself, -1, gid)),
      entry.isSymbolicLink() || attempt(() => chmodSync(itself, ownedMode(entry.mode, entry.isDirectory(), readOnly))),
    ]
    if (changed.includes(false)) this.#failed += 1
  }

  #count(): void {
    this.#entries += 1
    this.#options.onEntry?.(this.#entries)
  }

  #failure(name: Buffer, cause: unknown): unknown {
    if (cause instanceof StepFailed) return cause
    const what = `${this.descent.describe(name)} could not be read`
    return diskFailure('WriteFailed', what, cause)
  }
}

/** Errors of single entries do not fail the step (P31): the file system may not support groups. */
function attempt(call: () => void): boolean {
  try {
    call()
    return true
  } catch {
    return false
  }
}

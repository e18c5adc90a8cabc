/**
 * Deletes what is below a directory, and never anything else (S12).
 *
 * The walk holds a descriptor of every directory that it is in, and names entries as /proc/self/fd/N/NAME: a path that was
 * checked may have been swapped since, a descriptor cannot. Every directory is opened without following links, and must be in
 * the mount where the walk began, by the mount id of its descriptor. Comparing the device is not enough: a bind mount of the
 * same file system has the same device.
 */

import { lstatSync, rmdirSync, unlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { commandLine } from '../base/command.ts'
import { errnoOf } from '../base/errors.ts'
import { StepFailed, StepInterrupted } from '../base/operation-error.ts'
import type { OutcomeCode } from '../messages/codes.ts'
import { Descent } from './descent.ts'
import { entryPath, InOtherMount, type OpenDirectory, openBelow } from './descriptors.ts'
import { diskFailure } from './disk-trouble.ts'

export interface Deleted {
  readonly files: number
  readonly bytes: number
}

export interface DeleteContentOptions {
  /** Id of the mount that the directory must be in. */
  readonly mountId: number
  /** Called once before the first deletion, and not for an empty directory; throws to refuse. */
  readonly beforeFirst?: () => void | Promise<void>
  /** Only empty directories go: nobody has agreed to the loss of a file. */
  readonly directoriesOnly?: boolean
  readonly signal?: AbortSignal
}

export async function deleteContent(path: string, options: DeleteContentOptions): Promise<Deleted> {
  const walk = new Walk(path, options)
  try {
    await walk.run()
  } finally {
    walk.descent.close()
  }
  return walk.deleted
}

class Walk {
  readonly descent: Descent
  readonly #path: string
  readonly #options: DeleteContentOptions
  #files = 0
  #bytes = 0

  constructor(path: string, options: DeleteContentOptions) {
    this.#path = path
    this.#options = options
    this.descent = new Descent(path, options.mountId)
  }

  get deleted(): Deleted {
    return { files: this.#files, bytes: this.#bytes }
  }

  async run(): Promise<void> {
    if (this.descent.isDone) return
    await this.#options.beforeFirst?.()
    await this.descent.run({
      visit: (directory, name) => this.#remove(directory, name),
      leave: (_, name, above) => above && this.#removeEmpty(above, name),
      signal: this.#options.signal,
      interrupted: () => new StepInterrupted(`${this.#path}: interrupted after ${this.#files} files`),
    })
  }

  /** An entry may change its type at any time; each attempt goes by its type at that moment. */
  #remove(directory: OpenDirectory, name: Buffer): void {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        const entry = lstatSync(entryPath(directory, name))
        if (entry.isDirectory()) {
          this.descent.enter(openBelow(directory, name), name)
          return
        }
        if (this.#options.directoriesOnly === true) throw unexpectedFile(this.descent.describe(name))
        unlinkSync(entryPath(directory, name))
        this.#files += 1
        this.#bytes += entry.size
        return
      } catch (error) {
        const code = errnoOf(error)
        if (code === 'ENOENT') return
        if (code === 'EBUSY') throw foreignMount(this.descent.describe(name), error)
        if (code !== 'EISDIR' && code !== 'ENOTDIR' && code !== 'ELOOP') throw this.#failed(name, error)
      }
    }
    throw new StepFailed('Swapped', `${this.descent.describe(name)} keeps changing while it is being deleted`)
  }

  #removeEmpty(parent: OpenDirectory, name: Buffer): void {
    try {
      rmdirSync(entryPath(parent, name))
    } catch (error) {
      const code = errnoOf(error)
      if (code === 'ENOENT') return
      if (code === 'EBUSY') throw foreignMount(this.descent.describe(name), error)
      // Replaced by a link, or filled again: the next plan judges what is there now.
      if (code === 'ENOTDIR' || code === 'ENOTEMPTY' || code === 'EEXIST') throw this.#failed(name, error, 'Swapped')
      throw this.#failed(name, error)
    }
  }

  #failed(name: Buffer, cause: unknown, code: OutcomeCode = 'WriteFailed'): StepFailed {
    if (cause instanceof StepFailed)
      return cause instanceof InOtherMount ? foreignMount(this.descent.describe(name), cause) : cause
    const path = this.descent.describe(name)
    const what = `${path} could not be deleted`
    // Nothing else keeps root from it: swap files are users, which were looked for.
    if (errnoOf(cause) === 'EPERM') {
      const words = `${commandLine('lsattr', '-d', path, posix.dirname(path))}; if nobody needs it, take that off (chattr -ia)`
      return new StepFailed(code, `${what}: it, or its directory, is immutable or append-only (EPERM)`, {
        cause,
        hint: `See which: ${words}, then plan again.`,
      })
    }
    return diskFailure(code, what, cause)
  }
}

function unexpectedFile(path: string): StepFailed {
  return new StepFailed('UnexpectedFile', `${path} was not there when the plan was made, and is kept`)
}

function foreignMount(path: string, cause: unknown): StepFailed {
  return new StepFailed('ForeignMount', `${path} is a mount point, and volctl never deletes the content of a mount`, {
    cause,
  })
}

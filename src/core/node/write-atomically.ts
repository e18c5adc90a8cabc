/**
 * The kubelet's atomic writer (P26-P29): a reader sees the old content or the new one,
 * never half of either.
 *
 * Everything is named through descriptors of directories, and created exclusively: a link or file that somebody planted is
 * neither followed nor written to. Unlike the kubelet's writer, it cleans up after a crash (a stale `..data_tmp`, links and
 * generations that are no longer needed), and after a failure the volume shows what it showed before (P25).
 */

import {
  closeSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { codeOf, errnoOf } from '../base/errors.ts'
import { StepFailed } from '../base/operation-error.ts'
import { takeBackAll, type Undo } from '../base/undo.ts'
import { isGeneration } from '../facts/actual/volume-names.ts'
import { changeOwnership } from '../linux/change-ownership.ts'
import { deleteContent } from '../linux/delete-content.ts'
import { entryPath, type OpenDirectory, openBelow, openDirectory, readNames } from '../linux/descriptors.ts'
import { diskFailure } from '../linux/disk-trouble.ts'
import { type Files, generationName, holds, makeBelow, within, writeGeneration } from './generation.ts'

const DATA = '..data'
const NEW_DATA = '..data_tmp'

export interface AtomicContent {
  /** Id of the mount that the volume's directory must be in. */
  readonly mountId: number
  /** By clean relative path. */
  readonly files: Files
  /** Directories for what containers mount inside the volume (P26). */
  readonly nested: readonly string[]
  readonly fsGroup?: number | undefined
  /** Reports problems that do not fail the step. */
  readonly say: (message: string) => void
}

/**
 * Makes the directory of a volume show this content.
 *
 * @returns how to undo it; empty if the volume showed content before, since that content is deleted
 * @throws StepFailed; the volume then still shows its previous content
 */
export async function writeAtomically(path: string, content: AtomicContent): Promise<readonly Undo[]> {
  const undos: Undo[] = []
  let directory: OpenDirectory | undefined
  try {
    directory = openDirectory(path, content.mountId)
    await new AtomicWriter(path, directory, content, undos).run()
    return undos
  } catch (error) {
    throw await takeBackAll(undos, asStepFailed(path, error))
  } finally {
    if (directory !== undefined) closeSync(directory.fd)
  }
}

class AtomicWriter {
  readonly #path: string
  readonly #directory: OpenDirectory
  readonly #content: AtomicContent
  readonly #undos: Undo[]
  #isFinal = false

  constructor(path: string, directory: OpenDirectory, content: AtomicContent, undos: Undo[]) {
    this.#path = path
    this.#directory = directory
    this.#content = content
    this.#undos = undos
  }

  async run(): Promise<void> {
    const { files, nested } = this.#content
    const published = this.#linkTarget(DATA)
    for (const each of nested) this.#makeNested(each)
    const isCurrent = published !== undefined && isGeneration(published) && holds(this.#directory, published, files)
    const generation = isCurrent ? published : this.#write()
    await this.#giveToGroup()
    this.#removeLink(NEW_DATA)
    if (!isCurrent) this.#publish(generation)
    // From here on there is no way back to the previous content.
    if (published !== undefined) this.#makeFinal()
    this.#linkFiles()
    this.#removeStaleLinks()
    await this.#removeOtherGenerations(generation)
  }

  #makeFinal(): void {
    this.#undos.length = 0
    this.#isFinal = true
  }

  #onFailure(undo: Undo): void {
    if (!this.#isFinal) this.#undos.push(undo)
  }

  /** @returns the name of the new generation */
  #write(): string {
    const name = generationName(new Date())
    const { mountId, files } = this.#content
    mkdirSync(entryPath(this.#directory, name), { mode: 0o700 })
    const generation = `${this.#path}/${name}`
    this.#onFailure({ what: `directory ${generation}`, back: () => removeTree(generation, mountId) })
    within(this.#directory, [name], openBelow, (made) => writeGeneration(made, files))
    return name
  }

  /**
   * Before anything is published: no process then finds files that it may not read (P31). The pod's policy does not matter
   * (P32).
   */
  async #giveToGroup(): Promise<void> {
    const { fsGroup, mountId, say } = this.#content
    if (fsGroup === undefined) return
    const ownership = { gid: fsGroup, policy: 'Always', readOnly: true, ignoreErrors: false } as const
    const { failed } = await changeOwnership(this.#path, { mountId, ownership })
    if (failed > 0) say(`${this.#path}: the file system did not give ${failed} files to group ${fsGroup}`)
  }

  #publish(generation: string): void {
    symlinkSync(generation, entryPath(this.#directory, NEW_DATA))
    this.#onFailure(this.#undoOfLink(NEW_DATA))
    renameSync(entryPath(this.#directory, NEW_DATA), entryPath(this.#directory, DATA))
    this.#onFailure(this.#undoOfLink(DATA))
  }

  /** An existing name, such as the directory of a nested mount, is kept (P29). */
  #linkFiles(): void {
    for (const [path, { owner }] of this.#content.files) {
      const name = topOf(path)
      if (this.#entry(name) !== undefined) continue
      symlinkSync(`${DATA}/${name}`, entryPath(this.#directory, name))
      this.#onFailure(this.#undoOfLink(name))
      if (owner !== undefined) lchownSync(entryPath(this.#directory, name), owner, -1)
    }
  }

  #removeStaleLinks(): void {
    const wanted = new Set([...this.#content.files.keys()].map(topOf))
    for (const name of this.#names()) {
      const isOurs = !wanted.has(name) && this.#entry(name)?.isSymbolicLink()
      if (isOurs && this.#linkTarget(name) === `${DATA}/${name}`) this.#removeLink(name)
    }
  }

  async #removeOtherGenerations(current: string): Promise<void> {
    for (const name of this.#names()) {
      if (name === current || !isGeneration(name) || !this.#entry(name)?.isDirectory()) continue
      await removeTree(`${this.#path}/${name}`, this.#content.mountId)
    }
  }

  #makeNested(path: string): void {
    const names = path.split('/')
    names.forEach((_, index) => {
      const above = names.slice(0, index)
      const name = names[index] ?? ''
      within(this.#directory, above, openBelow, (parent) => {
        const isNew = lstatSync(entryPath(parent, name), { throwIfNoEntry: false }) === undefined
        closeSync(makeBelow(parent, name).fd)
        if (isNew) this.#onFailure(this.#undo(above, name, 'directory ', rmdirSync))
      })
    })
  }

  /** By descriptors, from the path, since this one is closed by then: a container may have put a link on the way. */
  #undo(above: readonly string[], name: string, what: string, remove: (entry: Buffer) => void): Undo {
    const { mountId } = this.#content
    return {
      what: `${what}${[this.#path, ...above, name].join('/')}`,
      back: () => {
        const directory = openDirectory(this.#path, mountId)
        try {
          within(directory, above, openBelow, (parent) => remove(entryPath(parent, name)))
        } finally {
          closeSync(directory.fd)
        }
      },
    }
  }

  #names(): string[] {
    return readNames(this.#directory).map((name) => name.toString())
  }

  #entry(name: string) {
    return lstatSync(entryPath(this.#directory, name), { throwIfNoEntry: false })
  }

  /** @returns undefined: nothing is there */
  #linkTarget(name: string): string | undefined {
    const entry = this.#entry(name)
    if (entry === undefined) return undefined
    if (!entry.isSymbolicLink()) throw notALink(`${this.#path}/${name}`)
    return readlinkSync(entryPath(this.#directory, name))
  }

  #removeLink(name: string): void {
    if (this.#linkTarget(name) !== undefined) unlinkSync(entryPath(this.#directory, name))
  }

  /** Removed only if it is still a link. */
  #undoOfLink(name: string): Undo {
    return this.#undo([], name, '', (entry) => {
      if (lstatSync(entry, { throwIfNoEntry: false })?.isSymbolicLink()) unlinkSync(entry)
    })
  }
}

function topOf(path: string): string {
  return path.split('/')[0] ?? path
}

async function removeTree(path: string, mountId: number): Promise<void> {
  try {
    await deleteContent(path, { mountId })
    rmdirSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function notALink(path: string): StepFailed {
  return new StepFailed('UnexpectedFile', `${path} is not the symbolic link that the kubelet makes`)
}

function asStepFailed(path: string, error: unknown): unknown {
  if (error instanceof StepFailed || codeOf(error) === undefined) return error
  const what = `the content of ${path} could not be written`
  return diskFailure('WriteFailed', what, error)
}

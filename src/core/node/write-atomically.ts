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
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import { closing } from '../base/closing.ts'
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
  readonly fsGroup?: number
  /** Reports problems that do not fail the step. */
  readonly say: (message: string) => void
  /** Takes how to undo what is made, the newest last; nothing if the volume showed content before, since that is deleted. */
  readonly made: Undo[]
}

/**
 * Makes the directory of a volume show this content.
 *
 * @throws StepFailed; the volume then still shows its previous content, and what was made for the new one is to be undone
 */
export async function writeAtomically(path: string, content: AtomicContent): Promise<void> {
  let directory: OpenDirectory | undefined
  try {
    directory = openDirectory(path, content.mountId)
    await write(path, directory, content)
  } catch (error) {
    throw asStepFailed(path, error)
  } finally {
    if (directory !== undefined) closeSync(directory.fd)
  }
}

async function write(
  path: string,
  directory: OpenDirectory,
  { mountId, files, nested, fsGroup, say, made }: AtomicContent,
): Promise<void> {
  const before = made.length
  const at = (name: string): Buffer => entryPath(directory, name)
  const names = (): string[] => readNames(directory).map((name) => name.toString())
  /** Of a link; undefined: nothing is there. */
  const targetOf = (name: string): string | undefined => {
    const entry = entryAt(at(name))
    if (entry === undefined) return undefined
    if (entry.isSymbolicLink()) return readlinkSync(at(name))
    throw new StepFailed('UnexpectedFile', `${path}/${name} is not the symbolic link that the kubelet makes`)
  }
  const removeLink = (name: string): void => {
    if (targetOf(name) !== undefined) unlinkSync(at(name))
  }
  let isFinal = false
  const onFailure = (undo: Undo): void => {
    if (!isFinal) made.push(undo)
  }
  /** By descriptors, from the path, since this one is closed by then: a container may have put a link on the way. */
  const undoOf = (above: readonly string[], name: string, what: string, remove: (entry: Buffer) => void): Undo => ({
    what: `${what}${[path, ...above, name].join('/')}`,
    back: () => {
      const again = openDirectory(path, mountId)
      closing(again.fd, () => within(again, above, openBelow, (parent) => remove(entryPath(parent, name))))
    },
  })
  /** Removed only if it is still a link. */
  const undoOfLink = (name: string): Undo =>
    undoOf([], name, '', (entry) => {
      if (entryAt(entry)?.isSymbolicLink()) unlinkSync(entry)
    })

  const published = targetOf(DATA)
  for (const each of nested) {
    for (const [index, name] of each.split('/').entries()) {
      const above = each.split('/').slice(0, index)
      within(directory, above, openBelow, (parent) => {
        const isNew = entryAt(entryPath(parent, name)) === undefined
        closeSync(makeBelow(parent, name).fd)
        if (isNew) onFailure(undoOf(above, name, 'directory ', rmdirSync))
      })
    }
  }
  const isCurrent = published !== undefined && isGeneration(published) && holds(directory, published, files)
  const generation = isCurrent ? published : generationName(new Date())
  if (!isCurrent) {
    mkdirSync(at(generation), { mode: 0o700 })
    const tree = `${path}/${generation}`
    onFailure({ what: `directory ${tree}`, back: () => removeTree(tree, mountId) })
    within(directory, [generation], openBelow, (opened) => writeGeneration(opened, files))
  }
  if (fsGroup !== undefined) {
    // Before anything is published: no process then finds files that it may not read (P31). The pod's policy does not matter (P32).
    const ownership = { gid: fsGroup, policy: 'Always', readOnly: true, ignoreErrors: false } as const
    const { failed } = await changeOwnership(path, { mountId, ownership })
    if (failed > 0) say(`${path}: the file system did not give ${failed} files to group ${fsGroup}`)
  }
  removeLink(NEW_DATA)
  if (!isCurrent) {
    symlinkSync(generation, at(NEW_DATA))
    try {
      renameSync(at(NEW_DATA), at(DATA))
    } catch (error) {
      // At once, also if a kubelet is back: it cannot continue from this link (P29).
      throw await takeBackAll([undoOfLink(NEW_DATA)], asStepFailed(path, error))
    }
    onFailure(undoOfLink(DATA))
  }
  // From here on there is no way back to the previous content.
  isFinal = published !== undefined
  if (isFinal) made.length = before
  for (const [file, { owner }] of files) {
    const name = topOf(file)
    // An existing name, such as the directory of a nested mount, is kept (P29).
    if (entryAt(at(name)) !== undefined) continue
    symlinkSync(`${DATA}/${name}`, at(name))
    onFailure(undoOfLink(name))
    if (owner !== undefined) lchownSync(at(name), owner, -1)
  }
  const wanted = new Set([...files.keys()].map(topOf))
  for (const name of names()) {
    const isStale = !wanted.has(name) && entryAt(at(name))?.isSymbolicLink()
    if (isStale && targetOf(name) === `${DATA}/${name}`) removeLink(name)
  }
  for (const name of names())
    if (name !== generation && isGeneration(name) && entryAt(at(name))?.isDirectory())
      await removeTree(`${path}/${name}`, mountId)
}

function entryAt(path: Buffer): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
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

function asStepFailed(path: string, error: unknown): unknown {
  if (error instanceof StepFailed || codeOf(error) === undefined) return error
  const what = `the content of ${path} could not be written`
  return diskFailure('WriteFailed', what, error)
}

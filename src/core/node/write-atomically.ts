/**
 * The kubelet's atomic writer (P26-P29): a reader sees the old content or the new one,
 * never half of either.
 *
 * Everything is named through descriptors of directories, and created exclusively: a link or file that somebody planted is
 * neither followed nor written to. Unlike the kubelet's writer, it cleans up after a crash (a stale `..data_tmp`, links and
 * generations that are no longer needed), and after a failure the volume shows what it showed before (P25).
 */

import { randomInt } from 'node:crypto'
import {
  chmodSync,
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
import { posix } from 'node:path'
import { deleteContent } from '../linux/delete-content.ts'
import {
  createWhole,
  entryPath,
  type OpenDirectory,
  openBelow,
  openDirectory,
  readNames,
  syncDirectory,
} from '../linux/descriptors.ts'
import { changeOwnership } from '../linux/ownership.ts'
import { takeBackAll, type Undo } from '../linux/undo.ts'
import { diskFailure } from '../messages/disk-trouble.ts'
import { allowing, closing, codeOf, errnoOf, StepFailed, said } from '../messages/findings.ts'
import { openPlain, readToLimit } from '../trust/plain-files.ts'
import { type PayloadFile, parentsOf } from '../volumes/payload-entries.ts'
import { isGeneration } from '../volumes/volume-names.ts'

type Files = ReadonlyMap<string, PayloadFile<Buffer>>

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
    throw new StepFailed(said('UnexpectedFile.notKubeletsLink', { path, name }))
  }
  const removeLink = (name: string): void => {
    if (targetOf(name) !== undefined) unlinkSync(at(name))
  }
  let isFinal = false
  const onFailure = (undo: Undo): void => {
    if (!isFinal) made.push(undo)
  }
  /** By descriptors, from the path, since this one is closed by then: a container may have put a link on the way. */
  const undoOf = (below: string, what: string, remove: (entry: Buffer) => void): Undo => ({
    what: `${what}${path}/${below}`,
    back: () => {
      const again = openDirectory(path, mountId)
      closing(again.fd, () => inParent(again, below, openBelow, remove))
    },
  })
  /** Removed only if it is still a link. */
  const undoOfLink = (name: string): Undo =>
    undoOf(name, '', (entry) => {
      if (entryAt(entry)?.isSymbolicLink()) unlinkSync(entry)
    })

  const published = targetOf(DATA)
  for (const below of new Set(nested.flatMap((each) => [...parentsOf(each), each]))) {
    inParent(directory, below, openBelow, (entry, parent) => {
      const isNew = entryAt(entry) === undefined
      closeSync(makeBelow(parent, posix.basename(below)).fd)
      if (isNew) onFailure(undoOf(below, 'directory ', rmdirSync))
    })
  }
  const isCurrent = published !== undefined && isGeneration(published) && holds(directory, published, files)
  const generation = isCurrent ? published : generationName(new Date())
  if (!isCurrent) {
    mkdirSync(at(generation), { mode: 0o700 })
    const tree = `${path}/${generation}`
    onFailure({ what: `directory ${tree}`, back: () => removeTree(tree, mountId) })
    const opened = openBelow(directory, generation)
    closing(opened.fd, () => writeGeneration(opened, files))
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
  return diskFailure(`the content of ${path}`, 'written', error)
}

// One generation of the content: a directory that is written completely before it becomes visible (section 2.5).

/** Set explicitly, whatever the umask is. */
const DIRECTORY_MODE = 0o755
const RANDOM_BELOW = 2 ** 32

/** `..YYYY_MM_DD_HH_MM_SS.` of this moment in UTC, and random digits. */
function generationName(now: Date): string {
  const time = now.toISOString().slice(0, 19).replace(/[-:T]/g, '_')
  return `..${time}.${randomInt(RANDOM_BELOW)}`
}

/** Writes every file with its mode and owner, and returns when all is on the disk. The directory exists and is empty. */
function writeGeneration(generation: OpenDirectory, files: Files): void {
  for (const [path, { value, mode, owner }] of files)
    inParent(generation, path, makeBelow, (entry) => createWhole(entry, value, mode, owner))
  for (const below of new Set([...files.keys()].flatMap(parentsOf)))
    inParent(generation, `${below}/.`, openBelow, syncDirectory)
  const itself = entryPath(generation, '.')
  chmodSync(itself, DIRECTORY_MODE)
  syncDirectory(itself)
}

/** True if the directory holds exactly these files, byte by byte. Modes and owners are not compared (P28). */
function holds(directory: OpenDirectory, name: string, files: Files): boolean {
  const directories = new Set([...files.keys()].flatMap(parentsOf))
  let found = 0
  const isSame = (above: OpenDirectory, called: Buffer | string, prefix: string): boolean => {
    const at = openBelow(above, called)
    const isWanted = (bytes: Buffer): boolean => {
      const path = `${prefix}${bytes.toString()}`
      const entry = entryPath(at, bytes)
      if (lstatSync(entry).isDirectory()) return directories.has(path) && isSame(at, bytes, `${path}/`)
      const wanted = files.get(path)
      found++
      return wanted !== undefined && hasContent(entry, wanted.value)
    }
    return closing(at.fd, () => readNames(at).every(isWanted))
  }
  // Not the kubelet's directories and files: a new generation is written.
  return allowing(NOT_THERE, false, () => isSame(directory, name, '') && found === files.size)
}

const NOT_THERE = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'ENXIO', 'NOT_PLAIN', 'TOO_LARGE']

/** A directory of that name, made with 0755 where there is none; a link in its place is an error. */
function makeBelow(directory: OpenDirectory, name: string): OpenDirectory {
  const make = () => mkdirSync(entryPath(directory, name), { mode: DIRECTORY_MODE })
  const isThere = allowing(['EEXIST'], true, make) === true
  const below = openBelow(directory, name)
  if (!isThere) chmodSync(entryPath(below, '.'), DIRECTORY_MODE)
  return below
}

/** Goes down to the directory that a path ends in, name by name, and closes the descriptors that it leaves. */
function inParent(
  top: OpenDirectory,
  path: string,
  step: (directory: OpenDirectory, name: string) => OpenDirectory,
  work: (entry: Buffer, parent: OpenDirectory) => void,
): void {
  const names = path.split('/')
  const last = names.pop() ?? ''
  let at = top
  try {
    for (const name of names) {
      const below = step(at, name)
      if (at !== top) closeSync(at.fd)
      at = below
    }
    work(entryPath(at, last), at)
  } finally {
    if (at !== top) closeSync(at.fd)
  }
}

function hasContent(path: Buffer, content: Buffer): boolean {
  const { fd, stats } = openPlain(path)
  return closing(fd, () => stats.size === content.length && content.equals(readToLimit(fd, content.length)))
}

/** Reads a volume that the kubelet's atomic writer has filled: links, `..data`, and a directory for each generation (P25). */
import type { ListedEntry } from '../../actual/listed-entry.ts'
import type { ExpectedFile } from '../../desired/payload-entries.ts'
import { isGeneration } from '../../names/volume-names.ts'
import { digestFile } from './read-small-file.ts'
import { readTarget } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

/** The expected files of a volume, by path below `..data`. */
type Expected = ReadonlyMap<string, ExpectedFile> | undefined

/** Which files are digested: those with an expected digest, all, or none. */
export type Digests = { readonly expected: Expected } | 'all' | 'none'

/** @returns every entry of the volume, without attributes */
export function readAtomicVolume(walk: TreeWalk, volume: ListedEntry, digests: Digests): readonly ListedEntry[] {
  const entries = [...walk.children(volume)]
  readTargets(walk, entries, typeof digests === 'object' ? digests.expected : undefined)
  for (const entry of [...entries]) {
    if (entry.type === 'dir' && walk.mayEnter(entry)) {
      if (isGeneration(entry.name)) entries.push(...readGeneration(walk, entry, entry.path, digests))
      else walkContent(walk, walk.absolute(entry.path), entry)
    }
  }
  return entries
}

/**
 * For a volume that is mounted for a living pod: the generation that its containers see, and the other names, which show an
 * interrupted write (P29).
 *
 * @returns whether it was ever filled
 */
export function readShownGeneration(walk: TreeWalk, volume: ListedEntry, expected: Expected): boolean {
  const entries = walk.children(volume)
  const named = new Map(entries.map((entry) => [entry.name, entry]))
  readTargets(walk, entries, expected)
  const current = named.get('..data')?.target ?? ''
  const generation = named.get(current)
  if (generation?.type === 'dir' && isGeneration(current) && walk.mayEnter(generation))
    readGeneration(walk, generation, generation.path, { expected })
  return named.has('..data')
}

/** Reads the targets of links, except of those that are expected anyway. */
function readTargets(walk: TreeWalk, entries: readonly ListedEntry[], expected: Expected): void {
  const wanted = new Set([...(expected?.keys() ?? [])].map((path) => path.split('/')[0]))
  for (const entry of entries) {
    if (entry.type === 'link' && !wanted.has(entry.name)) readTarget(entry, walk.absolute(entry.path))
  }
}

function readGeneration(walk: TreeWalk, directory: ListedEntry, generation: string, digests: Digests): ListedEntry[] {
  const entries = [...walk.children(directory)]
  for (const entry of [...entries]) {
    if (!walk.mayEnter(entry)) continue
    if (entry.type === 'file') lookAtFile(walk, entry, entry.path.slice(generation.length + 1), digests)
    else if (entry.type === 'dir') entries.push(...readGeneration(walk, entry, generation, digests))
  }
  return entries
}

function lookAtFile(walk: TreeWalk, file: ListedEntry, path: string, digests: Digests): void {
  if (digests === 'none') return
  const want = digests === 'all' ? undefined : digests.expected?.get(path)
  if (digests === 'all' || (want !== undefined && 'digest' in want)) digestFile(file, walk.absolute(file.path))
  else if (want !== undefined && 'size' in want) walk.attributes(file)
}

/** One pod's directory (N4): the part that is read of every pod, and the part that is read only if the pod is not alive. */

import { ownValue } from '../../base/own-value.ts'
import { ListedEntry } from '../../facts/actual/tree.ts'
import { API_CONTENT, isGeneration, unescapeQualifiedName } from '../../facts/actual/volume-names.ts'
import { wrappedName } from '../../volumes/paths.ts'
import type { ExpectedFile } from '../../volumes/payload-entries.ts'
import { digestFile, readTarget } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

export interface PodScan {
  /** The pod's directory, which has its UID as its name, and lists of what is in it, its top level first, without attributes yet. */
  readonly directory: ListedEntry
  readonly listings: (readonly ListedEntry[])[]
  /** Volume directories whose content a pod writes itself (emptyDir, gitRepo): unmounted, not listed yet. */
  readonly contents: ListedEntry[]
  /** Volumes that may have a `ready` marker, which shows that they are set up (P21). */
  readonly marked: Marked[]
  /** Volume directories that an atomic writer filled, not listed yet. */
  readonly atomic: ListedEntry[]
}

interface Marked {
  /** Whose directory in the pod's `plugins` has the markers. */
  readonly plugin: string
  readonly volumes: readonly ListedEntry[]
  /** The markers are those of the emptyDirs that the volumes are wrapped in. */
  readonly isWrapped: boolean
}

/** What the API says about the volumes of a pod that has not ended, by their names. */
export interface LivingPod {
  /** The volume's expected files, by path below `..data`. A file without an expected digest is not read. */
  expectedFiles(volume: string): ReadonlyMap<string, ExpectedFile> | undefined
  /** True if the pod wants a volume of this name. */
  wants(volume: string): boolean
  /** True if an emptyDir of this name gets a mount on its directory: files in the unmounted directory prevent that (S22). */
  isMountedOver(volume: string): boolean
}

/** Reads what every pod needs: its volumes, raw block volumes and sub-paths. */
export function scanPod(walk: TreeWalk, directory: ListedEntry): PodScan {
  const top = walk.children(directory)
  const pod: PodScan = { directory, listings: [top], contents: [], marked: [], atomic: [] }
  for (const entry of top) {
    const levels = walk.isOpen(entry) ? ownValue(VOLUMES, entry.name) : undefined
    if (entry.name === 'volumes' && levels !== undefined) readVolumes(walk, pod, entry)
    else if (levels !== undefined) readLevels(walk, entry, levels, true, pod.listings)
  }
  return pod
}

/** Levels of volumes/PLUGIN/NAME, volumeDevices/PLUGIN/NAME, volume-subpaths/VOLUME/CONTAINER/INDEX: what every pod needs. */
const VOLUMES: Readonly<Record<string, number>> = { volumes: 2, volumeDevices: 2, 'volume-subpaths': 3 }

/** Volumes on the kubelet's disk that the pod itself writes to. */
const OWN_CONTENT = new Set(['kubernetes.io~empty-dir', 'kubernetes.io~git-repo'])

function readVolumes(walk: TreeWalk, pod: PodScan, directory: ListedEntry): void {
  for (const plugin of listed(walk, directory, pod.listings)) {
    if (!walk.isOpen(plugin)) continue
    const { name } = plugin
    const volumes = listed(walk, plugin, pod.listings)
    const open = volumes.filter((volume) => walk.isOpen(volume))
    if (OWN_CONTENT.has(name)) {
      pod.contents.push(...open)
      pod.marked.push({ plugin: name, volumes, isWrapped: false })
    } else if (API_CONTENT.has(unescapeQualifiedName(name))) {
      pod.atomic.push(...open)
      const unmounted = open.filter((volume) => !walk.isMountPoint(volume))
      pod.marked.push({ plugin: 'kubernetes.io~empty-dir', volumes: unmounted, isWrapped: true })
    } else for (const volume of open) readVolume(walk, volume, pod.listings)
  }
}

type Listings = PodScan['listings']

function readVolume(walk: TreeWalk, volume: ListedEntry, listings: Listings): void {
  for (const entry of listed(walk, volume, listings)) {
    if (walk.isStateFile(entry)) walk.stateFile(entry)
    else if (walk.isOpen(entry)) walkContent(walk, entry)
  }
}

/** Children; their attributes are read later, unless the pod is alive. */
function listed(walk: TreeWalk, directory: ListedEntry, listings: Listings): readonly ListedEntry[] {
  const entries = walk.children(directory)
  listings.push(entries)
  return entries
}

/** How many levels below each directory the kubelet itself makes; deeper entries are not the kubelet's. */
const LEVELS: Readonly<Record<string, number>> = { plugins: 3, containers: 2 }

/** The second part of reading a living pod: its volumes' markers, and the files that can be compared with the API. */
export function completeLivingPod(walk: TreeWalk, pod: PodScan, api: LivingPod): void {
  for (const { plugin, volumes, isWrapped } of pod.marked) {
    for (const volume of volumes) {
      // If the pod does not want the volume, a mount on it alone shows that it is set up.
      if (walk.isOpen(volume) || api.wants(volume.name))
        readMarker(walk, pod, plugin, isWrapped ? wrappedName(volume.name) : volume.name)
    }
  }
  for (const volume of pod.atomic) {
    const { name } = volume
    const entries = readAtomicVolume(walk, volume, { expected: api.expectedFiles(name) })
    // If the volume was filled, the marker is not needed.
    const needsMarker = walk.isMountPoint(volume) && !entries.some((entry) => entry.name === '..data')
    if (needsMarker) readMarker(walk, pod, 'kubernetes.io~empty-dir', wrappedName(name))
  }
  for (const volume of pod.contents) {
    if (api.isMountedOver(volume.name)) walkContent(walk, volume)
  }
}

/** The second part of reading any other pod. @param digests digest the files that atomic writers wrote */
export function completePod(walk: TreeWalk, pod: PodScan, digests: boolean): void {
  for (const volume of pod.atomic) pod.listings.push(readAtomicVolume(walk, volume, digests ? 'all' : 'none'))
  walk.attributes(pod.directory)
  for (const listing of pod.listings) for (const entry of listing) walk.attributes(entry)
  for (const volume of pod.contents) walkContent(walk, volume)
  for (const entry of pod.listings[0] ?? []) {
    if (!walk.isOpen(entry) || Object.hasOwn(VOLUMES, entry.name)) continue
    readLevels(walk, entry, ownValue(LEVELS, entry.name) ?? 0, true)
  }
}

/**
 * @param levels that the kubelet itself makes
 * @param whole whether what lies deeper is listed, up to a limit
 * @param listings whose attributes are read later; absent: they are read at once
 */
export function readLevels(
  walk: TreeWalk,
  directory: ListedEntry,
  levels: number,
  whole: boolean,
  listings?: Listings,
): void {
  if (levels === 0) {
    if (whole) walkContent(walk, directory)
    return
  }
  for (const entry of listings === undefined ? walk.children(directory) : listed(walk, directory, listings)) {
    if (walk.isStateFile(entry)) walk.stateFile(entry)
    else if (listings === undefined) walk.attributes(entry)
    if (walk.isOpen(entry)) readLevels(walk, entry, levels - 1, whole, listings)
  }
}

/** P21. */
const READY = 'ready'

/**
 * Reads only a volume's marker in its pod's `plugins`, with its directory: asks for it by its name, and lists the directory only where
 * it is not there.
 */
function readMarker(walk: TreeWalk, { directory: { path } }: PodScan, plugin: string, name: string): void {
  const directory = new ListedEntry(`${path}/plugins/${plugin}`, name, 'dir')
  if (walk.mountOn(directory.path) !== undefined) {
    // What is mounted there might hang: whether the volume is set up is unknown.
    directory.error = 'EXDEV'
  } else if (!walk.emitFile(new ListedEntry(directory.path, READY, 'file')) && walk.children(directory).length === 0)
    return
  walk.emit(directory)
}

/** The expected files of a volume, by path below `..data`. */
type Expected = ReadonlyMap<string, ExpectedFile> | undefined

/** Which files are digested: those with an expected digest, all, or none. */
type Digests = { readonly expected: Expected } | 'all' | 'none'

/**
 * Reads a volume that the kubelet's atomic writer has filled: links, `..data`, and a directory for each generation (P25).
 *
 * @returns every entry of the volume, without attributes
 */
function readAtomicVolume(walk: TreeWalk, volume: ListedEntry, digests: Digests): readonly ListedEntry[] {
  const entries = [...walk.children(volume)]
  readTargets(walk, entries, typeof digests === 'object' ? digests.expected : undefined)
  for (const entry of [...entries]) {
    if (walk.isOpen(entry)) {
      if (isGeneration(entry.name)) entries.push(...readGeneration(walk, entry, entry.path, digests))
      else walkContent(walk, entry)
    }
  }
  return entries
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

/** One pod's directory (N4): the part that is read of every pod, and the part that is read only if the pod is not alive. */

import { ownValue } from '../../base/collections.ts'
import type { PodVolumeSource } from '../../kube/api/objects.ts'
import { entriesIn, entryPath, nameOf } from '../../linux/descriptors.ts'
import { closing, errorWord } from '../../messages/findings.ts'
import { openListing } from '../../trust/plain-files.ts'
import { wrappedName } from '../../volumes/desired-state.ts'
import { ListedEntry } from '../../volumes/on-disk/tree.ts'
import { API_CONTENT, isGeneration, unescapeQualifiedName } from '../../volumes/volume-names.ts'
import { digestFile, lstatEntry, readTarget } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'

export type PodScan = ReturnType<typeof scanPod>

interface PodVolume {
  readonly plugin: string
  readonly volume: ListedEntry
}

/** What a pod that has not ended wants under a volume's name. */
export type LivingPod = (volume: string) => PodVolumeSource | undefined

/**
 * Reads what every pod needs: its volumes, raw block volumes and sub-paths.
 *
 * @returns the pod's directory, which has its UID as its name, its top level, and all that was read in it, without attributes yet; and
 * what is in the directories of the plugins whose volumes a pod or an atomic writer fills, not listed yet
 */
export function scanPod(walk: TreeWalk, directory: ListedEntry) {
  const { count } = walk
  const top = walk.children(directory)
  const volumes: PodVolume[] = []
  for (const entry of top) {
    const levels = walk.isOpen(entry) ? ownValue(VOLUMES, entry.name) : undefined
    if (entry.name === 'volumes' && levels !== undefined) readVolumes(walk, volumes, entry)
    else if (levels !== undefined) readLevels(walk, entry, levels, true)
  }
  return { directory, top, entries: walk.since(count), volumes }
}

/** Levels of volumes/PLUGIN/NAME, volumeDevices/PLUGIN/NAME, volume-subpaths/VOLUME/CONTAINER/INDEX: what every pod needs. */
const VOLUMES: Readonly<Record<string, number>> = { volumes: 2, volumeDevices: 2, 'volume-subpaths': 3 }

const EMPTY_DIR = 'kubernetes.io~empty-dir'
/** Volumes on the kubelet's disk that the pod itself writes to. */
const OWN_CONTENT = new Set([EMPTY_DIR, 'kubernetes.io~git-repo'])

function readVolumes(walk: TreeWalk, volumes: PodVolume[], directory: ListedEntry): void {
  for (const plugin of walk.children(directory)) {
    if (!walk.isOpen(plugin)) continue
    const isFilled = OWN_CONTENT.has(plugin.name) || API_CONTENT.has(unescapeQualifiedName(plugin.name))
    for (const volume of walk.children(plugin)) {
      if (isFilled) volumes.push({ plugin: plugin.name, volume })
      else if (walk.isOpen(volume)) readLevels(walk, volume, 1, true)
    }
  }
}

/** How many levels below each directory the kubelet itself makes; deeper entries are not the kubelet's. */
const LEVELS: Readonly<Record<string, number>> = { plugins: 3, containers: 2 }

/** The second part of reading a living pod: its volumes' markers (P21), and the volumes that atomic writers filled. */
export function completeLivingPod(walk: TreeWalk, pod: PodScan, wantedUnder: LivingPod): void {
  for (const { plugin, volume } of pod.volumes) {
    const { name } = volume
    const isOpen = walk.isOpen(volume)
    if (OWN_CONTENT.has(plugin)) {
      const wanted = wantedUnder(name)
      // If the pod does not want the volume, a mount on it alone shows that it is set up.
      if (isOpen || wanted !== undefined) readMarker(walk, pod, plugin, name)
      // On the directory of such an emptyDir something is mounted: files in it prevent that (S22).
      if (isOpen && wanted?.emptyDir?.medium) walkContent(walk, volume)
    } else if (isOpen) {
      const entries = readAtomicVolume(walk, volume)
      // If the mounted volume was filled, the marker is not needed. It is that of the emptyDir that the volume is wrapped in.
      const needsMarker = volume.onTop === undefined || !entries.some((entry) => entry.name === '..data')
      if (needsMarker) readMarker(walk, pod, EMPTY_DIR, wrappedName(name))
    }
  }
}

/**
 * The second part of reading any other pod.
 *
 * @param digests of what atomic writers wrote, too: a plan only removes it, whether it can be read or not
 */
export function completePod(walk: TreeWalk, pod: PodScan, digests: boolean): void {
  const { count } = walk
  for (const { plugin, volume } of pod.volumes) {
    if (!walk.isOpen(volume)) continue
    if (OWN_CONTENT.has(plugin)) walkContent(walk, volume)
    else readAtomicVolume(walk, volume, digests)
  }
  walk.attributes([pod.directory])
  walk.attributes(pod.entries)
  for (const entry of pod.top) {
    if (!walk.isOpen(entry) || Object.hasOwn(VOLUMES, entry.name)) continue
    readLevels(walk, entry, ownValue(LEVELS, entry.name) ?? 0, true)
  }
  walk.attributes(walk.since(count))
}

/**
 * Lists what is in a directory, without attributes.
 *
 * @param levels that the kubelet itself makes
 * @param whole whether what lies deeper is listed, up to a limit
 */
export function readLevels(walk: TreeWalk, directory: ListedEntry, levels: number, whole: boolean): void {
  if (levels === 0) {
    if (whole) walkContent(walk, directory)
    return
  }
  for (const entry of walk.children(directory)) {
    walk.stateFile(entry)
    if (walk.isOpen(entry)) readLevels(walk, entry, levels - 1, whole)
  }
}

/**
 * Reads only a volume's marker in its pod's `plugins`, with its directory: asks for it by its name, and lists the directory only where
 * it is not there.
 */
function readMarker(walk: TreeWalk, { directory: { path } }: PodScan, plugin: string, name: string): void {
  const directory = new ListedEntry(`${path}/plugins/${plugin}`, name, 'dir')
  if (walk.mountOn(directory.path) !== undefined) {
    // What is mounted there might hang: whether the volume is set up is unknown.
    directory.error = 'EXDEV'
  } else if (!walk.emitFile(new ListedEntry(directory.path, 'ready', 'file')) && walk.children(directory).length === 0)
    return
  walk.emit(directory)
}

/**
 * Reads a volume that the kubelet's atomic writer has filled: links, `..data`, and a directory for each generation (P25). Targets
 * of links are read, and what the files hold may be digested.
 *
 * @returns every entry of the volume, without attributes
 */
function readAtomicVolume(walk: TreeWalk, volume: ListedEntry, digests = true): readonly ListedEntry[] {
  const entries = [...walk.children(volume)]
  for (const entry of [...entries]) {
    if (entry.type === 'link') readTarget(entry, walk.absolute(entry.path))
    if (!walk.isOpen(entry)) continue
    if (isGeneration(entry.name)) entries.push(...readGeneration(walk, entry, digests))
    else walkContent(walk, entry)
  }
  return entries
}

function readGeneration(walk: TreeWalk, directory: ListedEntry, digests: boolean): ListedEntry[] {
  const entries = [...walk.children(directory)]
  for (const entry of [...entries]) {
    if (!walk.mayEnter(entry)) continue
    if (entry.type === 'dir') entries.push(...readGeneration(walk, entry, digests))
    if (entry.type === 'file' && digests) digestFile(entry, walk.absolute(entry.path))
  }
  return entries
}

// What containers may write to: names and attributes, no content.

const MAX_ENTRIES = 10_000
const MAX_DEPTH = 500

/**
 * Lists an unmounted directory that containers may write to.
 *
 * Walks by descriptors, never by paths: a container that swaps a directory for a link meanwhile must not lead volctl to
 * another file system, where a call might hang. A container may give its files any name, and each of them counts (S13); it may
 * make millions of them.
 *
 * @param top the volume's own entry, which gets the error if there are more entries than the limit
 */
export function walkContent(walk: TreeWalk, top: ListedEntry): void {
  let left = MAX_ENTRIES
  const enter = (at: string | Buffer, directory: ListedEntry, depth: number): void => {
    try {
      closing(openListing(at), (fd) => list(fd, directory, depth))
    } catch (error) {
      directory.error ??= errorWord(error)
    }
  }
  const list = (fd: number, { path: parent }: ListedEntry, depth: number): void => {
    const hasMounts = walk.hasMountsBelow(parent)
    for (const dirent of entriesIn(fd, left + 1)) {
      if (--left < 0) return
      const bytes = nameOf(dirent)
      const name = bytes.toString()
      const mount = hasMounts ? walk.mountOn(`${parent}/${name}`) : undefined
      // Closed: nobody asks for it by its path, which may lead elsewhere by now (S36).
      const entry = new ListedEntry(parent, name, walk.typeOf(mount, dirent), 'closed')
      const at = entryPath({ fd }, bytes)
      if (mount === undefined && !lstatEntry(entry, at)) continue
      walk.emit(entry)
      if (mount !== undefined || entry.type !== 'dir') continue
      if (depth === MAX_DEPTH) entry.error = `deeper than ${MAX_DEPTH} levels`
      else enter(at, entry, depth + 1)
    }
  }
  enter(walk.absolute(top.path), top, 0)
  if (left < 0) top.error = `more than ${MAX_ENTRIES} entries`
}

/** One pod's directory (N4): what is read at once, and what only if the pod does not live. */
import { posix } from 'node:path'
import type { Draft } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

export interface PodScan {
  readonly uid: string
  /** Entries without attributes yet. */
  readonly entries: Draft[]
  /** Volume directories whose content a pod writes itself (emptyDir, gitRepo): unmounted, not listed yet. */
  readonly contents: Draft[]
  /** Names of unmounted volumes of which a `ready` marker tells that they are set up (P21). */
  readonly marked: { readonly plugin: string; readonly meta: string }[]
  /** The top level of the pod's directory. */
  readonly top: readonly Draft[]
}

export function scanPodDirectory(walk: TreeWalk, directory: Draft): PodScan {
  const top = walk.children(directory)
  return { uid: posix.basename(directory.path), entries: [directory, ...top], contents: [], marked: [], top }
}

/** How many levels below each the kubelet itself makes; deeper is somebody else's. */
const LEVELS: Readonly<Record<string, number>> = { plugins: 3, containers: 2 }
/** Read by readPodVolumes. */
const VOLUMES = new Set(['volumes', 'volumeDevices', 'volume-subpaths'])

/** The second part of the reading. Of a living pod only the markers of its unmounted volumes are looked at. */
export function completePod(walk: TreeWalk, pod: PodScan, lives: boolean): void {
  if (lives) {
    for (const { plugin, meta } of pod.marked) readMarker(walk, `pods/${pod.uid}/plugins/${plugin}/${meta}`)
    return
  }
  for (const entry of pod.entries) walk.attributes(entry)
  for (const volume of pod.contents) walkContent(walk, walk.absolute(volume.path), volume)
  for (const entry of pod.top) {
    const name = posix.basename(entry.path)
    if (entry.type !== 'dir' || VOLUMES.has(name) || !walk.mayEnter(entry)) continue
    readLevels(walk, entry, LEVELS[name] ?? 0)
  }
}

function readLevels(walk: TreeWalk, directory: Draft, levels: number): void {
  if (levels === 0) {
    walkContent(walk, walk.absolute(directory.path), directory)
    return
  }
  for (const entry of walk.children(directory)) {
    walk.attributes(entry)
    if (entry.type === 'dir' && walk.mayEnter(entry)) readLevels(walk, entry, levels - 1)
  }
}

/** The marker alone, with the directories that lead to it. */
function readMarker(walk: TreeWalk, path: string): void {
  const directory: Draft = { path, type: 'dir' }
  if (walk.children(directory).length === 0) return
  walk.emit(directory)
}

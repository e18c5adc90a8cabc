/** One pod's directory (N4): the part that is read first, and the part that is read only if the pod is not alive. */
import { baseName } from '../../actual/tree.ts'
import type { ExpectedFile } from '../../desired/payload-entries.ts'
import { ownValue } from '../../lang/own-value.ts'
import { readAtomicVolume, readShownGeneration } from './atomic-volume.ts'
import type { Draft } from './tree-entry.ts'
import type { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

export interface PodScan {
  readonly uid: string
  /** Entries without attributes yet. */
  readonly entries: Draft[]
  /** Volume directories whose content a pod writes itself (emptyDir, gitRepo): unmounted, not listed yet. */
  readonly contents: Draft[]
  /** Volumes that may have a `ready` marker, which shows that they are set up (P21). */
  readonly marked: Marked[]
  /** Volume directories that an atomic writer filled, not listed yet. */
  readonly atomic: Draft[]
  /** The top level of the pod's directory. */
  readonly top: readonly Draft[]
}

export interface Marked {
  readonly plugin: string
  readonly meta: string
  /**
   * Something is mounted on the volume's directory: if the pod does not want the volume, the mount alone shows that it is set
   * up.
   */
  readonly mounted: boolean
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

export function scanPodDirectory(walk: TreeWalk, directory: Draft): PodScan {
  const top = walk.children(directory)
  return {
    uid: baseName(directory.path),
    entries: [directory, ...top],
    contents: [],
    marked: [],
    atomic: [],
    top,
  }
}

/** How many levels below each directory the kubelet itself makes; deeper entries are not the kubelet's. */
const LEVELS: Readonly<Record<string, number>> = { plugins: 3, containers: 2 }
/** Read by readPodVolumes. */
const VOLUMES = new Set(['volumes', 'volumeDevices', 'volume-subpaths'])

/** The second part of reading a living pod: its volumes' markers, and the files that can be compared with the API. */
export function completeLivingPod(walk: TreeWalk, pod: PodScan, api: LivingPod): void {
  for (const { plugin, meta, mounted } of pod.marked) {
    if (!mounted || api.wants(meta)) readMarker(walk, `pods/${pod.uid}/plugins/${plugin}/${meta}`)
  }
  for (const volume of pod.atomic) {
    const name = baseName(volume.path)
    const files = api.expectedFiles(name)
    if (!walk.isMountPoint(volume)) readAtomicVolume(walk, volume, { expected: files })
    // If the volume was filled, the marker is not needed.
    else if (!readShownGeneration(walk, volume, files))
      readMarker(walk, `pods/${pod.uid}/plugins/kubernetes.io~empty-dir/wrapped_${name}`)
  }
  for (const volume of pod.contents) {
    if (api.isMountedOver(baseName(volume.path))) walkContent(walk, walk.absolute(volume.path), volume)
  }
}

/** The second part of reading any other pod. @param digests digest the files that atomic writers wrote */
export function completePod(walk: TreeWalk, pod: PodScan, digests: boolean): void {
  for (const volume of pod.atomic) pod.entries.push(...readAtomicVolume(walk, volume, digests ? 'all' : 'none'))
  for (const entry of pod.entries) walk.attributes(entry)
  for (const volume of pod.contents) walkContent(walk, walk.absolute(volume.path), volume)
  for (const entry of pod.top) {
    const name = baseName(entry.path)
    if (entry.type !== 'dir' || VOLUMES.has(name) || !walk.mayEnter(entry)) continue
    readLevels(walk, entry, ownValue(LEVELS, name) ?? 0)
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

/** P21. */
const READY = 'ready'

/** Reads only the marker, with its directory: asks for it by its name, and lists the directory only where it is not there. */
function readMarker(walk: TreeWalk, path: string): void {
  const directory: Draft = { path, type: 'dir' }
  if (!walk.hasFile(`${path}/${READY}`) && walk.children(directory).length === 0) return
  walk.emit(directory)
}

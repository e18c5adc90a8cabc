/** Reads a pod's volumes, raw block volumes and sub-paths, as deep as every pod needs. */

import { ownValue } from '../../base/own-value.ts'
import type { ListedEntry } from '../../facts/actual/tree.ts'
import { isOpen, type PodScan } from './pod-directory.ts'
import type { TreeWalk } from './tree-walk.ts'
import { walkContent } from './walk-content.ts'

/** Volumes that an atomic writer fills (volume-plugins 2.5). */
const ATOMIC = new Set([
  'kubernetes.io~configmap',
  'kubernetes.io~secret',
  'kubernetes.io~projected',
  'kubernetes.io~downward-api',
])
/** Volumes on the kubelet's disk that the pod itself writes to. */
const OWN_CONTENT = new Set(['kubernetes.io~empty-dir', 'kubernetes.io~git-repo'])

/** volume-subpaths/VOLUME/CONTAINER/INDEX, volumeDevices/PLUGIN/NAME */
const LEVELS: Readonly<Record<string, number>> = { 'volume-subpaths': 3, volumeDevices: 2 }

export function readPodVolumes(walk: TreeWalk, pod: PodScan): void {
  for (const directory of pod.top) {
    if (!isOpen(walk, directory)) continue
    const { name } = directory
    const levels = ownValue(LEVELS, name)
    if (name === 'volumes') readVolumes(walk, pod, directory)
    else if (levels !== undefined) readLevels(walk, pod, directory, levels)
  }
}

function readVolumes(walk: TreeWalk, pod: PodScan, directory: ListedEntry): void {
  for (const plugin of listed(walk, pod, directory)) {
    if (!isOpen(walk, plugin)) continue
    const { name } = plugin
    const volumes = listed(walk, pod, plugin)
    if (OWN_CONTENT.has(name)) {
      for (const volume of volumes) if (isOpen(walk, volume)) pod.contents.push(volume)
      pod.marked.push({ plugin: name, volumes, isWrapped: false })
    } else if (ATOMIC.has(name)) {
      const open = volumes.filter((volume) => isOpen(walk, volume))
      pod.atomic.push(...open)
      const unmounted = open.filter((volume) => !walk.isMountPoint(volume))
      pod.marked.push({ plugin: 'kubernetes.io~empty-dir', volumes: unmounted, isWrapped: true })
    } else for (const volume of volumes) if (isOpen(walk, volume)) readVolume(walk, pod, volume)
  }
}

function readVolume(walk: TreeWalk, pod: PodScan, volume: ListedEntry): void {
  for (const entry of listed(walk, pod, volume)) {
    if (walk.isStateFile(entry)) walk.stateFile(entry)
    else if (isOpen(walk, entry)) walkContent(walk, walk.absolute(entry.path), entry)
  }
}

function readLevels(walk: TreeWalk, pod: PodScan, directory: ListedEntry, levels: number): void {
  for (const entry of listed(walk, pod, directory)) {
    if (!isOpen(walk, entry)) continue
    if (levels > 1) readLevels(walk, pod, entry, levels - 1)
    else walkContent(walk, walk.absolute(entry.path), entry)
  }
}

/** Children; their attributes are read later, unless the pod is alive. */
function listed(walk: TreeWalk, pod: PodScan, directory: ListedEntry): readonly ListedEntry[] {
  const entries = walk.children(directory)
  pod.listings.push(entries)
  return entries
}

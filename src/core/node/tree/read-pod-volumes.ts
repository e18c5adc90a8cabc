/** Reads a pod's volumes, raw block volumes and sub-paths, as deep as every pod needs. */
import { baseName } from '../../actual/tree.ts'
import { ownValue } from '../../lang/own-value.ts'
import { wrappedName } from '../../plugins/paths.ts'
import type { PodScan } from './pod-directory.ts'
import type { Draft } from './tree-entry.ts'
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
    if (directory.type !== 'dir' || !walk.mayEnter(directory)) continue
    const name = baseName(directory.path)
    const levels = ownValue(LEVELS, name)
    if (name === 'volumes') readVolumes(walk, pod, directory)
    else if (levels !== undefined) readLevels(walk, pod, directory, levels)
  }
}

function readVolumes(walk: TreeWalk, pod: PodScan, directory: Draft): void {
  for (const plugin of listed(walk, pod, directory)) {
    if (plugin.type !== 'dir' || !walk.mayEnter(plugin)) continue
    const name = baseName(plugin.path)
    for (const volume of listed(walk, pod, plugin)) {
      if (volume.type === 'dir' && walk.mayEnter(volume)) readVolume(walk, pod, name, volume)
      else if (OWN_CONTENT.has(name)) pod.marked.push({ plugin: name, meta: baseName(volume.path), mounted: true })
    }
  }
}

function readVolume(walk: TreeWalk, pod: PodScan, plugin: string, volume: Draft): void {
  const name = baseName(volume.path)
  if (OWN_CONTENT.has(plugin)) {
    pod.contents.push(volume)
    pod.marked.push({ plugin, meta: name, mounted: false })
  } else if (ATOMIC.has(plugin)) {
    if (!walk.isMountPoint(volume))
      pod.marked.push({ plugin: 'kubernetes.io~empty-dir', meta: wrappedName(name), mounted: false })
    pod.atomic.push(volume)
  } else {
    for (const entry of listed(walk, pod, volume)) {
      if (walk.isStateFile(entry)) walk.stateFile(entry)
      else if (entry.type === 'dir' && walk.mayEnter(entry)) walkContent(walk, walk.absolute(entry.path), entry)
    }
  }
}

function readLevels(walk: TreeWalk, pod: PodScan, directory: Draft, levels: number): void {
  for (const entry of listed(walk, pod, directory)) {
    if (entry.type !== 'dir' || !walk.mayEnter(entry)) continue
    if (levels > 1) readLevels(walk, pod, entry, levels - 1)
    else walkContent(walk, walk.absolute(entry.path), entry)
  }
}

/** Children; their attributes are read later, unless the pod is alive. */
function listed(walk: TreeWalk, pod: PodScan, directory: Draft): readonly Draft[] {
  const entries = walk.children(directory)
  for (const entry of entries) pod.entries.push(entry)
  return entries
}

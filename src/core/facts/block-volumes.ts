/**
 * Raw block volumes, by their maps below plugins/ and the pods' links.
 * The kubelet never looks below plugins/ after a restart (R517, C82, O8); volctl does.
 */

import { compareText } from '../base/compare-text.ts'
import { undeletedRoot } from '../linux/deleted.ts'
import type { PluginDevice } from '../volumes/plugin.ts'
import { PLUGINS } from '../volumes/registry.ts'
import type { ActualInputs } from './actual/actual-inputs.ts'
import {
  type BlockVolume,
  exists,
  foreignMounts,
  mapDirectoryOnly,
  mapFileOf,
  mappingOf,
  type PodLinks,
  uidsBelow,
} from './actual/block-volume.ts'
import type { TreeEntry } from './actual/snapshot.ts'
import { readStateFile } from './actual/state-file.ts'
import { baseName } from './actual/tree.ts'
import { CSI_PLUGIN } from './actual/volume-names.ts'
import { directoriesBelow } from './global-mounts.ts'

const CSI_BLOCK = `plugins/${CSI_PLUGIN}/volumeDevices`

/** Directories shared by all CSI block volumes; a volume of such a name has its own directory in the same place (C10). */
export const SHARED_DIRECTORIES: readonly string[] = ['staging', 'publish']

/** Every block volume, found by global directories and by the pods' symlinks, sorted. */
export function blockVolumes(inputs: ActualInputs): BlockVolume[] {
  const links = podSymlinks(inputs)
  const volumes: BlockVolume[] = []
  for (const name of csiBlockNames(inputs, links)) volumes.push(csiBlockVolume(inputs, name, links))
  for (const { name: plugin, device } of PLUGINS) {
    if (device?.maps?.namedAfter !== 'volume') continue
    const { base } = device.maps
    for (const name of otherBlockNames(inputs, plugin, base, links)) {
      volumes.push(otherBlockVolume(inputs, plugin, `${base}/${name}`, name, links))
    }
  }
  const named = PLUGINS.flatMap(({ name, device }) =>
    device === undefined ? [] : sessionBlockVolumes(inputs, links, name, device),
  )
  return [...volumes, ...named]
}

/** "plugin/name" to pod UID to the symlink's path. */
function podSymlinks(inputs: ActualInputs): PodLinks {
  const result = new Map<string, Map<string, string>>()
  for (const uid of inputs.tree.childDirs('pods')) {
    const base = `pods/${uid}/volumeDevices`
    if (!inputs.tree.has(base)) continue
    for (const plugin of inputs.tree.childDirs(base)) {
      for (const entry of inputs.tree.children(`${base}/${plugin}`)) {
        const key = `${plugin.replaceAll('~', '/')}/${baseName(entry.path)}`
        const byPod = result.get(key) ?? new Map<string, string>()
        byPod.set(uid, entry.path)
        result.set(key, byPod)
      }
    }
  }
  return result
}

function csiBlockNames(inputs: ActualInputs, links: PodLinks): string[] {
  const { tree } = inputs
  const isVolume = (shared: string): boolean =>
    tree.has(`${CSI_BLOCK}/${shared}/data/vol_data.json`) || links.has(`${CSI_PLUGIN}/${shared}`)
  const collisions = new Set(SHARED_DIRECTORIES.filter(isVolume))
  /** Does publish/data, say, belong to the volume named publish, rather than to the published volume named data? */
  const isPartOf = (shared: string, name: string): boolean =>
    collisions.has(shared) && (name === 'data' || name === 'dev')
  const names = new Set<string>(collisions)
  for (const name of tree.childDirs(CSI_BLOCK)) if (!SHARED_DIRECTORIES.includes(name)) names.add(name)
  for (const shared of SHARED_DIRECTORIES)
    for (const name of tree.childDirs(`${CSI_BLOCK}/${shared}`)) if (!isPartOf(shared, name)) names.add(name)
  for (const mount of inputs.pluginMounts()) {
    const parts = inputs.relative(inputs.plain(mount.mountPoint)).split('/')
    if (parts.slice(0, 4).join('/') !== CSI_BLOCK) continue
    const [, , , , top, below] = parts
    const name = top !== undefined && SHARED_DIRECTORIES.includes(top) ? below : top
    if (name !== undefined && !(top !== undefined && name === below && isPartOf(top, name))) names.add(name)
  }
  for (const key of links.keys()) if (key.startsWith(`${CSI_PLUGIN}/`)) names.add(key.slice(CSI_PLUGIN.length + 1))
  return [...names].toSorted(compareText)
}

function csiBlockVolume(inputs: ActualInputs, name: string, links: PodLinks): BlockVolume {
  const dir = `${CSI_BLOCK}/${name}`
  const mapDir = `${dir}/dev`
  const stagingPath = `${CSI_BLOCK}/staging/${name}`
  const publishDir = `${CSI_BLOCK}/publish/${name}`
  const stateFile = readStateFile(inputs.tree.get(`${dir}/data/vol_data.json`))
  const uids = new Set([
    ...(links.get(`${CSI_PLUGIN}/${name}`)?.keys() ?? []),
    ...uidsBelow(inputs, mapDir),
    ...uidsBelow(inputs, publishDir),
  ])
  const mappings = [...uids].toSorted(compareText).map((podUid) => ({
    podUid,
    symlink: links.get(`${CSI_PLUGIN}/${name}`)?.get(podUid),
    ...mapFileOf(inputs, mapDir, podUid),
    publishPath: exists(inputs, `${publishDir}/${podUid}`) ? `${publishDir}/${podUid}` : undefined,
    publishLayers: inputs.at(`${publishDir}/${podUid}`),
  }))
  const known = new Set<string>([dir, mapDir, `${dir}/data`, stagingPath, publishDir])
  if (stateFile !== undefined) known.add(stateFile.path)
  for (const { podUid } of mappings) known.add(`${mapDir}/${podUid}`).add(`${publishDir}/${podUid}`)
  // A shared directory contains the directories of other volumes.
  const own = SHARED_DIRECTORIES.includes(name) ? [`${dir}/data`, mapDir] : [dir]
  const ours = [...own, publishDir]
  return {
    plugin: CSI_PLUGIN,
    name,
    dir,
    mapDir,
    stateFile,
    stagingPath: exists(inputs, stagingPath) ? stagingPath : undefined,
    publishDir: exists(inputs, publishDir) ? publishDir : undefined,
    mappings,
    foreign: foreignMounts(inputs, ours, known),
    unexpected: ours
      .flatMap((path) => inputs.tree.descendants(path))
      .filter((entry) => !known.has(entry.path) && entry.type !== 'dir'),
    staging: {
      path: stagingPath,
      mounts: inputs.mountsWithin(stagingPath),
      files: inputs.tree.descendants(stagingPath).filter((entry) => entry.type !== 'dir'),
    },
  }
}

function otherBlockNames(inputs: ActualInputs, plugin: string, base: string, links: PodLinks): string[] {
  const names = new Set(inputs.tree.childDirs(base))
  for (const key of links.keys()) if (key.startsWith(`${plugin}/`)) names.add(key.slice(plugin.length + 1))
  return [...names].toSorted(compareText)
}

function otherBlockVolume(
  inputs: ActualInputs,
  plugin: string,
  dir: string,
  name: string,
  links: PodLinks,
): BlockVolume {
  const byPod = links.get(`${plugin}/${name}`)
  const uids = [...(byPod?.keys() ?? []), ...uidsBelow(inputs, dir)]
  return mapped(inputs, mapDirectoryOnly(plugin, dir, name), uids, (uid) => byPod?.get(uid))
}

/**
 * A volume that has only a map directory.
 *
 * @param linkOf a pod's link
 * @param own the kubelet's own file there
 */
function mapped(
  inputs: ActualInputs,
  volume: ReturnType<typeof mapDirectoryOnly>,
  uids: readonly string[],
  linkOf: (uid: string) => string | undefined,
  own?: TreeEntry,
): BlockVolume {
  const { dir } = volume
  const sorted = [...new Set(uids)].toSorted(compareText)
  const known = new Set([dir, ...sorted.map((uid) => `${dir}/${uid}`), ...(own?.type === 'file' ? [own.path] : [])])
  const isUnread = ({ path, error }: TreeEntry): boolean => path === own?.path && error !== undefined
  return {
    ...volume,
    mappings: sorted.map((uid) => mappingOf(inputs, dir, uid, linkOf(uid))),
    foreign: foreignMounts(inputs, [dir], known),
    unexpected: inputs.tree
      .descendants(dir)
      .filter((entry) => (!known.has(entry.path) && entry.type !== 'dir') || isUnread(entry)),
  }
}

// Raw block volumes of plugins whose map directories are named after the device, and the pods' links after the volume, such as iSCSI and FC
// (P79, P83, P84, P104): evidence shows which belong together, not the names.

/** A pod's link to the device: pods/UID/volumeDevices/PLUGIN/NAME. */
interface Link {
  readonly name: string
  readonly podUid: string
  readonly path: string
}

/**
 * Every map directory with the links that lead to its device, then the links without a map directory: such a link is all that
 * is left of a map, or its map is not known, so the link is removed alone.
 */
function sessionBlockVolumes(
  inputs: ActualInputs,
  links: PodLinks,
  plugin: string,
  { maps, record }: PluginDevice,
): BlockVolume[] {
  if (maps?.namedAfter !== 'device') return []
  const unclaimed = new Set(linksOf(links, plugin))
  const mapped = directoriesBelow(inputs.tree, maps.base, maps.depth)
    .toSorted(compareText)
    .map((dir) => mapDirectory(inputs, plugin, dir, record, unclaimed))
  const orphans = [...Map.groupBy(unclaimed, ({ name }) => name)]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([name, own]) => linkOnly(inputs, plugin, `${maps.base}/${name}`, name, own))
  return [...mapped, ...orphans]
}

function linksOf(links: PodLinks, plugin: string): Link[] {
  const prefix = `${plugin}/`
  return [...links].flatMap(([key, byPod]) =>
    key.startsWith(prefix)
      ? [...byPod].map(([podUid, path]) => ({ name: key.slice(prefix.length), podUid, path }))
      : [],
  )
}

/** @param unclaimed links that no map directory has claimed yet */
function mapDirectory(
  inputs: ActualInputs,
  plugin: string,
  dir: string,
  record: PluginDevice['record'],
  unclaimed: Set<Link>,
): BlockVolume {
  const file = record === undefined ? undefined : inputs.tree.get(`${dir}/${record.name}`)
  const volumeName = record?.volumeNameIn(file?.content ?? '{}')
  const linkOf = (podUid: string): string | undefined => {
    const bound = inputs.top(`${dir}/${podUid}`)
    const link = [...unclaimed].find((each) => each.podUid === podUid && leadsTo(inputs, each, bound, volumeName))
    if (link !== undefined) unclaimed.delete(link)
    return link?.path
  }
  return mapped(inputs, mapDirectoryOnly(plugin, dir, baseName(dir)), uidsBelow(inputs, dir), linkOf, file)
}

/** P104: the link's target is the device bound on the map file; without one, the record names the volume (P73). */
function leadsTo(
  inputs: ActualInputs,
  link: Link,
  bound: { readonly fsType: string; readonly root: string } | undefined,
  volumeName: string | undefined,
): boolean {
  if (bound === undefined || bound.fsType !== 'devtmpfs') return link.name === volumeName
  return inputs.tree.get(link.path)?.target === `/dev${undeletedRoot(bound.root)}`
}

function linkOnly(
  inputs: ActualInputs,
  plugin: string,
  dir: string,
  name: string,
  links: readonly Link[],
): BlockVolume {
  return {
    ...mapDirectoryOnly(plugin, dir, name),
    mappings: links
      .toSorted((a, b) => compareText(a.podUid, b.podUid))
      .map(({ podUid, path }) => mappingOf(inputs, dir, podUid, path)),
    foreign: [],
    unexpected: [],
  }
}

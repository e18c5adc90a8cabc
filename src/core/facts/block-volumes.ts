/**
 * Raw block volumes, by their maps below plugins/ and the pods' links.
 * The kubelet never looks below plugins/ after a restart (R517, C82, O8); volctl does.
 */

import { compareText } from '../base/compare-text.ts'
import { isUid } from '../kube/api/names.ts'
import { undeletedRoot } from '../linux/deleted.ts'
import { CSI_BLOCK_DIR } from '../volumes/paths.ts'
import type { PluginDevice } from '../volumes/plugin.ts'
import { PLUGINS } from '../volumes/registry.ts'
import type { ActualInputs } from './actual/actual-inputs.ts'
import { type BlockMapping, type BlockVolume, exists, mapFileOf } from './actual/block-volume.ts'
import type { TreeEntry } from './actual/snapshot.ts'
import { readStateFile } from './actual/state-file.ts'
import { baseName } from './actual/tree.ts'
import { CSI_PLUGIN, unescapeQualifiedName } from './actual/volume-names.ts'
import { directoriesBelow } from './global-mounts.ts'

/** Directories shared by all CSI block volumes; a volume of such a name has its own directory in the same place (C10). */
export const SHARED_DIRECTORIES: readonly string[] = ['staging', 'publish']

/** Every block volume, found by global directories and by the pods' symlinks, sorted. */
export function blockVolumes(inputs: ActualInputs): BlockVolume[] {
  const links = linksOfPods(inputs)
  const devices = PLUGINS.flatMap(({ name, device }) => (device?.maps === undefined ? [] : [{ name, device }]))
  return [
    ...csiVolumes(inputs, links),
    ...devices.flatMap(({ name, device: { maps } }) =>
      maps?.namedAfter === 'volume' ? namedAfterVolume(inputs, links, name, maps.base) : [],
    ),
    ...devices.flatMap(({ name, device: { maps, record } }) =>
      maps?.namedAfter === 'device' ? namedAfterDevice(inputs, links, name, maps, record) : [],
    ),
  ]
}

/** A pod's link to the device: pods/UID/volumeDevices/PLUGIN/NAME. */
interface Link {
  readonly plugin: string
  readonly name: string
  readonly podUid: string
  readonly path: string
}

function linksOfPods({ tree }: ActualInputs): Link[] {
  return tree.childDirs('pods').flatMap((podUid) => {
    const base = `pods/${podUid}/volumeDevices`
    return tree.childDirs(base).flatMap((directory) => {
      const plugin = unescapeQualifiedName(directory)
      return tree.children(`${base}/${directory}`).map(({ path }) => ({ plugin, name: baseName(path), podUid, path }))
    })
  })
}

/** Links to volumes of a plugin, by volume name and UID. */
function byName(links: readonly Link[], of: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const names = Map.groupBy(
    links.filter(({ plugin }) => plugin === of),
    ({ name }) => name,
  )
  return new Map([...names].map(([name, all]) => [name, new Map(all.map(({ podUid, path }) => [podUid, path]))]))
}

const NO_LINK: ReadonlyMap<string, string> = new Map()

function namedAfterVolume(inputs: ActualInputs, links: readonly Link[], plugin: string, base: string): BlockVolume[] {
  const linked = byName(links, plugin)
  return sorted([...inputs.tree.childDirs(base), ...linked.keys()]).map((name) => {
    const byPod = linked.get(name) ?? NO_LINK
    const dir = `${base}/${name}`
    return mapped(inputs, { plugin, name, dir }, [...byPod.keys(), ...uidsBelow(inputs, dir)], (uid) => byPod.get(uid))
  })
}

/**
 * Of plugins whose map directories are named after the device, and the pods' links after the volume, such as iSCSI and FC (P79, P83,
 * P84, P104): evidence shows which belong together, not the names. Every map directory with the links that lead to its device, then
 * the links without a map directory: such a link is all that is left of a map, or its map is not known, so the link is removed alone.
 */
function namedAfterDevice(
  inputs: ActualInputs,
  links: readonly Link[],
  plugin: string,
  { base, depth }: { readonly base: string; readonly depth: number },
  record: PluginDevice['record'],
): BlockVolume[] {
  const unclaimed = new Set(links.filter((link) => link.plugin === plugin))
  const volumes = sorted(directoriesBelow(inputs.tree, base, depth)).map((dir) => {
    const file = record && inputs.tree.get(`${dir}/${record.name}`)
    const volumeName = record?.volumeNameIn(file?.content ?? '{}')
    const linkOf = (podUid: string): string | undefined => {
      const link = [...unclaimed].find((each) => each.podUid === podUid && leadsTo(inputs, each, dir, volumeName))
      if (link !== undefined) unclaimed.delete(link)
      return link?.path
    }
    return mapped(inputs, { plugin, name: baseName(dir), dir }, uidsBelow(inputs, dir), linkOf, file)
  })
  const left = byName([...unclaimed], plugin)
  const orphans = sorted(left.keys()).map((name) => {
    const dir = `${base}/${name}`
    const mappings = [...(left.get(name) ?? NO_LINK)]
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([podUid, path]) => mappingOf(inputs, dir, podUid, path))
    return { ...MAP_ALONE, plugin, name, dir, mapDir: dir, mappings, foreign: [], unexpected: [] }
  })
  return [...volumes, ...orphans]
}

/** P104: the link's target is the device bound on the map file; without one, the record names the volume (P73). */
function leadsTo(
  inputs: ActualInputs,
  { podUid, name, path }: Link,
  dir: string,
  volumeName: string | undefined,
): boolean {
  const bound = inputs.top(`${dir}/${podUid}`)
  if (bound?.fsType !== 'devtmpfs') return name === volumeName
  return inputs.tree.get(path)?.target === `/dev${undeletedRoot(bound.root)}`
}

function csiVolumes(inputs: ActualInputs, links: readonly Link[]): BlockVolume[] {
  const linked = byName(links, CSI_PLUGIN)
  return csiNames(inputs, linked).map((name) => csiVolume(inputs, name, linked.get(name) ?? NO_LINK))
}

function csiNames(inputs: ActualInputs, linked: ReadonlyMap<string, unknown>): string[] {
  const { tree } = inputs
  const collisions = SHARED_DIRECTORIES.filter(
    (shared) => tree.has(`${CSI_BLOCK_DIR}/${shared}/data/vol_data.json`) || linked.has(shared),
  )
  const names = new Set([...linked.keys(), ...collisions])
  const note = (top: string, below: string | undefined): void => {
    if (!SHARED_DIRECTORIES.includes(top)) names.add(top)
    // publish/data, say, may belong to the volume named publish, rather than to the published volume named data.
    else if (below !== undefined && !(collisions.includes(top) && (below === 'data' || below === 'dev')))
      names.add(below)
  }
  for (const top of tree.childDirs(CSI_BLOCK_DIR)) note(top, undefined)
  for (const top of SHARED_DIRECTORIES) for (const below of tree.childDirs(`${CSI_BLOCK_DIR}/${top}`)) note(top, below)
  for (const mount of inputs.pluginMounts()) {
    const path = inputs.relative(inputs.plain(mount.mountPoint))
    if (!path.startsWith(`${CSI_BLOCK_DIR}/`)) continue
    const [top = '', below] = path.slice(CSI_BLOCK_DIR.length + 1).split('/')
    note(top, below)
  }
  return sorted(names)
}

function csiVolume(inputs: ActualInputs, name: string, byPod: ReadonlyMap<string, string>): BlockVolume {
  const dir = `${CSI_BLOCK_DIR}/${name}`
  const mapDir = `${dir}/dev`
  const stagingPath = `${CSI_BLOCK_DIR}/staging/${name}`
  const publishDir = `${CSI_BLOCK_DIR}/publish/${name}`
  const stateFile = readStateFile(inputs.tree.get(`${dir}/data/vol_data.json`))
  const uids = sorted([...byPod.keys(), ...uidsBelow(inputs, mapDir), ...uidsBelow(inputs, publishDir)])
  const mappings = uids.map((podUid) => ({
    ...mappingOf(inputs, mapDir, podUid, byPod.get(podUid)),
    publishPath: existing(inputs, `${publishDir}/${podUid}`),
    publishLayers: inputs.at(`${publishDir}/${podUid}`),
  }))
  const known = [dir, mapDir, `${dir}/data`, stagingPath, publishDir, ...(stateFile ? [stateFile.path] : [])]
  for (const uid of uids) known.push(`${mapDir}/${uid}`, `${publishDir}/${uid}`)
  // A shared directory contains the directories of other volumes.
  const own = SHARED_DIRECTORIES.includes(name) ? [`${dir}/data`, mapDir] : [dir]
  return {
    plugin: CSI_PLUGIN,
    name,
    dir,
    mapDir,
    stateFile,
    stagingPath: existing(inputs, stagingPath),
    publishDir: existing(inputs, publishDir),
    mappings,
    ...others(inputs, [...own, publishDir], known),
    staging: {
      path: stagingPath,
      mounts: inputs.mountsWithin(stagingPath),
      files: inputs.tree.descendants(stagingPath).filter(({ type }) => type !== 'dir'),
    },
  }
}

function existing(inputs: ActualInputs, path: string): string | undefined {
  return exists(inputs, path) ? path : undefined
}

/** No driver, and no state file of one. */
const MAP_ALONE = { stateFile: undefined, stagingPath: undefined, publishDir: undefined } as const

/** A volume that has only a map directory. @param own the kubelet's own file there */
function mapped(
  inputs: ActualInputs,
  volume: Pick<BlockVolume, 'plugin' | 'name' | 'dir'>,
  podUids: readonly string[],
  linkOf: (podUid: string) => string | undefined,
  own?: TreeEntry,
): BlockVolume {
  const { dir } = volume
  const uids = sorted(podUids)
  const known = [dir, ...uids.map((uid) => `${dir}/${uid}`)]
  if (own?.type === 'file' && own.error === undefined) known.push(own.path)
  const mappings = uids.map((uid) => mappingOf(inputs, dir, uid, linkOf(uid)))
  return { ...MAP_ALONE, ...volume, mapDir: dir, mappings, ...others(inputs, [dir], known) }
}

/** A pod's link and its map file; nothing is published. */
function mappingOf(inputs: ActualInputs, mapDir: string, podUid: string, symlink: string | undefined): BlockMapping {
  return { podUid, symlink, ...mapFileOf(inputs, mapDir, podUid), publishPath: undefined, publishLayers: [] }
}

/** UIDs of pods that have a file or a mount in a map directory; any other name there is no map. */
function uidsBelow(inputs: ActualInputs, dir: string): string[] {
  const { tree } = inputs
  const mounted = inputs.mountsWithin(dir).map((mount) => inputs.relative(inputs.plain(mount.mountPoint)))
  const files = tree.children(dir).filter(({ type }) => type !== 'dir')
  return [...files.map(({ path }) => path), ...mounted]
    .filter((path) => path.startsWith(`${dir}/`))
    .map((path) => path.slice(dir.length + 1))
    .filter((name) => isUid(name.toLowerCase()) || tree.isDir(`pods/${name}`))
}

/** Mounts and files in these directories that the kubelet did not make, and what could not be read. */
function others(
  inputs: ActualInputs,
  dirs: readonly string[],
  known: readonly string[],
): Pick<BlockVolume, 'foreign' | 'unexpected'> {
  return {
    foreign: dirs
      .flatMap((dir) => inputs.mountsWithin(dir))
      .filter(({ mountPoint }) => !known.includes(inputs.relative(inputs.plain(mountPoint))))
      .toSorted((a, b) => a.index - b.index),
    unexpected: dirs
      .flatMap((dir) => inputs.tree.descendants(dir))
      .filter(({ path, type, error }) => !known.includes(path) && (type !== 'dir' || error !== undefined)),
  }
}

/** Each once. */
function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].toSorted(compareText)
}

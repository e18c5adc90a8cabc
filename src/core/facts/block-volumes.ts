/**
 * Raw block volumes, by their maps below plugins/ and the pods' links.
 * The kubelet never looks below plugins/ after a restart (R517, C82, O8); volctl does.
 */

import { compareText, present } from '../base/text.ts'
import { isUid } from '../kube/api/names.ts'
import { undeletedRoot } from '../linux/paths.ts'
import { CSI_BLOCK_DIR } from '../volumes/desired-state.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import { type BlockVolume, existing, mapFileOf } from '../volumes/on-disk/block-volume.ts'
import { baseName, parentOf } from '../volumes/on-disk/tree.ts'
import type { PluginDevice } from '../volumes/plugin.ts'
import { PLUGINS } from '../volumes/registry.ts'
import { CSI_PLUGIN, unescapeQualifiedName } from '../volumes/volume-names.ts'

/** Directories shared by all CSI block volumes; a volume of such a name has its own directory in the same place (C10). */
const SHARED_DIRECTORIES: readonly string[] = ['staging', 'publish']

/** Every block volume, found by global directories and by the pods' symlinks, sorted. */
export function blockVolumes(inputs: ActualInputs): BlockVolume[] {
  const links = Map.groupBy(linksOfPods(inputs), ({ plugin }) => plugin)
  const mapped = PLUGINS.flatMap(({ name: plugin, device: { maps, record } = {} }): Mapped | [] =>
    maps === undefined ? [] : { plugin, ...maps, record, links: links.get(plugin) ?? [] },
  )
  const { volume = [], device = [] } = Object.groupBy(mapped, ({ namedAfter }) => namedAfter)
  return [
    ...csiVolumes(inputs, links.get(CSI_PLUGIN) ?? []),
    ...volume.flatMap((each) => namedAfterVolume(inputs, each)),
    ...device.flatMap((each) => namedAfterDevice(inputs, each)),
  ]
}

/** A plugin whose maps are of one form. */
interface Mapped extends NonNullable<PluginDevice['maps']> {
  readonly plugin: string
  readonly record: PluginDevice['record']
  readonly links: readonly Link[]
}

/** A pod's link to the device: pods/UID/volumeDevices/PLUGIN/NAME. */
interface Link {
  readonly plugin: string
  readonly name: string
  readonly podUid: string
  readonly path: string
}

function linksOfPods({ tree }: ActualInputs): Link[] {
  return tree.childDirs('pods').flatMap((podUid) =>
    tree.grandchildren(`pods/${podUid}/volumeDevices`).map((path) => {
      const plugin = unescapeQualifiedName(baseName(parentOf(path)))
      return { plugin, name: baseName(path), podUid, path }
    }),
  )
}

function byName(links: Iterable<Link>): ReadonlyMap<string, readonly Link[]> {
  return Map.groupBy(links, ({ name }) => name)
}

function namedAfterVolume(inputs: ActualInputs, { plugin, base, links }: Mapped): BlockVolume[] {
  const linked = byName(links)
  return sorted([...inputs.tree.childDirs(base), ...linked.keys()]).map((name) =>
    blockVolume(inputs, { plugin, name, dir: `${base}/${name}` }, linked.get(name)),
  )
}

/**
 * Of plugins whose map directories are named after the device, and the pods' links after the volume, such as iSCSI and FC (P79, P83,
 * P84, P104): evidence shows which belong together, not the names. Every map directory with the links that lead to its device, then
 * the links without a map directory: such a link is all that is left of a map, or its map is not known, so the link is removed alone.
 */
function namedAfterDevice(inputs: ActualInputs, { plugin, base, depth, record, links }: Mapped): BlockVolume[] {
  const unclaimed = new Set(links)
  const volumes = sorted(inputs.tree.directoriesBelow(base, depth)).map((dir) => {
    const file = record && inputs.tree.get(`${dir}/${record.name}`)
    const volumeName = record?.volumeNameIn(file?.content ?? '{}')
    const own = sorted(uidsBelow(inputs, dir)).flatMap((podUid) => {
      const link = [...unclaimed].find((each) => each.podUid === podUid && leadsTo(inputs, each, dir, volumeName))
      return link !== undefined && unclaimed.delete(link) ? link : []
    })
    const isOwn = file?.type === 'file' && file.error === undefined
    return blockVolume(inputs, { plugin, name: baseName(dir), dir, known: isOwn ? [file.path] : [] }, own)
  })
  const orphans = byName(unclaimed)
  return [
    ...volumes,
    ...sorted(orphans.keys()).map((name) =>
      blockVolume(inputs, { plugin, name, dir: `${base}/${name}`, dirs: [] }, orphans.get(name)),
    ),
  ]
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
  const linked = byName(links)
  return csiNames(inputs, linked).map((name) => csiVolume(inputs, name, linked.get(name)))
}

function csiNames(inputs: ActualInputs, linked: ReadonlyMap<string, unknown>): string[] {
  const { tree } = inputs
  const collisions = SHARED_DIRECTORIES.filter(
    (shared) => tree.has(`${CSI_BLOCK_DIR}/${shared}/data/vol_data.json`) || linked.has(shared),
  )
  const namesIn = (directory: string): string[] => [
    ...tree.childDirs(directory),
    ...Array.from(inputs.mountedAt(directory, 1).keys(), baseName),
  ]
  return sorted([
    ...[...linked.keys(), ...collisions],
    ...namesIn(CSI_BLOCK_DIR).filter((name) => !SHARED_DIRECTORIES.includes(name)),
    ...SHARED_DIRECTORIES.flatMap((shared) => {
      const names = namesIn(`${CSI_BLOCK_DIR}/${shared}`)
      // publish/data, say, may belong to the volume named publish, rather than to the published volume named data.
      return collisions.includes(shared) ? names.filter((name) => name !== 'data' && name !== 'dev') : names
    }),
  ])
}

function csiVolume(inputs: ActualInputs, name: string, links: readonly Link[] | undefined): BlockVolume {
  const dir = `${CSI_BLOCK_DIR}/${name}`
  const mapDir = `${dir}/dev`
  const stagingPath = `${CSI_BLOCK_DIR}/staging/${name}`
  const publishDir = `${CSI_BLOCK_DIR}/publish/${name}`
  const stateFile = inputs.tree.stateFile(`${dir}/data/vol_data.json`)
  const known = present(`${dir}/data`, stagingPath, publishDir, stateFile?.path)
  // A shared directory contains the directories of other volumes.
  const own = SHARED_DIRECTORIES.includes(name) ? [`${dir}/data`, mapDir] : [dir]
  const places = { plugin: CSI_PLUGIN, name, dir, mapDir, publishDir, known, dirs: [...own, publishDir] }
  return {
    ...blockVolume(inputs, places, links),
    own,
    stateFile,
    stagingPath: existing(inputs, stagingPath),
    publishDir: existing(inputs, publishDir),
    staging: {
      path: stagingPath,
      mounts: inputs.mountsWithin(stagingPath),
      files: inputs.tree.descendants(stagingPath).filter(({ type }) => type !== 'dir'),
    },
  }
}

interface Places extends Pick<BlockVolume, 'plugin' | 'name' | 'dir'> {
  /** Absent: the directory. */
  readonly mapDir?: string
  readonly publishDir?: string
  /** What else the kubelet makes there. */
  readonly known?: readonly string[]
  /** In which whatever else lies there is none of the kubelet's; absent: the directory; none: only links are left. */
  readonly dirs?: readonly string[]
}

function blockVolume(
  inputs: ActualInputs,
  { plugin, name, dir, mapDir = dir, publishDir, known: more = [], dirs = [dir] }: Places,
  links: readonly Link[] = [],
): BlockVolume {
  const known = new Set([dir, mapDir, ...more])
  const linkOf = new Map(links.map(({ podUid, path }) => [podUid, path]))
  const mapped = dirs.length === 0 ? [] : present(mapDir, publishDir)
  const uids = [...linkOf.keys(), ...mapped.flatMap((each) => uidsBelow(inputs, each))]
  const mappings = sorted(uids).map((podUid) => {
    const published = publishDir === undefined ? undefined : `${publishDir}/${podUid}`
    known.add(`${mapDir}/${podUid}`).add(published ?? dir)
    return {
      podUid,
      symlink: linkOf.get(podUid),
      ...mapFileOf(inputs, `${mapDir}/${podUid}`),
      publishPath: published && existing(inputs, published),
      publishLayers: published === undefined ? [] : inputs.at(published),
    }
  })
  return {
    ...{ plugin, name, dir, own: [dir], mapDir, mappings, staging: { path: dir, mounts: [], files: [] } },
    foreign: dirs
      .flatMap((each) => inputs.mountsWithin(each))
      .filter((mount) => !known.has(inputs.pathOf(mount)))
      .toSorted((a, b) => a.index - b.index),
    unexpected: dirs
      .flatMap((each) => inputs.tree.descendants(each))
      .filter(({ path, type, error }) => !known.has(path) && (type !== 'dir' || error !== undefined)),
  }
}

/** UIDs of pods that have a file or a mount in a map directory; any other name there is no map. */
function uidsBelow(inputs: ActualInputs, dir: string): string[] {
  const { tree } = inputs
  const mounted = inputs.mountsWithin(dir).map((mount) => inputs.pathOf(mount))
  const files = tree.children(dir).filter(({ type }) => type !== 'dir')
  return [...files.map(({ path }) => path), ...mounted]
    .filter((path) => path.startsWith(`${dir}/`))
    .map((path) => path.slice(dir.length + 1))
    .filter((name) => isUid(name.toLowerCase()) || tree.isDir(`pods/${name}`))
}

/** Each once. */
function sorted(names: Iterable<string>): string[] {
  return [...new Set(names)].toSorted(compareText)
}

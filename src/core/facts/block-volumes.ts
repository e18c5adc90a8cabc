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
  const blocks = new Blocks(inputs)
  const devices = PLUGINS.flatMap(({ name, device }) => (device?.maps === undefined ? [] : [{ name, device }]))
  return [
    ...blocks.ofCsi(),
    ...devices.flatMap(({ name, device: { maps } }) =>
      maps?.namedAfter === 'volume' ? blocks.namedAfterVolume(name, maps.base) : [],
    ),
    ...devices.flatMap(({ name, device }) =>
      device.maps?.namedAfter === 'device' ? blocks.namedAfterDevice(name, device.maps, device.record) : [],
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

type LinkOf = (podUid: string) => string | undefined

class Blocks {
  readonly #inputs: ActualInputs
  readonly #byPlugin: ReadonlyMap<string, readonly Link[]>
  readonly #byVolume: ReadonlyMap<string, readonly Link[]>

  constructor(inputs: ActualInputs) {
    const { tree } = inputs
    const links = tree.childDirs('pods').flatMap((podUid) => {
      const base = `pods/${podUid}/volumeDevices`
      return tree.childDirs(base).flatMap((plugin) =>
        tree.children(`${base}/${plugin}`).map(({ path }): Link => {
          return { plugin: unescapeQualifiedName(plugin), name: baseName(path), podUid, path }
        }),
      )
    })
    this.#inputs = inputs
    this.#byPlugin = Map.groupBy(links, ({ plugin }) => plugin)
    this.#byVolume = Map.groupBy(links, ({ plugin, name }) => `${plugin}/${name}`)
  }

  ofCsi(): BlockVolume[] {
    return this.#csiNames().map((name) => this.#csiVolume(name))
  }

  namedAfterVolume(plugin: string, base: string): BlockVolume[] {
    const names = new Set([...this.#inputs.tree.childDirs(base), ...this.#linked(plugin).map(({ name }) => name)])
    return [...names].toSorted(compareText).map((name) => {
      const byPod = this.#linksTo(plugin, name)
      const dir = `${base}/${name}`
      return this.#mapped(plugin, dir, name, [...byPod.keys(), ...this.#uidsBelow(dir)], (uid) => byPod.get(uid))
    })
  }

  /**
   * Of plugins whose map directories are named after the device, and the pods' links after the volume, such as iSCSI and FC (P79, P83,
   * P84, P104): evidence shows which belong together, not the names. Every map directory with the links that lead to its device, then
   * the links without a map directory: such a link is all that is left of a map, or its map is not known, so the link is removed alone.
   */
  namedAfterDevice(
    plugin: string,
    { base, depth }: { readonly base: string; readonly depth: number },
    record: PluginDevice['record'],
  ): BlockVolume[] {
    const { tree } = this.#inputs
    const unclaimed = new Set(this.#linked(plugin))
    const mapped = directoriesBelow(tree, base, depth)
      .toSorted(compareText)
      .map((dir) => {
        const file = record === undefined ? undefined : tree.get(`${dir}/${record.name}`)
        const volumeName = record?.volumeNameIn(file?.content ?? '{}')
        const linkOf: LinkOf = (podUid) => {
          const link = [...unclaimed].find((each) => each.podUid === podUid && this.#leadsTo(each, dir, volumeName))
          if (link !== undefined) unclaimed.delete(link)
          return link?.path
        }
        return this.#mapped(plugin, dir, baseName(dir), this.#uidsBelow(dir), linkOf, file)
      })
    const orphans = [...Map.groupBy(unclaimed, ({ name }) => name)]
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([name, links]) => {
        const dir = `${base}/${name}`
        const mappings = links
          .toSorted((a, b) => compareText(a.podUid, b.podUid))
          .map(({ podUid, path }) => this.#mapping(dir, podUid, path))
        return { ...mapDirectory(plugin, dir, name), mappings, foreign: [], unexpected: [] }
      })
    return [...mapped, ...orphans]
  }

  #linked(plugin: string): readonly Link[] {
    return this.#byPlugin.get(plugin) ?? []
  }

  /** The pods' links to a volume, by UID. */
  #linksTo(plugin: string, name: string): ReadonlyMap<string, string> {
    return new Map((this.#byVolume.get(`${plugin}/${name}`) ?? []).map(({ podUid, path }) => [podUid, path]))
  }

  #csiNames(): string[] {
    const { tree } = this.#inputs
    const isVolume = (shared: string): boolean =>
      tree.has(`${CSI_BLOCK_DIR}/${shared}/data/vol_data.json`) || this.#byVolume.has(`${CSI_PLUGIN}/${shared}`)
    const collisions = new Set(SHARED_DIRECTORIES.filter(isVolume))
    /** Does publish/data, say, belong to the volume named publish, rather than to the published volume named data? */
    const isPartOf = (shared: string, name: string): boolean =>
      collisions.has(shared) && (name === 'data' || name === 'dev')
    const names = new Set<string>(collisions)
    const note = (top: string | undefined, below: string | undefined): void => {
      const isShared = top !== undefined && SHARED_DIRECTORIES.includes(top)
      const name = isShared ? below : top
      if (name !== undefined && !(isShared && isPartOf(top, name))) names.add(name)
    }
    for (const top of tree.childDirs(CSI_BLOCK_DIR)) note(top, undefined)
    for (const top of SHARED_DIRECTORIES)
      for (const below of tree.childDirs(`${CSI_BLOCK_DIR}/${top}`)) note(top, below)
    for (const mount of this.#inputs.pluginMounts()) {
      const path = this.#inputs.relative(this.#inputs.plain(mount.mountPoint))
      if (!path.startsWith(`${CSI_BLOCK_DIR}/`)) continue
      const [top, below] = path.slice(CSI_BLOCK_DIR.length + 1).split('/')
      note(top, below)
    }
    for (const { name } of this.#linked(CSI_PLUGIN)) names.add(name)
    return [...names].toSorted(compareText)
  }

  #csiVolume(name: string): BlockVolume {
    const inputs = this.#inputs
    const dir = `${CSI_BLOCK_DIR}/${name}`
    const mapDir = `${dir}/dev`
    const stagingPath = `${CSI_BLOCK_DIR}/staging/${name}`
    const publishDir = `${CSI_BLOCK_DIR}/publish/${name}`
    const stateFile = readStateFile(inputs.tree.get(`${dir}/data/vol_data.json`))
    const byPod = this.#linksTo(CSI_PLUGIN, name)
    const uids = new Set([...byPod.keys(), ...this.#uidsBelow(mapDir), ...this.#uidsBelow(publishDir)])
    const mappings = [...uids].toSorted(compareText).map((podUid) => ({
      ...this.#mapping(mapDir, podUid, byPod.get(podUid)),
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
      ...this.#others(ours, known),
      staging: {
        path: stagingPath,
        mounts: inputs.mountsWithin(stagingPath),
        files: inputs.tree.descendants(stagingPath).filter((entry) => entry.type !== 'dir'),
      },
    }
  }

  /** A volume that has only a map directory. @param own the kubelet's own file there */
  #mapped(
    plugin: string,
    dir: string,
    name: string,
    uids: readonly string[],
    linkOf: LinkOf,
    own?: TreeEntry,
  ): BlockVolume {
    const sorted = [...new Set(uids)].toSorted(compareText)
    const known = new Set([
      dir,
      ...sorted.map((uid) => `${dir}/${uid}`),
      ...(own?.type === 'file' && own.error === undefined ? [own.path] : []),
    ])
    return {
      ...mapDirectory(plugin, dir, name),
      mappings: sorted.map((uid) => this.#mapping(dir, uid, linkOf(uid))),
      ...this.#others([dir], known),
    }
  }

  /** A pod's link and its map file; nothing is published. */
  #mapping(mapDir: string, podUid: string, symlink: string | undefined): BlockMapping {
    const mapFile = mapFileOf(this.#inputs, mapDir, podUid)
    return { podUid, symlink, ...mapFile, publishPath: undefined, publishLayers: [] }
  }

  /** P104: the link's target is the device bound on the map file; without one, the record names the volume (P73). */
  #leadsTo({ podUid, name, path }: Link, dir: string, volumeName: string | undefined): boolean {
    const bound = this.#inputs.top(`${dir}/${podUid}`)
    if (bound?.fsType !== 'devtmpfs') return name === volumeName
    return this.#inputs.tree.get(path)?.target === `/dev${undeletedRoot(bound.root)}`
  }

  /** UIDs of pods that have a file or a mount in a map directory; any other name there is no map. */
  #uidsBelow(dir: string): string[] {
    const { tree } = this.#inputs
    const prefix = `${this.#inputs.absolute(dir)}/`
    const mounted = this.#inputs
      .mountsWithin(dir)
      .map((mount) => this.#inputs.plain(mount.mountPoint))
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
    const files = tree.children(dir).filter((entry) => entry.type !== 'dir')
    return [...files.map((entry) => baseName(entry.path)), ...mounted].filter(
      (name) => isUid(name.toLowerCase()) || tree.isDir(`pods/${name}`),
    )
  }

  /** Mounts and files in these directories that the kubelet did not make, and what could not be read. */
  #others(dirs: readonly string[], known: ReadonlySet<string>): Pick<BlockVolume, 'foreign' | 'unexpected'> {
    const { tree } = this.#inputs
    return {
      foreign: dirs
        .flatMap((dir) => this.#inputs.mountsWithin(dir))
        .filter((mount) => !known.has(this.#inputs.relative(this.#inputs.plain(mount.mountPoint))))
        .toSorted((a, b) => a.index - b.index),
      unexpected: dirs
        .flatMap((dir) => tree.descendants(dir))
        .filter(({ path, type, error }) => !known.has(path) && (type !== 'dir' || error !== undefined)),
    }
  }
}

/** Without driver and state file. */
function mapDirectory(plugin: string, dir: string, name: string) {
  return { plugin, name, dir, mapDir: dir, stateFile: undefined, stagingPath: undefined, publishDir: undefined }
}

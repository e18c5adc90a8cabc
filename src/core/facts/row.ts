/** One volume on one node: who wants it, where it is, what is reported of it. Made once, before the pass; never changed. */

import { append } from '../base/append.ts'
import { lazy } from '../base/memoize.ts'
import type { PersistentVolume, VolumeAttachment } from '../kube/api/objects.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { PodUid, RowKey } from '../plan/subject.ts'
import type { UnresolvedVolume, VolumeToMount } from '../volumes/desired-state.ts'
import { csiPodDir } from '../volumes/paths.ts'
import { pluginNamed } from '../volumes/registry.ts'
import type { BlockMapping, BlockVolume } from './actual/block-volume.ts'
import type { PodVolume, SubPaths } from './actual/pod-volumes.ts'
import type { StagedVolume } from './actual/staged-volumes.ts'
import { CSI_PLUGIN, csiUniqueName, unescapeQualifiedName } from './actual/volume-names.ts'
import { SHARED_DIRECTORIES } from './block-volumes.ts'
import type { GlobalMount } from './global-mounts.ts'
import type { CsiIdentity } from './sources.ts'

/** A map of a block volume, and the pods' part of it. */
export interface Mapped {
  readonly block: BlockVolume
  readonly mappings: readonly BlockMapping[]
}

/** Mounted sub-paths of a volume without its own directory: a hostPath's, or one whose directory is gone (O17, O18). */
interface Leaked {
  readonly podUid: string
  readonly subPaths: SubPaths
}

/** A row, once all is noted. */
export type VolumeRow = {
  readonly [Key in keyof GrowingRow]: GrowingRow[Key] extends (infer Each)[] ? readonly Each[] : GrowingRow[Key]
}

/** A row in the making; what is asked of it again and again is worked out with the first question, once all is noted. */
export class GrowingRow {
  readonly key: RowKey
  /** What the planner calls it, where it has a name for it. */
  readonly uniqueName: string | undefined
  identity: CsiIdentity | undefined
  /** Why driver and handle are not known, though there is a CSI volume. */
  unidentified: string | undefined
  /** Of pods that are meant to run. */
  readonly wanted: VolumeToMount[] = []
  /** Of pods in the API that are not. */
  readonly ended: VolumeToMount[] = []
  readonly unresolved: UnresolvedVolume[] = []
  readonly onDisk: PodVolume[] = []
  readonly leaked: Leaked[] = []
  readonly staged: StagedVolume[] = []
  readonly maps: Mapped[] = []
  readonly globals: GlobalMount[] = []
  attachment: VolumeAttachment | undefined
  persistentVolume: PersistentVolume | undefined
  readonly #podUids = lazy(
    () =>
      new Set([...[...this.wanted, ...this.ended, ...this.unresolved].map(({ podUid }) => podUid), ...this.havingUids]),
  )
  readonly #havingUids = lazy(
    () =>
      new Set([
        ...[...this.onDisk, ...this.leaked].map(({ podUid }) => podUid),
        ...this.maps.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)),
      ]),
  )
  readonly #names = lazy(() => new Set(namesOf(this).filter((name) => name !== undefined && name !== '') as string[]))
  readonly #directories = lazy(() => [...new Set(placesOf(this).map(({ path }) => path))])
  readonly #mounts = lazy(() => mountsOf(this))

  constructor(key: RowKey, uniqueName: string | undefined) {
    this.key = key
    this.uniqueName = uniqueName
  }

  /** Of all pods that want it, or have something of it. */
  get podUids(): ReadonlySet<string> {
    return this.#podUids()
  }

  /** Of pods that have something of it on disk or mounted. */
  get havingUids(): ReadonlySet<string> {
    return this.#havingUids()
  }

  /** Names under which it goes on this node and in the API, the volume's own as well as pods' names for it. */
  get names(): ReadonlySet<string> {
    return this.#names()
  }

  /** Its directories and files, relative to the root directory; of pods' volumes the directory with all that is in it. */
  get directories(): readonly string[] {
    return this.#directories()
  }

  /** Every mount that is its own. */
  get mounts(): readonly MountInfo[] {
    return this.#mounts()
  }
}

/** Its unique name, also where only its identity gives it. */
export function uniqueNameOfRow({ uniqueName, identity }: VolumeRow): string | undefined {
  return uniqueName ?? (identity && csiUniqueName(identity.driver, identity.handle))
}

function namesOf(row: VolumeRow): (string | undefined)[] {
  const { uniqueName, identity, persistentVolume, wanted, ended, unresolved, onDisk, leaked, globals, staged, maps } =
    row
  return [
    uniqueName,
    identity?.handle,
    persistentVolume?.metadata.name,
    ...[...wanted, ...ended].flatMap(({ specName, handle, podVolumeNames }) => [specName, handle, ...podVolumeNames]),
    ...unresolved.flatMap(({ podVolumeName, persistentVolumeName }) => [podVolumeName, persistentVolumeName]),
    ...[...onDisk, ...globals].map(({ name }) => name),
    ...onDisk.map(({ name }) => unescapeQualifiedName(name)),
    ...leaked.map(({ subPaths }) => subPaths.volumeName),
    ...staged.map(({ key }) => key),
    ...maps.map(({ block }) => block.name),
  ]
}

/** A directory or a file of a volume. */
interface Place {
  /** Relative to the root directory. */
  readonly path: string
  /** Of this pod's part of the volume; absent: of the node's. */
  readonly pod?: string
}

export function placesOf({ onDisk, wanted, ended, leaked, staged, globals, maps }: VolumeRow): Place[] {
  return [
    ...onDisk.flatMap((volume) => pathsOnDisk(volume).map((path) => ({ path, pod: volume.podUid }))),
    ...[...wanted, ...ended].map((volume) => ({ path: podDirOf(volume), pod: volume.podUid })),
    ...leaked.map(({ podUid, subPaths }) => ({ path: subPaths.dir, pod: podUid })),
    ...staged.map(({ dir }) => ({ path: dir })),
    ...globals.map(({ path }) => ({ path })),
    ...maps.flatMap(({ block, mappings }) => [
      ...pathsOfBlock(block).map((path) => ({ path })),
      ...mappings.flatMap(({ podUid, symlink, mapFile, publishPath }) =>
        [symlink, mapFile, publishPath].flatMap((path) => (path === undefined ? [] : { path, pod: podUid })),
      ),
    ]),
  ]
}

function mountsOf({ onDisk, leaked, staged, globals, maps }: VolumeRow): MountInfo[] {
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked.map((each) => each.subPaths)]
  return [
    ...[...onDisk, ...staged, ...globals].flatMap(({ layers }) => layers),
    ...subPaths.flatMap(({ leaves }) => leaves.flatMap(({ layers }) => layers)),
    ...maps.flatMap(({ block, mappings }) => [
      ...(block.staging?.mounts ?? []),
      ...mappings.flatMap(({ mapLayers, publishLayers }) => [...mapLayers, ...publishLayers]),
    ]),
  ]
}

/** A pod's volume and what belongs to it outside its directory. */
function pathsOnDisk({ dir, markers, subPaths }: PodVolume): string[] {
  return [dir, ...markers, ...(subPaths === undefined ? [] : [subPaths.dir])]
}

/** The node's part of a block volume. One with the name of a directory that all share is in that directory, beside the others. */
function pathsOfBlock({ plugin, name, dir, mapDir, stagingPath, publishDir }: BlockVolume): string[] {
  const isShared = plugin === CSI_PLUGIN && SHARED_DIRECTORIES.includes(name)
  const own = isShared ? [mapDir, `${dir}/data`] : [dir]
  return [...own, ...[stagingPath, publishDir].filter((path) => path !== undefined)]
}

/** The volume's directory, of a raw block volume the pod's link. */
export function podDirOf(volume: VolumeToMount): string {
  return volume.plugin === CSI_PLUGIN && volume.mode === 'Filesystem'
    ? csiPodDir(volume)
    : pluginNamed(volume.plugin).podPath(volume)
}

// Which volume's a path is, by the nearest one above it that is a volume's own.

/** A volume, or one pod's part of it. */
export interface Part {
  readonly row: RowKey
  readonly pod?: PodUid
}

/** By path, relative to the root directory. */
export function partsByPath(rows: readonly VolumeRow[]): ReadonlyMap<string, readonly Part[]> {
  const index = new Map<string, Part[]>()
  for (const row of rows)
    for (const { path, ...pod } of placesOf(row)) {
      if (index.get(path)?.some((each) => each.row === row.key && each.pod === pod.pod)) continue
      append(index, path, { row: row.key, ...pod })
    }
  return index
}

/** Of paths that are plain already: each is compared with each. */
export function liesIn(path: string, directory: string): boolean {
  if (directory === '.') return true
  return path.startsWith(directory) && (path.length === directory.length || path[directory.length] === '/')
}

export function meets(a: string, b: string): boolean {
  return liesIn(a, b) || liesIn(b, a)
}

/** One volume on one node: who wants it, where it is, what is reported of it. Made once, before the pass; never changed. */

import type { BlockMapping, BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import type { UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import { SHARED_DIRECTORIES } from '../devices/block-volumes.ts'
import type { GlobalMount } from '../devices/global-mounts.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { CSI_PLUGIN, csiUniqueName, unescapeQualifiedName } from '../names/volume-names.ts'
import type { RowKey } from '../plan/subject.ts'
import { csiPodDir } from '../plugins/csi-paths.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { CsiIdentity } from './identified.ts'

/** A map of a block volume, and the pods' part of it. */
export interface Mapped {
  readonly block: BlockVolume
  readonly mappings: readonly BlockMapping[]
}

/** Mounted sub-paths of a volume without its own directory: a hostPath's, or one whose directory is gone (O17, O18). */
export interface Leaked {
  readonly podUid: string
  readonly subPaths: SubPaths
}

export interface VolumeRow {
  readonly key: RowKey
  /** What the planner calls it, where it has a name for it. */
  readonly uniqueName: string | undefined
  readonly identity: CsiIdentity | undefined
  /** Why driver and handle are not known, though there is a CSI volume. */
  readonly unidentified: string | undefined
  /** Of pods that are meant to run. */
  readonly wanted: readonly VolumeToMount[]
  /** Of pods in the API that are not. */
  readonly ended: readonly VolumeToMount[]
  readonly unresolved: readonly UnresolvedVolume[]
  readonly onDisk: readonly PodVolume[]
  readonly leaked: readonly Leaked[]
  readonly staged: readonly StagedVolume[]
  readonly maps: readonly Mapped[]
  readonly globals: readonly GlobalMount[]
  readonly attachment: VolumeAttachment | undefined
  readonly persistentVolume: PersistentVolume | undefined
  /** Of all pods that want it, or have something of it. */
  readonly podUids: ReadonlySet<string>
  /** Of pods that have something of it on disk or mounted. */
  readonly havingUids: ReadonlySet<string>
  /** Names under which it goes on this node and in the API, the volume's own as well as pods' names for it. */
  readonly names: ReadonlySet<string>
  /** Its directories and files, relative to the root directory; of pods' volumes the directory with all that is in it. */
  readonly directories: readonly string[]
  /** Every mount that is its own. */
  readonly mounts: readonly MountInfo[]
}

/** A row in the making; what is asked of it again and again is worked out with the first question, once all is noted. */
export class GrowingRow implements VolumeRow {
  readonly key: RowKey
  readonly uniqueName: string | undefined
  identity: CsiIdentity | undefined
  unidentified: string | undefined
  readonly wanted: VolumeToMount[] = []
  readonly ended: VolumeToMount[] = []
  readonly unresolved: UnresolvedVolume[] = []
  readonly onDisk: PodVolume[] = []
  readonly leaked: Leaked[] = []
  readonly staged: StagedVolume[] = []
  readonly maps: Mapped[] = []
  readonly globals: GlobalMount[] = []
  attachment: VolumeAttachment | undefined
  persistentVolume: PersistentVolume | undefined
  #podUids: ReadonlySet<string> | undefined
  #havingUids: ReadonlySet<string> | undefined
  #names: ReadonlySet<string> | undefined
  #directories: readonly string[] | undefined
  #mounts: readonly MountInfo[] | undefined

  constructor(key: RowKey, uniqueName: string | undefined) {
    this.key = key
    this.uniqueName = uniqueName
  }

  get podUids(): ReadonlySet<string> {
    this.#podUids ??= new Set([
      ...[...this.wanted, ...this.ended, ...this.unresolved].map(({ podUid }) => podUid),
      ...this.havingUids,
    ])
    return this.#podUids
  }

  get havingUids(): ReadonlySet<string> {
    this.#havingUids ??= new Set([
      ...[...this.onDisk, ...this.leaked].map(({ podUid }) => podUid),
      ...this.maps.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)),
    ])
    return this.#havingUids
  }

  get names(): ReadonlySet<string> {
    this.#names ??= new Set(namesOf(this).filter((name) => name !== undefined && name !== '') as string[])
    return this.#names
  }

  get directories(): readonly string[] {
    this.#directories ??= [...new Set(directoriesOf(this))]
    return this.#directories
  }

  get mounts(): readonly MountInfo[] {
    this.#mounts ??= mountsOf(this)
    return this.#mounts
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

function directoriesOf({ onDisk, wanted, ended, leaked, staged, globals, maps }: VolumeRow): string[] {
  return [
    ...onDisk.flatMap(pathsOnDisk),
    ...[...wanted, ...ended].map(podDirOf),
    ...leaked.map(({ subPaths }) => subPaths.dir),
    ...staged.map(({ dir }) => dir),
    ...globals.map(({ path }) => path),
    ...maps.flatMap(({ block, mappings }) => [
      ...pathsOfBlock(block),
      ...mappings.flatMap(({ symlink }) => symlink ?? []),
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
export function pathsOnDisk({ dir, markers, subPaths }: PodVolume): string[] {
  return [dir, ...markers, ...(subPaths === undefined ? [] : [subPaths.dir])]
}

/** The node's part of a block volume. One with the name of a directory that all share is in that directory, beside the others. */
export function pathsOfBlock({ plugin, name, dir, mapDir, stagingPath, publishDir }: BlockVolume): string[] {
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

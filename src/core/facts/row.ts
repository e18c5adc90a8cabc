/** One volume on one node: who wants it, where it is, what is reported of it. Made once, before the pass; never changed. And its sources. */

import { memoize } from '../base/collections.ts'
import { PathIndex } from '../base/path-index.ts'
import { present } from '../base/text.ts'
import type { Node, PersistentVolume, Pod, VolumeAttachment } from '../kube/api/objects.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { Finding, Hint } from '../messages/findings.ts'
import type { ApiObjects, Handle } from '../volumes/api-objects.ts'
import { type DesiredState, podDirOf, type UnresolvedVolume, type VolumeToMount } from '../volumes/desired-state.ts'
import type { PodUid, RowKey, Subject } from '../volumes/finding.ts'
import { csiSourceOf } from '../volumes/in-tree-volumes.ts'
import { volumesInStatus } from '../volumes/node-affinity.ts'
import type { ActualInputs } from '../volumes/on-disk/actual-inputs.ts'
import type { BlockVolume } from '../volumes/on-disk/block-volume.ts'
import type { PodVolume, SubPaths } from '../volumes/on-disk/pod-volumes.ts'
import type { StagedVolume } from '../volumes/on-disk/staged-volumes.ts'
import { csiUniqueName, parseCsiUniqueName, type StateFile, unescapeQualifiedName } from '../volumes/volume-names.ts'
import type { GlobalMount } from './global-mounts.ts'

/** A row, once all is noted. */
export type VolumeRow = {
  readonly [Key in keyof GrowingRow]: GrowingRow[Key] extends (infer Each)[] ? readonly Each[] : GrowingRow[Key]
}

/** A row in the making. */
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
  /** Of volumes without their own directory: a hostPath's, or one whose directory is gone (O17, O18). */
  readonly leaked: SubPaths[] = []
  readonly staged: StagedVolume[] = []
  readonly maps: BlockVolume[] = []
  readonly globals: GlobalMount[] = []
  attachment: VolumeAttachment | undefined
  persistentVolume: PersistentVolume | undefined

  constructor(key: RowKey, uniqueName: string | undefined) {
    this.key = key
    this.uniqueName = uniqueName
  }

  /** Of pods that have something of it on disk or mounted. */
  get havingUids(): ReadonlySet<PodUid> {
    return following(this).havingUids
  }
  /** Of all pods that want it, or have something of it. */
  get podUids(): ReadonlySet<PodUid> {
    return following(this).podUids
  }
  /** Names under which it goes on this node and in the API, the volume's own as well as pods' names for it. */
  get names(): ReadonlySet<string> {
    return following(this).names
  }
  /** Its directories and files, relative to the root directory; of pods' volumes the directory with all that is in it. */
  get directories(): readonly string[] {
    return following(this).directories
  }
  /** Every mount that is its own. */
  get mounts(): readonly MountInfo[] {
    return following(this).mounts
  }
}

/** What follows from a row once all else is noted of it, worked out where it is asked for: a node may have 100,000 volumes. */
const following = memoize((row: GrowingRow) => {
  const { wanted, ended, unresolved, onDisk, leaked, maps } = row
  const having = [...onDisk, ...leaked, ...maps.flatMap(({ mappings }) => mappings)]
  const asking = [...wanted, ...ended, ...unresolved]
  return {
    havingUids: new Set(having.map(({ podUid }) => podUid)),
    podUids: new Set([...asking, ...having].map(({ podUid }) => podUid)),
    names: new Set(namesOf(row).flatMap((name) => name || [])),
    directories: [...new Set(placesOf(row).map(({ path }) => path))],
    mounts: mountsOf(row),
  }
})

/** Its unique name, also where only its identity gives it. */
export function uniqueNameOfRow({ uniqueName, identity }: VolumeRow): string | undefined {
  return uniqueName ?? (identity && uniqueNameOf(identity))
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
    ...leaked.map(({ volumeName }) => volumeName),
    ...staged.map(({ key }) => key),
    ...maps.map(({ name }) => name),
  ]
}

/** Directories and files of a volume, relative to the root directory, each of a pod's part of it, or without a pod of the node's. */
function placesOf({ onDisk, wanted, ended, leaked, staged, globals, maps }: VolumeRow) {
  return [
    // A pod's volume and what belongs to it outside its directory.
    ...onDisk.flatMap(({ podUid: pod, dir, markers, subPaths }) =>
      present(dir, ...markers, subPaths?.dir).map((path) => ({ path, pod })),
    ),
    ...[...wanted, ...ended].map((volume) => ({ path: podDirOf(volume), pod: volume.podUid })),
    ...leaked.map(({ podUid, dir }) => ({ path: dir, pod: podUid })),
    ...staged.map(({ dir }) => ({ path: dir })),
    ...globals.map(({ path }) => ({ path })),
    ...maps.flatMap((block) => [
      ...present(...block.own, block.stagingPath, block.publishDir).map((path) => ({ path })),
      ...block.mappings.flatMap(({ podUid, symlink, mapFile, publishPath }) =>
        present(symlink, mapFile, publishPath).map((path) => ({ path, pod: podUid })),
      ),
    ]),
  ]
}

function mountsOf({ onDisk, leaked, staged, globals, maps }: VolumeRow): MountInfo[] {
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked]
  return [
    ...[...onDisk, ...staged, ...globals].flatMap(({ layers }) => layers),
    ...subPaths.flatMap(({ leaves }) => leaves.flatMap(({ layers }) => layers)),
    ...maps.flatMap(({ staging, mappings }) => [
      ...staging.mounts,
      ...mappings.flatMap(({ mapLayers, publishLayers }) => [...mapLayers, ...publishLayers]),
    ]),
  ]
}

// Which volume's a path is, by the nearest one above it that is a volume's own.

/** A volume, or one pod's part of it. */
export type Part = Extract<Subject, { readonly row: RowKey }>

/** By path, absolute: all parts of one path together. */
export function partsByPath(inputs: ActualInputs, rows: readonly VolumeRow[]): PathIndex<readonly Part[]> {
  const places = rows.flatMap((row) =>
    placesOf(row).map(({ path, ...pod }) => ({ path, part: { row: row.key, ...pod } })),
  )
  const byPath = Map.groupBy(places, ({ path }) => inputs.absolute(path))
  return new PathIndex([...byPath].map(([path, found]) => [path, found.map(({ part }) => part)]))
}

// What a node's ledger is made from: desired and actual state, and what proves which CSI volume a thing is.

export interface LedgerSources {
  readonly inputs: ActualInputs
  readonly objects: ApiObjects
  readonly desired: DesiredState
  readonly staged: readonly StagedVolume[]
  readonly blocks: readonly BlockVolume[]
  readonly onDisk: OnDisk
  /** UIDs of all pods that the API, the disk or the runtime has. */
  readonly podUids: readonly string[]
  /** Pods in the API that have ended. */
  readonly endedPods: readonly Pod[]
  readonly identify: Identify
}

/** Every CSI volume that a state file on this node names, pods and staging directories alike. */
export interface OnDisk {
  readonly all: readonly DiskRecord[]
  of(uniqueName: string): readonly DiskRecord[]
}

/** A state file's directory, relative to the root directory, and the volume that the file names. */
export interface DiskRecord {
  readonly path: string
  readonly volume: CsiIdentity
}

/** Of a pod's volume and of an attachment, which take a search, once. */
interface Identify {
  podVolume(volume: PodVolume): Identified
  staged(staged: StagedVolume): Identified
  block(block: BlockVolume): Identified
  attachment(attachment: VolumeAttachment): CsiIdentity | undefined
}

// Which CSI volume a directory, a block map or an attachment of this node belongs to, and what proves it (S17).

export interface CsiIdentity extends Handle {
  readonly from: string
}

/** Of a state file that can be used. */
export function identityOnRecord(stateFile: StateFile | undefined): CsiIdentity | undefined {
  const data = stateFile?.data
  return data && { driver: data.driver, handle: data.handle, from: 'vol_data.json' }
}

export function identityOfObject(volume: PersistentVolume | undefined): CsiIdentity | undefined {
  const csi = volume && csiSourceOf(volume)
  return csi && { driver: csi.driver, handle: csi.volumeHandle, from: `PersistentVolume ${volume.metadata.name}` }
}

/** CSI volumes that the node's status lists: the last trace of one whose PersistentVolume and state file are both gone (N64). */
export function identitiesInStatus(node: Node | null | undefined): CsiIdentity[] {
  return volumesInStatus(node).flatMap((name) => {
    const volume = parseCsiUniqueName(name)
    return volume === undefined ? [] : { ...volume, from: "the node's status" }
  })
}

export function uniqueNameOf({ driver, handle }: Handle): string {
  return csiUniqueName(driver, handle)
}

export type Identified =
  | { readonly identity: CsiIdentity; readonly unconfirmed?: undefined }
  | { readonly identity?: undefined; readonly unconfirmed: Finding<'IdentityUnconfirmed'>; readonly hint: Hint }

/** All that one volume is and has on this node: its names, pods, directories and mounts. */

import type { BlockMapping, BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import type { StagedVolume } from '../actual/staged-volumes.ts'
import type { UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import type { GlobalMount } from '../devices/global-mounts.ts'
import { onceFor } from '../lang/once-for.ts'
import type { PersistentVolume, VolumeAttachment } from '../model/objects.ts'
import type { MountInfo } from '../mountinfo/mount-table.ts'
import { CSI_PLUGIN, unescapeQualifiedName } from '../names/volume-names.ts'
import { csiPodDir } from '../plugins/csi-paths.ts'
import { pluginNamed } from '../plugins/registry.ts'
import type { CsiIdentity } from '../reconcile/identity/identified.ts'

/** A map of a block volume, and the pod's part of it. */
export interface Mapped {
  readonly block: BlockVolume
  readonly mappings: readonly BlockMapping[]
}

/** All that is known of one volume. */
export class NodeVolume {
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
  /** Mounted sub-paths of a volume that has no directory of its own: a hostPath's, or one whose directory is gone (O17, O18). */
  readonly leaked: { readonly podUid: string; readonly subPaths: SubPaths }[] = []
  readonly staged: StagedVolume[] = []
  readonly maps: Mapped[] = []
  readonly globals: GlobalMount[] = []
  attachment: VolumeAttachment | undefined
  persistentVolume: PersistentVolume | undefined

  constructor(uniqueName?: string) {
    this.uniqueName = uniqueName
  }

  /** Of all pods that want it, or have something of it. */
  get podUids(): ReadonlySet<string> {
    return podUidsOf(this)
  }

  /** Of pods that have something of it on disk or mounted. */
  get havingUids(): ReadonlySet<string> {
    return havingUidsOf(this)
  }

  /** Names under which it goes on this node and in the API, the volume's own as well as pods' names for it. */
  get names(): ReadonlySet<string> {
    return namesOf(this)
  }

  /** Its directories and files, relative to the root directory; of pods' volumes the directory with all that is in it. */
  get directories(): readonly string[] {
    return directoriesOf(this)
  }

  /** Every mount that is its own. */
  get mounts(): readonly MountInfo[] {
    return mountsOf(this)
  }
}

// Asked once everything is put together, and then again and again.

const havingUidsOf = onceFor(
  ({ onDisk, leaked, maps }: NodeVolume): ReadonlySet<string> =>
    new Set([
      ...[...onDisk, ...leaked].map(({ podUid }) => podUid),
      ...maps.flatMap(({ mappings }) => mappings.map(({ podUid }) => podUid)),
    ]),
)

const podUidsOf = onceFor(
  (volume: NodeVolume): ReadonlySet<string> =>
    new Set([
      ...[...volume.wanted, ...volume.ended, ...volume.unresolved].map(({ podUid }) => podUid),
      ...volume.havingUids,
    ]),
)

const namesOf = onceFor((volume: NodeVolume): ReadonlySet<string> => {
  const { uniqueName, identity, persistentVolume, wanted, ended, unresolved, onDisk, leaked, globals, staged, maps } =
    volume
  const names = [
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
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[])
})

const directoriesOf = onceFor(
  ({ onDisk, wanted, ended, leaked, staged, globals, maps }: NodeVolume): readonly string[] => [
    ...new Set([
      ...onDisk.flatMap(({ dir, markers, subPaths }) => [
        dir,
        ...markers,
        ...(subPaths === undefined ? [] : [subPaths.dir]),
      ]),
      ...[...wanted, ...ended].map(podDirOf),
      ...leaked.map(({ subPaths }) => subPaths.dir),
      ...staged.map(({ dir }) => dir),
      ...globals.map(({ path }) => path),
      ...maps.flatMap(({ block, mappings }) => [
        ...(isShared(block) ? [block.mapDir, `${block.dir}/data`] : [block.dir]),
        ...[block.stagingPath, block.publishDir].filter((path) => path !== undefined),
        ...mappings.flatMap(({ symlink }) => symlink ?? []),
      ]),
    ]),
  ],
)

const mountsOf = onceFor(({ onDisk, leaked, staged, globals, maps }: NodeVolume): readonly MountInfo[] => {
  const subPaths = [...onDisk.flatMap((each) => each.subPaths ?? []), ...leaked.map((each) => each.subPaths)]
  return [
    ...[...onDisk, ...staged, ...globals].flatMap(({ layers }) => layers),
    ...subPaths.flatMap(({ leaves }) => leaves.flatMap(({ layers }) => layers)),
    ...maps.flatMap(({ block, mappings }) => [
      ...(block.staging?.mounts ?? []),
      ...mappings.flatMap(({ mapLayers, publishLayers }) => [...mapLayers, ...publishLayers]),
    ]),
  ]
})

/** A volume with the name of a directory that all share is in that directory, beside the others. */
function isShared({ name, plugin }: BlockVolume): boolean {
  return plugin === CSI_PLUGIN && (name === 'staging' || name === 'publish')
}

/** The volume's directory, of a raw block volume the pod's link. */
export function podDirOf(volume: VolumeToMount): string {
  return volume.plugin === CSI_PLUGIN && volume.mode === 'Filesystem'
    ? csiPodDir(volume)
    : pluginNamed(volume.plugin).podPath(volume)
}

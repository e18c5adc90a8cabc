/** What there is of one volume for one pod, or on the node itself, before anything is said about it. */
import type { BlockMapping, BlockVolume } from '../actual/block-volume.ts'
import type { PodVolume, SubPaths } from '../actual/pod-volume.ts'
import type { UnresolvedVolume, VolumeToMount } from '../desired/desired-state.ts'
import type { Attachability } from '../desired/volume-spec.ts'
import { SHARED_DIRECTORIES } from '../devices/block-volumes.ts'
import { type NodeVolume, podDirOf } from '../explain/node-volume.ts'
import type { VolumeRef } from '../plan/plan.ts'
import type { PodClass } from '../reconcile/pods/pod-classes.ts'

/** A volume in a pod's spec that no container uses (R105). */
export interface UnusedVolume {
  readonly podVolumeName: string
  readonly ref: VolumeRef
  /** Undefined: it is not known which volume it is. */
  readonly attachability: Attachability | undefined
}

export interface RowSource {
  readonly volume: NodeVolume
  /** Undefined: the node's own part of the volume. */
  readonly pod: PodClass | undefined
  readonly wanted: VolumeToMount | undefined
  readonly ended: VolumeToMount | undefined
  readonly unresolved: readonly UnresolvedVolume[]
  readonly unused: UnusedVolume | undefined
  readonly onDisk: readonly PodVolume[]
  readonly leaked: readonly SubPaths[]
  readonly mappings: readonly { readonly block: BlockVolume; readonly mapping: BlockMapping }[]
}

/** Everything by which the plan may name it, beside the pod. */
export function namesOfRow({
  volume,
  pod,
  wanted,
  ended,
  unresolved,
  unused,
  onDisk,
  leaked,
  mappings,
}: RowSource): ReadonlySet<string> {
  if (pod === undefined) return volume.names
  const own = wanted ?? ended
  const names = [
    volume.uniqueName,
    volume.identity?.handle,
    volume.persistentVolume?.metadata.name,
    own?.specName,
    own?.handle,
    ...(own?.podVolumeNames ?? []),
    ...unresolved.flatMap(({ podVolumeName, persistentVolumeName }) => [podVolumeName, persistentVolumeName]),
    unused?.podVolumeName,
    unused?.ref.name,
    ...onDisk.map(({ name }) => name),
    ...leaked.map(({ volumeName }) => volumeName),
    ...mappings.map(({ block }) => block.name),
  ]
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[])
}

/** Directories and files of its own, relative to the root directory: with all that is in them. */
export function pathsOfRow(source: RowSource): readonly string[] {
  return source.pod === undefined ? nodePaths(source.volume) : podPaths(source)
}

function podPaths({ wanted, ended, onDisk, leaked, mappings }: RowSource): string[] {
  return [
    ...[wanted, ended].flatMap((each) => (each === undefined ? [] : podDirOf(each))),
    ...onDisk.flatMap(({ dir, markers, subPaths }) => [
      dir,
      ...markers,
      ...(subPaths === undefined ? [] : [subPaths.dir]),
    ]),
    ...leaked.map(({ dir }) => dir),
    ...mappings.flatMap(({ mapping: { symlink, mapFile, publishPath } }) =>
      [symlink, mapFile, publishPath].filter((path) => path !== undefined),
    ),
  ]
}

function nodePaths({ staged, globals, maps }: NodeVolume): string[] {
  return [
    ...staged.map(({ dir }) => dir),
    ...globals.map(({ path }) => path),
    ...maps.flatMap(({ block }) => [
      ...(SHARED_DIRECTORIES.includes(block.name) ? [block.mapDir, `${block.dir}/data`] : [block.dir]),
      ...[block.stagingPath, block.publishDir].filter((path) => path !== undefined),
    ]),
  ]
}

/** What there is of one volume for one pod, or on the node itself. */

import type { PodUid } from '../plan/subject.ts'
import type { UnresolvedVolume, VolumeToMount } from '../volumes/desired-state.ts'
import type { BlockMapping, BlockVolume } from './actual/block-volume.ts'
import type { PodVolume, SubPaths } from './actual/pod-volumes.ts'
import { GrowingRow, type VolumeRow } from './row.ts'

export interface RowPart {
  readonly volume: VolumeRow
  /** Undefined: the node's own part of the volume. */
  readonly podUid: PodUid | undefined
  readonly wanted: VolumeToMount | undefined
  readonly ended: VolumeToMount | undefined
  readonly unresolved: readonly UnresolvedVolume[]
  readonly onDisk: readonly PodVolume[]
  readonly leaked: readonly SubPaths[]
  readonly mappings: readonly { readonly block: BlockVolume; readonly mapping: BlockMapping }[]
}

/** What one pod has or wants of a volume. */
export function podPart(volume: VolumeRow, podUid: PodUid): RowPart {
  const isOfPod = (each: { readonly podUid: string }): boolean => each.podUid === podUid
  return {
    volume,
    podUid,
    wanted: volume.wanted.find(isOfPod),
    ended: volume.ended.find(isOfPod),
    unresolved: volume.unresolved.filter(isOfPod),
    onDisk: volume.onDisk.filter(isOfPod),
    leaked: volume.leaked.filter(isOfPod).map(({ subPaths }) => subPaths),
    mappings: volume.maps.flatMap(({ block, mappings }) =>
      mappings.filter(isOfPod).map((mapping) => ({ block, mapping })),
    ),
  }
}

/** What is on the node itself: staged, mounted or mapped for all pods, and attached. */
export function nodePart(volume: VolumeRow): RowPart {
  return { ...NOTHING, volume, podUid: undefined }
}

/** Of a volume that the pod neither has nor wants. @param uniqueName of a volume that has no row */
export function emptyPart(volume: VolumeRow | { readonly uniqueName: string | undefined }, podUid: PodUid): RowPart {
  const { uniqueName } = volume
  return { ...NOTHING, volume: 'key' in volume ? volume : new GrowingRow(uniqueName ?? '', uniqueName), podUid }
}

const NOTHING = {
  ...{ wanted: undefined, ended: undefined },
  ...{ unresolved: [], onDisk: [], leaked: [], mappings: [] },
} as const

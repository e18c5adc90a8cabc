/** Whether a mounted volume is to be expanded on this node (R125, R318, R319, R455-R458; C96-C98). */

import type { PersistentVolumeClaim } from '../kube/api/objects.ts'
import type { ClaimStatusPatch } from '../kube/writes.ts'
import type { VolumeToMount } from './desired-state.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'
import { CSI_PLUGIN } from './volume-names.ts'

export interface NodeExpansion {
  /** The size in the claim's status. */
  readonly from: string
  /** The size for the driver's call. */
  readonly to: string
  /**
   * legacy: an old resize controller (R461); recovery: the claim shows the progress (R458); updated: the claim has the new size
   * already, and this node has to follow.
   */
  readonly procedure: 'legacy' | 'recovery' | 'updated'
}

const NOT_REQUIRED_ANNOTATION = 'volume.kubernetes.io/node-expansion-not-required'

/** Undefined if there is nothing to expand, or not on this node, or not yet. */
export function nodeExpansionWanted(volume: VolumeToMount): NodeExpansion | undefined {
  const { persistentVolume, claim, readOnly, plugin, mode } = volume
  // An inline volume has no claim: one that was translated never expands (R125).
  if (persistentVolume === undefined || claim === undefined || readOnly) return undefined
  // Only a flex driver itself knows whether it can resize; a raw local device has nothing to grow (R319, R462).
  const grows = plugin === CSI_PLUGIN || (plugin === 'kubernetes.io/local-volume' && mode === 'Filesystem')
  if (!grows) return undefined
  const { capacity, allocatedResources, allocatedResourceStatuses } = claim.status ?? {}
  const from = capacity?.storage
  const to = persistentVolume.spec.capacity?.storage
  if (from === undefined || to === undefined || !parseQuantity(from) || compareQuantities(to, from) !== 1)
    return undefined
  const progress = allocatedResourceStatuses?.storage
  // An old resize controller leaves neither of the fields that allow recovery (R457).
  if (!progress && allocatedResources === undefined) return { from, to, procedure: 'legacy' }
  // The table of R458.
  const target = allocatedResources?.storage
  if (target === undefined) return undefined
  const order = compareQuantities(from, target)
  if (progress || order === undefined || order < 0) {
    const isPending = progress === 'NodeResizePending' || progress === 'NodeResizeInProgress'
    return isPending ? { from, to: target, procedure: 'recovery' } : undefined
  }
  // With ReadWriteMany every node has to expand its own mount, even if another node updated the claim.
  const isShared = claim.spec.accessModes?.includes('ReadWriteMany') ?? false
  const isRequired = claim.metadata.annotations?.[NOT_REQUIRED_ANNOTATION] === undefined
  return isShared && isRequired ? { from, to: target, procedure: 'updated' } : undefined
}

// What a node writes into a claim's status before and after an expansion: strategic merge patches (C102, R459).

const RESIZE_CONDITIONS = ['FileSystemResizePending', 'Resizing', 'ControllerResizeError', 'NodeResizeError']

export function inProgressPatch(claim: PersistentVolumeClaim): ClaimStatusPatch {
  return { ...versionOf(claim), status: { allocatedResourceStatuses: { storage: 'NodeResizeInProgress' } } }
}

/** @param size the size that the driver was called with, not the one that it answered (C100) */
export function finishedPatch(claim: PersistentVolumeClaim, size: string): ClaimStatusPatch {
  const { allocatedResourceStatuses, conditions = [] } = claim.status ?? {}
  const others = Object.keys(allocatedResourceStatuses ?? {}).filter((resource) => resource !== 'storage')
  const gone = conditions.filter(({ type }) => RESIZE_CONDITIONS.includes(type))
  return {
    ...versionOf(claim),
    status: {
      capacity: { storage: size },
      ...(allocatedResourceStatuses && {
        allocatedResourceStatuses: others.length === 0 ? null : { storage: null },
      }),
      ...(gone.length > 0 && { conditions: gone.map(({ type }) => ({ $patch: 'delete', type })) }),
    },
  }
}

/**
 * @param infeasible no further try makes sense until the claim asks for another size
 * @returns undefined if the claim has the condition already, which keeps its time and message
 */
export function failedPatch(
  claim: PersistentVolumeClaim,
  message: string,
  { infeasible, now }: { infeasible: boolean; now: string },
): ClaimStatusPatch | undefined {
  const isThere = claim.status?.conditions?.some(({ type, status }) => type === 'NodeResizeError' && status === 'True')
  if (isThere && !infeasible) return undefined
  const condition = { type: 'NodeResizeError', status: 'True', lastTransitionTime: now, message }
  return {
    status: {
      ...(infeasible && { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } }),
      ...(isThere ? {} : { conditions: [condition] }),
    },
  }
}

function versionOf({ metadata: { resourceVersion } }: PersistentVolumeClaim) {
  return resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
}

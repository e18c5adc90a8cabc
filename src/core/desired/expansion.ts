/** Whether a mounted volume is to be expanded on this node (R125, R318, R319, R455-R458; C96-C98). */
import type { PersistentVolumeClaim } from '../model/objects.ts'
import { CSI_PLUGIN } from '../names/volume-names.ts'
import type { VolumeToMount } from './desired-state.ts'
import { compareQuantities, parseQuantity } from './quantity.ts'

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
  const { persistentVolume, claim, readOnly, inlineMigrated } = volume
  if (persistentVolume === undefined || claim === undefined || readOnly || inlineMigrated) return undefined
  if (!growsOnNode(volume)) return undefined
  const from = claim.status?.capacity?.storage
  const to = persistentVolume.spec.capacity?.storage
  if (from === undefined || to === undefined || !parseQuantity(from) || compareQuantities(to, from) !== 1)
    return undefined
  if (isLegacyResize(claim)) return { from, to, procedure: 'legacy' }
  const target = claim.status?.allocatedResources?.storage
  if (target === undefined || !recoveryCallsDriver(claim, target)) return undefined
  return { from, to: target, procedure: isUpdated(claim, target) ? 'updated' : 'recovery' }
}

/** Only a flex driver itself knows whether it can resize; a raw local device has nothing to grow (R319, R462). */
function growsOnNode({ plugin, mode }: VolumeToMount): boolean {
  return plugin === CSI_PLUGIN || (plugin === 'kubernetes.io/local-volume' && mode === 'Filesystem')
}

/** An old resize controller leaves neither of the fields that allow recovery (R457). */
function isLegacyResize({ status }: PersistentVolumeClaim): boolean {
  return !status?.allocatedResourceStatuses?.storage && status?.allocatedResources === undefined
}

/** The table of R458. */
function recoveryCallsDriver(claim: PersistentVolumeClaim, target: string): boolean {
  // With ReadWriteMany every node has to expand its own mount, even if another node updated the claim.
  if (isUpdated(claim, target))
    return isReadWriteMany(claim) && claim.metadata.annotations?.[NOT_REQUIRED_ANNOTATION] === undefined
  const progress = claim.status?.allocatedResourceStatuses?.storage
  return progress === 'NodeResizePending' || progress === 'NodeResizeInProgress'
}

function isUpdated({ status }: PersistentVolumeClaim, target: string): boolean {
  const order = compareQuantities(status?.capacity?.storage, target)
  return !status?.allocatedResourceStatuses?.storage && order !== undefined && order >= 0
}

function isReadWriteMany(claim: PersistentVolumeClaim): boolean {
  return claim.spec.accessModes?.includes('ReadWriteMany') ?? false
}

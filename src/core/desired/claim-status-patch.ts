/** What a node writes into a claim's status before and after an expansion: strategic merge patches (C102, R459). */
import type { PersistentVolumeClaim } from '../model/objects.ts'

export interface ClaimStatusPatch {
  /** With a resourceVersion the patch fails if the claim has changed since. */
  readonly metadata?: { readonly resourceVersion?: string }
  readonly status: Readonly<Record<string, unknown>>
}

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
      ...(allocatedResourceStatuses === undefined
        ? {}
        : { allocatedResourceStatuses: others.length === 0 ? null : { storage: null } }),
      ...(gone.length === 0 ? {} : { conditions: gone.map(({ type }) => ({ $patch: 'delete', type })) }),
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
      ...(infeasible ? { allocatedResourceStatuses: { storage: 'NodeResizeInfeasible' } } : {}),
      ...(isThere ? {} : { conditions: [condition] }),
    },
  }
}

function versionOf({ metadata: { resourceVersion } }: PersistentVolumeClaim): Pick<ClaimStatusPatch, 'metadata'> {
  return resourceVersion === undefined ? {} : { metadata: { resourceVersion } }
}

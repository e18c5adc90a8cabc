/** From a claim of a pod to the PersistentVolume behind it (R110-R113). */
import { omitUndefined } from '../base/omit-undefined.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../kube/api/objects.ts'
import type { ApiLookup } from './api-lookup.ts'
import { ANY, NONE, type UnresolvedVolume } from './desired-state.ts'
import { podLabel, podNamespace } from './pods.ts'

/**
 * By whose rules (R709): the attach/detach controller prefers `ephemeral` to `persistentVolumeClaim`, and does not check whether a claim
 * is being deleted (R113).
 */
export type Resolver = 'kubelet' | 'controller'

export type Unresolved = Omit<UnresolvedVolume, 'podUid' | 'pod' | 'podVolumeName'>

export interface BoundClaim {
  readonly claim: PersistentVolumeClaim
  readonly persistentVolume: PersistentVolume
  readonly readOnly: boolean
  /** Why the pod cannot use the volume, though it is known which volume it is (S4). */
  readonly fault?: string
}

interface ClaimReference {
  readonly name: string
  readonly readOnly: boolean
  readonly ephemeral: boolean
}

/** Set when both sides are bound; never removed. */
export const BOUND_ANNOTATION = 'pv.kubernetes.io/bind-completed'
const PROTECTION_FINALIZER = 'kubernetes.io/pvc-protection'

/** The claim a pod volume refers to; undefined for an inline volume (R110, R006, R114). */
export function claimReferenceOf(pod: Pod, volume: PodVolumeSource, by: Resolver): ClaimReference | undefined {
  const direct = volume.persistentVolumeClaim && {
    name: volume.persistentVolumeClaim.claimName,
    readOnly: volume.persistentVolumeClaim.readOnly ?? false,
    ephemeral: false,
  }
  const ephemeral = volume.ephemeral && {
    name: `${pod.metadata.name}-${volume.name}`,
    readOnly: false,
    ephemeral: true,
  }
  return (by === 'controller' ? (ephemeral ?? direct) : (direct ?? ephemeral)) ?? undefined
}

/** The checks of R111 in their order; the first that fails gives the reason. */
export function resolveClaim(
  pod: Pod,
  reference: ClaimReference,
  lookup: ApiLookup,
  by: Resolver,
): BoundClaim | Unresolved {
  const namespace = podNamespace(pod)
  const label = `PersistentVolumeClaim ${namespace}/${reference.name}`
  const failed = (cause: Unresolved['cause'], why: string, persistentVolumeName?: string): Unresolved => ({
    cause,
    mayBe: cause === 'Unknown' ? ANY : NONE,
    message: `${label} ${why}`,
    claimName: reference.name,
    ...(persistentVolumeName ? { persistentVolumeName } : {}),
  })

  if (reference.name === '') return failed('Unknown', 'has no name')
  const found = lookup.persistentVolumeClaim(namespace, reference.name)
  if (found.state === 'Absent') return failed('Absent', 'does not exist')
  if (found.state === 'Unknown') return failed('Unknown', found.reason)
  const claim = found.object
  const volumeName = claim.spec.volumeName ?? ''
  const fault = faultOf(pod, claim, reference, by)
  if (volumeName === '') {
    const why = fault ?? 'is bound, but names no PersistentVolume'
    return failed(isShownUnbound(claim) ? 'Unbound' : 'Unknown', why)
  }

  const volume = lookup.persistentVolume(volumeName)
  if (volume.state === 'Absent') {
    // A Pending claim names a PersistentVolume that does not exist yet; that of a Bound or Lost claim was deleted (S4).
    if (claim.status?.phase === 'Pending') return failed('Unbound', fault ?? '', volumeName)
    return failed('Absent', `is bound to PersistentVolume ${volumeName}, which does not exist`, volumeName)
  }
  if (volume.state === 'Unknown')
    return failed('Unknown', fault ?? `is bound to PersistentVolume ${volumeName}, which ${volume.reason}`, volumeName)
  const why = fault ?? otherClaim(volume.object, claim)
  return {
    claim,
    persistentVolume: volume.object,
    readOnly: reference.readOnly,
    ...omitUndefined({ fault: why === undefined ? undefined : `${label} ${why}` }),
  }
}

/** What is wrong with the claim itself. */
function faultOf(
  pod: Pod,
  claim: PersistentVolumeClaim,
  { ephemeral }: ClaimReference,
  by: Resolver,
): string | undefined {
  if (by === 'kubelet' && isDeletedWithoutProtection(claim)) {
    return `is being deleted and no longer has finalizer ${PROTECTION_FINALIZER}`
  }
  const phase = claim.status?.phase
  if (phase !== 'Bound') return `is not bound (phase ${phase ?? 'unset'})`
  if (ephemeral && !isOwnedBy(claim, pod)) {
    return `was not created for pod ${podLabel(pod)}: the pod is not its controlling owner`
  }
  return undefined
}

/** What is wrong with the PersistentVolume that a claim names. */
function otherClaim(
  { metadata, spec: { claimRef } }: PersistentVolume,
  claim: PersistentVolumeClaim,
): string | undefined {
  if (claimRef == null) return `is bound to PersistentVolume ${metadata.name}, which names no claim`
  if (claimRef.uid === claim.metadata.uid) return undefined
  const other = `${claimRef.namespace ?? ''}/${claimRef.name ?? ''} with UID ${claimRef.uid ?? 'unset'}`
  return `is bound to PersistentVolume ${metadata.name}, which belongs to claim ${other}`
}

/** Is the claim Pending, without a sign that it was bound before (S4)? */
function isShownUnbound({ metadata, status }: PersistentVolumeClaim): boolean {
  return status?.phase === 'Pending' && metadata.annotations?.[BOUND_ANNOTATION] === undefined
}

/** A terminating claim stays desired while it is protected: a running pod still uses it (R113). */
function isDeletedWithoutProtection({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !(metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false)
}

function isOwnedBy(claim: PersistentVolumeClaim, pod: Pod): boolean {
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.uid === pod.metadata.uid
}

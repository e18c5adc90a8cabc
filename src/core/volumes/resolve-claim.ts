/** From a claim of a pod to the PersistentVolume behind it (R110-R113). */

import { namespacedName } from '../kube/api/names.ts'
import type { PersistentVolumeClaim, Pod, PodVolumeSource } from '../kube/api/objects.ts'
import { flag, kept, keptList, needed, type ShapeOf, text } from '../trust/shape.ts'
import type { Lookup } from './api-lookup.ts'
import type { UnresolvedVolume } from './desired-state.ts'
import type { PodRef } from './finding.ts'

/**
 * By whose rules (R709): the attach/detach controller prefers `ephemeral` to `persistentVolumeClaim`, and does not check whether a claim
 * is being deleted (R113).
 */
type Resolver = 'kubelet' | 'controller'

export type Unresolved = Omit<UnresolvedVolume, 'podUid' | 'pod' | 'podVolumeName'>

/** A claim, as far as something is decided by it. */
export const claimFactsShape = kept({
  namespace: needed(text),
  name: needed(text),
  uid: needed(text),
  deletedAt: text,
  /** Only of one that is being deleted: what holds it. */
  finalizers: keptList(text),
  volumeName: text,
  phase: text,
  /** Annotation pv.kubernetes.io/bind-completed is there. */
  wasBound: needed(flag),
  /** UID of the controlling owner. */
  ownerUid: text,
})

export interface ClaimFacts extends ShapeOf<typeof claimFactsShape> {}

/** What decides of a PersistentVolume: the claim that it names. */
interface VolumeFacts {
  readonly name: string
  readonly claim?: { readonly namespace?: string; readonly name?: string; readonly uid?: string }
}

/** The claims and PersistentVolumes of a node's snapshot, or of a cluster. */
interface ClaimLookup<Claim, Volume> {
  claim(namespace: string, name: string): Lookup<Claim>
  volume(name: string): Lookup<Volume>
}

interface ClaimReference {
  readonly name: string
  readonly ephemeral: boolean
}

/** Set when both sides are bound; never removed. */
const BOUND_ANNOTATION = 'pv.kubernetes.io/bind-completed'
const PROTECTION_FINALIZER = 'kubernetes.io/pvc-protection'

export function claimFacts({ metadata, spec, status }: PersistentVolumeClaim): ClaimFacts {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    wasBound: metadata.annotations?.[BOUND_ANNOTATION] !== undefined,
    deletedAt: metadata.deletionTimestamp,
    finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
    volumeName: spec.volumeName || undefined,
    phase: status?.phase,
    ownerUid: owner?.uid,
  }
}

/** The claim a pod volume refers to; undefined for an inline volume (R110, R006, R114). */
export function claimReferenceOf(
  { metadata: { name: pod } }: Pod,
  { name, persistentVolumeClaim: claim, ephemeral: template }: PodVolumeSource,
  by: Resolver,
): ClaimReference | undefined {
  const direct = claim && { name: claim.claimName, ephemeral: false }
  const ephemeral = template && { name: `${pod}-${name}`, ephemeral: true }
  return (by === 'controller' ? (ephemeral ?? direct) : (direct ?? ephemeral)) ?? undefined
}

/** The checks of R111 in their order; the first that fails gives the reason. */
export function resolveClaim<Claim extends ClaimFacts, Volume extends VolumeFacts>(
  pod: PodRef,
  reference: ClaimReference,
  lookup: ClaimLookup<Claim, Volume>,
  by: Resolver,
) {
  const { namespace = 'default' } = pod
  const label = `PersistentVolumeClaim ${namespace}/${reference.name}`
  const failed = (cause: Unresolved['cause'], why: string, persistentVolumeName?: string): Unresolved => ({
    cause,
    mayBe: cause === 'Unknown' ? 'any' : [],
    message: `${label} ${why}`,
    claimName: reference.name,
    persistentVolumeName,
  })

  if (reference.name === '') return failed('Unknown', 'has no name')
  const found = lookup.claim(namespace, reference.name)
  if (found.state === 'Absent') return failed('Absent', 'does not exist')
  if (found.state === 'Unknown') return failed('Unknown', found.reason)
  const claim = found.object
  const { volumeName = '', phase, wasBound, deletedAt, finalizers = [] } = claim
  // A terminating claim stays desired while it is protected: a running pod still uses it (R113).
  const isGoing = by === 'kubelet' && deletedAt !== undefined && !finalizers.includes(PROTECTION_FINALIZER)
  const isOthers = reference.ephemeral && claim.ownerUid !== pod.uid
  /** What is wrong with the claim itself. */
  const fault = isGoing
    ? `is being deleted and no longer has finalizer ${PROTECTION_FINALIZER}`
    : phase !== 'Bound'
      ? `is not bound (phase ${phase ?? 'unset'})`
      : isOthers
        ? `was not created for pod ${namespacedName(pod)}: the pod is not its controlling owner`
        : undefined
  if (volumeName === '') {
    const why = fault ?? 'is bound, but names no PersistentVolume'
    // Pending, without a sign that it was bound before (S4).
    return failed(phase === 'Pending' && !wasBound ? 'Unbound' : 'Unknown', why)
  }

  const volume = lookup.volume(volumeName)
  if (volume.state === 'Absent') {
    // A Pending claim names a PersistentVolume that does not exist yet; that of a Bound or Lost claim was deleted (S4).
    if (phase === 'Pending') return failed('Unbound', fault ?? '', volumeName)
    return failed('Absent', `is bound to PersistentVolume ${volumeName}, which does not exist`, volumeName)
  }
  if (volume.state === 'Unknown')
    return failed('Unknown', fault ?? `is bound to PersistentVolume ${volumeName}, which ${volume.reason}`, volumeName)
  const why = fault ?? otherClaim(volume.object, claim)
  /** Why the pod cannot use the volume, though it is known which volume it is (S4). */
  return { claim, volume: volume.object, fault: why && `${label} ${why}` }
}

/** What is wrong with the PersistentVolume that a claim names. */
function otherClaim({ name, claim: its }: VolumeFacts, claim: ClaimFacts): string | undefined {
  if (its === undefined) return `is bound to PersistentVolume ${name}, which names no claim`
  if (its.uid === claim.uid) return undefined
  const other = `${its.namespace ?? ''}/${its.name ?? ''} with UID ${its.uid ?? 'unset'}`
  return `is bound to PersistentVolume ${name}, which belongs to claim ${other}`
}

/** From a claim of a pod to the PersistentVolume behind it (R110-R113). */
import { namespacedName } from '../kube/api/names.ts'
import type { PersistentVolumeClaim, Pod, PodVolumeSource } from '../kube/api/objects.ts'
import { type Finding, said } from '../messages/findings.ts'
import { flag, kept, keptList, needed, type ShapeOf, text } from '../trust/shape.ts'
import type { Lookup } from './api-lookup.ts'
import type { UnresolvedVolume } from './desired-state.ts'
import type { PodRef } from './finding.ts'

/**
 * By whose rules (R709): the attach/detach controller prefers `ephemeral` to `persistentVolumeClaim`, and does not check whether a claim
 * is being deleted (R113).
 */
type Resolver = 'kubelet' | 'controller'

type Why = Finding<'ClaimMissing' | 'VolumeUnresolved'>

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
  const claim = `${namespace}/${reference.name}`
  const failed = (cause: Unresolved['cause'], why: Why, persistentVolumeName?: string): Unresolved => ({
    ...why,
    ...(cause === 'Unbound' && { code: 'ClaimUnbound' }),
    cause,
    mayBe: cause === 'Unknown' ? 'any' : [],
    claimName: reference.name,
    persistentVolumeName,
  })

  if (reference.name === '') return failed('Unknown', said('VolumeUnresolved.noName', { claim }))
  const found = lookup.claim(namespace, reference.name)
  if (found.state === 'Absent') return failed('Absent', said('ClaimMissing.claim', { claim }))
  if (found.state === 'Unknown') return failed('Unknown', said('VolumeUnresolved.claim', { claim, why: found.reason }))
  const { volumeName = '', phase, wasBound, deletedAt, finalizers = [] } = found.object
  // A terminating claim stays desired while it is protected: a running pod still uses it (R113).
  const isGoing = by === 'kubelet' && deletedAt !== undefined && !finalizers.includes(PROTECTION_FINALIZER)
  const isOthers = reference.ephemeral && found.object.ownerUid !== pod.uid
  /** What is wrong with the claim itself. */
  const fault = isGoing
    ? said('VolumeUnresolved.going', { claim })
    : phase !== 'Bound'
      ? said('VolumeUnresolved.notBound', { claim, phase: phase ?? 'unset' })
      : isOthers
        ? said('VolumeUnresolved.ofOtherPod', { claim, pod: namespacedName(pod) })
        : undefined
  if (volumeName === '') {
    const why = fault ?? said('VolumeUnresolved.namesNone', { claim })
    // Pending, without a sign that it was bound before (S4).
    return failed(phase === 'Pending' && !wasBound ? 'Unbound' : 'Unknown', why)
  }

  const volume = lookup.volume(volumeName)
  if (volume.state === 'Absent') {
    // A Pending claim names a PersistentVolume that does not exist yet; that of a Bound or Lost claim was deleted (S4).
    if (phase === 'Pending' && fault !== undefined) return failed('Unbound', fault, volumeName)
    return failed('Absent', said('ClaimMissing.volume', { claim, volume: volumeName }), volumeName)
  }
  if (volume.state === 'Unknown') {
    const why = fault ?? said('VolumeUnresolved.volume', { claim, volume: volumeName, why: volume.reason })
    return failed('Unknown', why, volumeName)
  }
  /** Why the pod cannot use the volume, though it is known which volume it is (S4). */
  const { object } = found
  return { claim: object, volume: volume.object, fault: fault ?? otherClaim(volume.object, object, claim) }
}

/** What is wrong with the PersistentVolume that a claim names. */
function otherClaim({ name: volume, claim: its }: VolumeFacts, { uid }: ClaimFacts, claim: string): Why | undefined {
  if (its === undefined) return said('VolumeUnresolved.ofNoClaim', { claim, volume })
  if (its.uid === uid) return undefined
  const other = `${its.namespace ?? ''}/${its.name ?? ''}`
  return said('VolumeUnresolved.ofOther', { claim, volume, other, uid: its.uid ?? 'unset' })
}

/** From a claim of a pod to the PersistentVolume behind it (R110-R113). */
import type { PersistentVolume, PersistentVolumeClaim, Pod, PodVolumeSource } from '../model/objects.ts'
import type { ApiLookup } from './api-lookup.ts'
import type { UnresolvedVolume } from './desired-state.ts'
import { podLabel, podNamespace } from './pods.ts'

/** Where the kubelet's populator and the attach/detach controller differ (R709). */
export interface ResolveRules {
  /** The controller lets `ephemeral` win over `persistentVolumeClaim`. */
  readonly ephemeralFirst: boolean
  /** R113; the controller doesn't look. */
  readonly checkDeletion: boolean
  /** R116; the controller doesn't look. */
  readonly checkMode: boolean
}

export type Unresolved = Omit<UnresolvedVolume, 'podUid' | 'pod' | 'podVolumeName'>

export interface BoundClaim {
  readonly claim: PersistentVolumeClaim
  readonly persistentVolume: PersistentVolume
  readonly readOnly: boolean
}

interface ClaimReference {
  readonly name: string
  readonly readOnly: boolean
  readonly ephemeral: boolean
}

const PROTECTION_FINALIZER = 'kubernetes.io/pvc-protection'

/** The claim a pod volume refers to; undefined for an inline volume (R110, R006, R114). */
export function claimReferenceOf(
  pod: Pod,
  volume: PodVolumeSource,
  rules: Pick<ResolveRules, 'ephemeralFirst'>,
): ClaimReference | undefined {
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
  return (rules.ephemeralFirst ? (ephemeral ?? direct) : (direct ?? ephemeral)) ?? undefined
}

/** The checks of R111 in their order; the first that fails names the reason. */
export function resolveClaim(
  pod: Pod,
  reference: ClaimReference,
  lookup: ApiLookup,
  rules: Pick<ResolveRules, 'checkDeletion'>,
): BoundClaim | Unresolved {
  const namespace = podNamespace(pod)
  const label = `PersistentVolumeClaim ${namespace}/${reference.name}`
  const unknown = (why: string, persistentVolumeName?: string): Unresolved => ({
    cause: 'Unknown',
    message: `${label} ${why}`,
    claimName: reference.name,
    ...(persistentVolumeName ? { persistentVolumeName } : {}),
  })

  const found = lookup.persistentVolumeClaim(namespace, reference.name)
  if (found.state === 'Absent') return { ...unknown('does not exist'), cause: 'Absent' }
  if (found.state === 'Unknown') return unknown(found.reason)
  const claim = found.object
  const volumeName = claim.spec.volumeName ?? ''
  if (rules.checkDeletion && isDeletedWithoutProtection(claim)) {
    return unknown(`is being deleted and no longer has finalizer ${PROTECTION_FINALIZER}`, volumeName)
  }
  const phase = claim.status?.phase
  if (phase !== 'Bound') {
    // A claim becomes Lost when its PersistentVolume is deleted: that is absence, shown by the list of PVs (S4).
    const isGone = phase === 'Lost' && volumeName !== '' && lookup.persistentVolume(volumeName).state === 'Absent'
    if (isGone) return volumeAbsent(label, reference.name, volumeName)
    return unknown(`is not bound (phase ${phase ?? 'unset'})`, volumeName)
  }
  if (volumeName === '') return unknown('is bound, but names no PersistentVolume')
  if (reference.ephemeral && !isOwnedBy(claim, pod)) {
    return unknown(`was not made for pod ${podLabel(pod)}: the pod is not its controlling owner`, volumeName)
  }

  const volume = lookup.persistentVolume(volumeName)
  if (volume.state === 'Absent') return volumeAbsent(label, reference.name, volumeName)
  if (volume.state === 'Unknown')
    return unknown(`is bound to PersistentVolume ${volumeName}, which ${volume.reason}`, volumeName)
  const { claimRef } = volume.object.spec
  if (claimRef == null) return unknown(`is bound to PersistentVolume ${volumeName}, which names no claim`, volumeName)
  if (claimRef.uid !== claim.metadata.uid) {
    const other = `${claimRef.namespace ?? ''}/${claimRef.name ?? ''} with UID ${claimRef.uid ?? 'unset'}`
    return unknown(`is bound to PersistentVolume ${volumeName}, which belongs to claim ${other}`, volumeName)
  }
  return { claim, persistentVolume: volume.object, readOnly: reference.readOnly }
}

function volumeAbsent(label: string, claimName: string, persistentVolumeName: string): Unresolved {
  const message = `${label} is bound to PersistentVolume ${persistentVolumeName}, which does not exist`
  return { cause: 'Absent', message, claimName, persistentVolumeName }
}

/** A terminating claim stays desired while it is protected: a running pod still uses it (R113). */
function isDeletedWithoutProtection({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.deletionTimestamp !== undefined && !(metadata.finalizers?.includes(PROTECTION_FINALIZER) ?? false)
}

function isOwnedBy(claim: PersistentVolumeClaim, pod: Pod): boolean {
  const owner = claim.metadata.ownerReferences?.find(({ controller }) => controller === true)
  return owner?.uid === pod.metadata.uid
}

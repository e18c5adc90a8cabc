/**
 * The links of a volume that are objects of the API: claim, PersistentVolume, VolumeAttachment. Never what an object's attributes or
 * annotations hold.
 */

import type { ClusterAttachment, ClusterClaim, ClusterVolume } from '../cluster/model/cluster-state.ts'
import { nodesText } from '../cluster/model/findings.ts'
import { attachmentRecord, claimRecord, volumeRecord } from '../cluster/read/records.ts'
import { attachmentName, csiUniqueName, inlineCsiHandle, unescapeQualifiedName } from '../facts/actual/volume-names.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { CsiIdentity } from '../facts/sources.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { type ApiLookup, apiLookup, type Lookup, mapFound } from '../volumes/api-lookup.ts'
import type { Attachability } from '../volumes/desired-state.ts'
import { podNamespace } from '../volumes/pods.ts'
import type { Link } from './explanation.ts'

const NOT_ASKED: Lookup<never> = { state: 'Unknown', reason: 'was not read: there is no answer of the API server' }
const NO_API: Pick<ApiLookup, 'persistentVolumeClaim' | 'persistentVolume' | 'volumeAttachment'> = {
  persistentVolumeClaim: () => NOT_ASKED,
  persistentVolume: () => NOT_ASKED,
  volumeAttachment: () => NOT_ASKED,
}

/** The API's objects, each as far as it was read. */
export function apiObjects({ inputs: { snapshot } }: PlanContext): typeof NO_API {
  return snapshot.api === undefined ? NO_API : apiLookup(snapshot.api)
}

/** A PersistentVolume under the name that the controller gives it, translated to CSI if it is in-tree. */
export function volumeRecordOf({ inputs: { snapshot } }: PlanContext, name: string): Lookup<ClusterVolume> {
  const { api } = snapshot
  if (api === undefined) return NOT_ASKED
  const lookup = apiLookup(api)
  return mapFound(lookup.persistentVolume(name), (object) =>
    volumeRecord(object, { podUid: '', lookup, node: api.node ?? null }),
  )
}

/**
 * An attachment is this node's: one that nobody needs is as bad as one that is missing.
 *
 * @param isNeeded somebody here wants the volume, or may still use it
 */
export function apiLinks(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  return [
    ...claimLink(context, volume, isNeeded),
    ...persistentVolumeLink(context, volume, isNeeded),
    ...attachmentLink(context, volume, isNeeded),
  ]
}

function claimLink(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const name = claimNameOf(volume)
  if (name === undefined) return []
  const found = mapFound(apiObjects(context).persistentVolumeClaim(name.namespace, name.name), claimRecord)
  return [{ kind: 'PersistentVolumeClaim', name: namespacedName(name), ...judge(found, isNeeded, judgeClaim) }]
}

function claimNameOf({ wanted, ended, unresolved, persistentVolume }: VolumeRow) {
  const claim = [...wanted, ...ended].find((each) => each.claim !== undefined)?.claim?.metadata
  if (claim !== undefined) return { namespace: claim.namespace ?? 'default', name: claim.name }
  const missing = unresolved.find(({ claimName }) => claimName !== undefined)
  if (missing?.claimName !== undefined) return { namespace: podNamespace(missing.pod), name: missing.claimName }
  const { namespace = 'default', name } = { ...persistentVolume?.spec.claimRef }
  return name === undefined ? undefined : { namespace, name }
}

function persistentVolumeLink(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const { persistentVolume, unresolved, attachment } = volume
  const name =
    persistentVolume?.metadata.name ??
    unresolved.find((each) => each.persistentVolumeName)?.persistentVolumeName ??
    attachment?.spec.source.persistentVolumeName
  if (name === undefined || name === '') return []
  return [{ kind: 'PersistentVolume', name, ...judge(volumeRecordOf(context, name), isNeeded, judgeVolume) }]
}

function attachmentLink(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const { identity, attachment } = volume
  const { nodeName, api } = context.inputs.snapshot
  const isListed =
    identity === undefined || api?.node == null
      ? undefined
      : context.objects.isAttached(csiUniqueName(identity.driver, identity.handle))
  const seen = (object: VolumeAttachment): Judged => judgeAttachment(attachmentRecord(object), isNeeded, isListed)
  if (attachment !== undefined)
    return [{ kind: 'VolumeAttachment', name: attachment.metadata.name, ...seen(attachment) }]
  if (identity === undefined) return []
  const attachability = attachabilityOf(context, volume, identity)
  if (attachability === 'notAttachable') return []
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const found = apiObjects(context).volumeAttachment(name)
  // A driver whose CSIDriver could not be read may attach nothing.
  if (attachability === 'unknown' && found.state === 'Absent')
    return [{ kind: 'VolumeAttachment', name, state: 'unknown', says: 'it is not known whether the driver attaches' }]
  // What is mounted here needs its device, whoever wants it (O7).
  const { state, says } = judge(found, true, seen)
  const still = found.state === 'Absent' && isListed === true ? '; node.status.volumesAttached still lists it' : ''
  const nodes = context.objects.attachedElsewhere(identity)
  const elsewhere =
    nodes.length === 0 ? '' : `; ${nodesText(nodes, 2)} ${nodes.length === 1 ? 'has' : 'have'} the volume`
  return [{ kind: 'VolumeAttachment', name, state, says: `${says}${still}${elsewhere}` }]
}

/** By what pods want; of what only is mounted here, by its driver: without a CSIDriver object nobody knows (S3). */
function attachabilityOf(
  { inputs }: PlanContext,
  { wanted, onDisk, mounts }: VolumeRow,
  { driver, handle }: CsiIdentity,
): Attachability {
  if (wanted.length > 0)
    return (
      (['attachable', 'unknown'] as const).find((each) => wanted.some(({ attachability }) => attachability === each)) ??
      'notAttachable'
    )
  // An inline volume is never attached, whatever its driver does with other volumes (C35).
  const isInline = onDisk.some(({ podUid, name }) => handle === inlineCsiHandle(podUid, unescapeQualifiedName(name)))
  if (mounts.length === 0 || isInline) return 'notAttachable'
  const { api } = inputs.snapshot
  const object = api?.csiDrivers.find(({ metadata }) => metadata.name === driver)
  if (object === undefined) return 'unknown'
  return object.spec.attachRequired === false ? 'notAttachable' : 'attachable'
}

export type Judged = Pick<Link, 'state' | 'says'>

export const MISSING = 'does not exist'

/** What is found is judged; what is not is bad where it is needed, and unknown where nobody could look. */
function judge<T>(found: Lookup<T>, isNeeded: boolean, ofObject: (object: T) => Judged): Judged {
  if (found.state === 'Found') return ofObject(found.object)
  if (found.state === 'Unknown') return { state: 'unknown', says: found.reason }
  return { state: isNeeded ? 'bad' : 'absent', says: MISSING }
}

function judgeClaim({ phase, volumeName, deletedAt }: ClusterClaim): Judged {
  const isBound = volumeName !== undefined && (phase ?? 'Bound') === 'Bound'
  const bound = volumeName === undefined ? 'not bound to a PersistentVolume' : `bound to ${volumeName}`
  const says = isBound ? bound : `${phase ?? 'no phase'}, ${bound}`
  return judged(isBound, deletedAt, says)
}

function judgeVolume({ phase, driver, plugin, handle, accessModes, problem, deletedAt }: ClusterVolume): Judged {
  if (problem !== undefined) return { state: 'bad', says: problem }
  const source = driver === undefined ? (plugin ?? 'no plugin') : `${driver}, handle ${handle ?? 'unknown'}`
  return judged(phase !== 'Failed', deletedAt, phase === 'Bound' ? undefined : phase, source, accessModes.join(', '))
}

/**
 * @param isNeeded a pod of the node needs it: an attachment that nobody needs is as bad as one that is missing
 * @param isListed in volumesAttached of its node; undefined: not known
 */
function judgeAttachment(
  { attached, deletedAt, attachError, detachError }: ClusterAttachment,
  isNeeded: boolean,
  isListed: boolean | undefined,
): Judged {
  const isAttached = attached === true
  return judged(
    isAttached && isNeeded,
    deletedAt,
    isAttached ? 'attached' : 'not attached',
    isAttached && isListed === false ? 'node.status.volumesAttached does not list it' : undefined,
    isNeeded ? undefined : 'no pod there wants it',
    detachError?.message ?? attachError?.message,
  )
}

/** An object that is being deleted is never good. */
function judged(isGood: boolean, deletedAt: string | undefined, ...says: readonly (string | undefined)[]): Judged {
  const deleting = deletedAt === undefined ? undefined : `being deleted since ${deletedAt}`
  return {
    state: isGood && deletedAt === undefined ? 'good' : 'bad',
    says: [...says, deleting].filter(Boolean).join('; '),
  }
}

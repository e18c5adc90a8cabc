/** The links that are objects of the API: claim, PersistentVolume, VolumeAttachment. */

import { apiLookup, type Lookup } from '../desired/api-lookup.ts'
import { podNamespace } from '../desired/pods.ts'
import type { Attachability } from '../desired/volume-spec.ts'
import type { CsiIdentity } from '../ledger/identified.ts'
import type { VolumeRow } from '../ledger/row.ts'
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from '../model/objects.ts'
import { attachmentName, csiUniqueName, inlineCsiHandle, unescapeQualifiedName } from '../names/volume-names.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Needs } from './chain-needs.ts'
import type { Link } from './explanation.ts'

export function apiLinks(context: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  return [
    ...claimLink(context, volume, needs),
    ...persistentVolumeLink(context, volume, needs),
    ...attachmentLink(context, volume, needs),
  ]
}

const NOT_ASKED: Lookup<never> = { state: 'Unknown', reason: 'was not read: there is no answer of the API server' }

type Judged = Pick<Link, 'state' | 'says'>

/** What is found is judged; what is not is bad where it is needed, and unknown where nobody could look. */
function judge<T>(found: Lookup<T>, { isNeeded }: Needs, ofObject: (object: T) => Judged): Judged {
  if (found.state === 'Found') return ofObject(found.object)
  if (found.state === 'Unknown') return { state: 'unknown', says: found.reason }
  return { state: isNeeded ? 'bad' : 'absent', says: 'not in the API' }
}

function claimLink({ inputs }: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  const name = claimNameOf(volume)
  if (name === undefined) return []
  const { api } = inputs.snapshot
  const found = api === undefined ? NOT_ASKED : apiLookup(api).persistentVolumeClaim(name.namespace, name.name)
  return [{ kind: 'PersistentVolumeClaim', name: namespacedName(name), ...judge(found, needs, judgeClaim) }]
}

function claimNameOf({ wanted, ended, unresolved, persistentVolume }: VolumeRow) {
  const claim = [...wanted, ...ended].find((each) => each.claim !== undefined)?.claim?.metadata
  if (claim !== undefined) return { namespace: claim.namespace ?? 'default', name: claim.name }
  const missing = unresolved.find(({ claimName }) => claimName !== undefined)
  if (missing?.claimName !== undefined) return { namespace: podNamespace(missing.pod), name: missing.claimName }
  const { namespace = 'default', name } = { ...persistentVolume?.spec.claimRef }
  return name === undefined ? undefined : { namespace, name }
}

function judgeClaim({ metadata, spec, status }: PersistentVolumeClaim): Judged {
  const { phase = 'no phase' } = { ...status }
  const isBound = phase === 'Bound' || (status?.phase === undefined && Boolean(spec.volumeName))
  const bound = spec.volumeName ? `bound to ${spec.volumeName}` : 'not bound to a PersistentVolume'
  return { state: isBound ? 'good' : 'bad', says: `${isBound ? bound : `${phase}, ${bound}`}${deleting(metadata)}` }
}

function persistentVolumeLink({ inputs }: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  const { api } = inputs.snapshot
  const { persistentVolume, unresolved, attachment } = volume
  const name =
    persistentVolume?.metadata.name ??
    unresolved.find((each) => each.persistentVolumeName)?.persistentVolumeName ??
    attachment?.spec.source.persistentVolumeName
  if (name === undefined || name === '') return []
  const found = api === undefined ? NOT_ASKED : apiLookup(api).persistentVolume(name)
  return [{ kind: 'PersistentVolume', name, ...judge(found, needs, (object) => judgeVolume(object, volume)) }]
}

function judgeVolume({ metadata, status }: PersistentVolume, { identity }: VolumeRow): Judged {
  const of = identity === undefined ? [] : [`${identity.driver}, handle ${identity.handle}`]
  const phase = status?.phase === undefined || status.phase === 'Bound' ? [] : [status.phase]
  const isBad = status?.phase === 'Failed'
  return { state: isBad ? 'bad' : 'good', says: `${[...phase, ...of].join('; ') || 'bound'}${deleting(metadata)}` }
}

/** Of this node: an attachment that nobody needs is as bad as one that is missing. */
function attachmentLink(context: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  const { identity, attachment, wanted } = volume
  if (attachment !== undefined) {
    return [{ kind: 'VolumeAttachment', name: attachment.metadata.name, ...judgeAttachment(attachment, needs) }]
  }
  if (identity === undefined) return []
  const attachability = attachabilityOf(context, volume, identity)
  if (attachability === 'notAttachable') return []
  const { api, nodeName } = context.inputs.snapshot
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const found = api === undefined ? NOT_ASKED : apiLookup(api).volumeAttachment(name)
  // A driver whose CSIDriver could not be read may attach nothing.
  if (attachability === 'unknown' && found.state === 'Absent')
    return [{ kind: 'VolumeAttachment', name, state: 'unknown', says: 'it is not known whether the driver attaches' }]
  const elsewhere = context.objects.attachedElsewhere(identity)
  // What is mounted here needs its device, whoever wants it (O7).
  const judged = judge(found, { wanted, isNeeded: true }, (object) => judgeAttachment(object, needs))
  const status = context.objects.isAttached(csiUniqueName(identity.driver, identity.handle))
  const more = [
    ...(found.state === 'Absent' && status ? ['node.status.volumesAttached still lists it'] : []),
    ...(elsewhere.length === 0 ? [] : [`the volume is attached to ${elsewhere.join(', ')}`]),
  ]
  return [{ kind: 'VolumeAttachment', name, ...judged, says: [judged.says, ...more].join('; ') }]
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

function judgeAttachment({ metadata, status }: VolumeAttachment, { isNeeded }: Needs): Judged {
  const error = status?.detachError?.message ?? status?.attachError?.message
  const isAttached = status?.attached === true
  const isGoing = metadata.deletionTimestamp !== undefined
  const says = [
    isAttached ? 'attached' : 'not attached',
    ...(isNeeded || !isAttached ? [] : ['no pod here wants it']),
    ...(error === undefined ? [] : [error]),
  ].join('; ')
  const isGood = isAttached && isNeeded && !isGoing
  return { state: isGood ? 'good' : 'bad', says: `${says}${deleting(metadata)}` }
}

function deleting({ deletionTimestamp }: ObjectMeta): string {
  return deletionTimestamp === undefined ? '' : `; being deleted since ${deletionTimestamp}`
}

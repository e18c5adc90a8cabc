/** The links that are objects of the API: claim, PersistentVolume, VolumeAttachment. */

import { apiLookup, type Lookup } from '../desired/api-lookup.ts'
import { podNamespace } from '../desired/pods.ts'
import type { ObjectMeta, PersistentVolume, PersistentVolumeClaim, VolumeAttachment } from '../model/objects.ts'
import { attachmentName } from '../names/volume-names.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import type { Needs } from './chain-needs.ts'
import type { Link } from './explanation.ts'
import type { NodeVolume } from './node-volume.ts'

export function apiLinks(context: PlanContext, volume: NodeVolume, needs: Needs): Link[] {
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

function claimLink({ inputs }: PlanContext, volume: NodeVolume, needs: Needs): Link[] {
  const name = claimNameOf(volume)
  if (name === undefined) return []
  const { api } = inputs.snapshot
  const found = api === undefined ? NOT_ASKED : apiLookup(api).persistentVolumeClaim(name.namespace, name.name)
  return [{ kind: 'PersistentVolumeClaim', name: namespacedName(name), ...judge(found, needs, judgeClaim) }]
}

function claimNameOf({ wanted, ended, unresolved, persistentVolume }: NodeVolume) {
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

function persistentVolumeLink({ inputs }: PlanContext, volume: NodeVolume, needs: Needs): Link[] {
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

function judgeVolume({ metadata, status }: PersistentVolume, { identity }: NodeVolume): Judged {
  const of = identity === undefined ? [] : [`${identity.driver}, handle ${identity.handle}`]
  const phase = status?.phase === undefined || status.phase === 'Bound' ? [] : [status.phase]
  const isBad = status?.phase === 'Failed'
  return { state: isBad ? 'bad' : 'good', says: `${[...phase, ...of].join('; ') || 'bound'}${deleting(metadata)}` }
}

/** Of this node: an attachment that nobody needs is as bad as one that is missing. */
function attachmentLink(context: PlanContext, volume: NodeVolume, needs: Needs): Link[] {
  const { identity, attachment, wanted } = volume
  if (attachment !== undefined) {
    return [{ kind: 'VolumeAttachment', name: attachment.metadata.name, ...judgeAttachment(attachment, needs) }]
  }
  if (identity === undefined || !wanted.some(({ attachability }) => attachability !== 'notAttachable')) return []
  const { api, nodeName } = context.inputs.snapshot
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const found = api === undefined ? NOT_ASKED : apiLookup(api).volumeAttachment(name)
  // A driver whose CSIDriver could not be read may attach nothing.
  if (wanted.every(({ attachability }) => attachability === 'unknown') && found.state === 'Absent')
    return [{ kind: 'VolumeAttachment', name, state: 'unknown', says: 'it is not known whether the driver attaches' }]
  const elsewhere = context.objects.attachedElsewhere(identity)
  const judged = judge(found, needs, (object) => judgeAttachment(object, needs))
  const other = elsewhere.length === 0 ? '' : `; the volume is attached to ${elsewhere.join(', ')}`
  return [{ kind: 'VolumeAttachment', name, ...judged, says: `${judged.says}${other}` }]
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

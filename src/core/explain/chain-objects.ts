/** The links that are objects of the API: claim, PersistentVolume, VolumeAttachment. */

import { attachmentRecord, claimRecord, volumeRecord } from '../cluster/read/records.ts'
import { attachmentName, csiUniqueName, inlineCsiHandle, unescapeQualifiedName } from '../facts/actual/volume-names.ts'
import type { VolumeRow } from '../facts/row.ts'
import type { CsiIdentity } from '../facts/sources.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { apiLookup, type Lookup, mapFound } from '../volumes/api-lookup.ts'
import type { Attachability } from '../volumes/desired-state.ts'
import { podNamespace } from '../volumes/pods.ts'
import type { Needs } from './chain-devices.ts'
import type { Link } from './explanation.ts'
import { elsewhereText, type Judged, judge, judgeAttachment, judgeClaim, judgeVolume } from './objects.ts'

const NOT_ASKED: Lookup<never> = { state: 'Unknown', reason: 'was not read: there is no answer of the API server' }

/** The API's objects, each as far as it was read. */
export function apiObjects({ inputs }: PlanContext) {
  const { api } = inputs.snapshot
  const lookup = api && apiLookup(api)
  return {
    claim: (namespace: string, name: string) => lookup?.persistentVolumeClaim(namespace, name) ?? NOT_ASKED,
    volume: (name: string) => lookup?.persistentVolume(name) ?? NOT_ASKED,
    volumeRecord: (name: string) =>
      lookup === undefined
        ? NOT_ASKED
        : mapFound(lookup.persistentVolume(name), (object) =>
            volumeRecord(object, { podUid: '', lookup, node: api?.node ?? null }),
          ),
    attachment: (name: string) => lookup?.volumeAttachment(name) ?? NOT_ASKED,
  }
}

/** An attachment is this node's: one that nobody needs is as bad as one that is missing. */
export function apiLinks(context: PlanContext, volume: VolumeRow, needs: Needs): Link[] {
  return [
    ...claimLink(context, volume, needs),
    ...persistentVolumeLink(context, volume, needs),
    ...attachmentLink(context, volume, needs),
  ]
}

function claimLink(context: PlanContext, volume: VolumeRow, { isNeeded }: Needs): Link[] {
  const name = claimNameOf(volume)
  if (name === undefined) return []
  const found = mapFound(apiObjects(context).claim(name.namespace, name.name), claimRecord)
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

function persistentVolumeLink(context: PlanContext, volume: VolumeRow, { isNeeded }: Needs): Link[] {
  const { persistentVolume, unresolved, attachment } = volume
  const name =
    persistentVolume?.metadata.name ??
    unresolved.find((each) => each.persistentVolumeName)?.persistentVolumeName ??
    attachment?.spec.source.persistentVolumeName
  if (name === undefined || name === '') return []
  return [{ kind: 'PersistentVolume', name, ...judge(apiObjects(context).volumeRecord(name), isNeeded, judgeVolume) }]
}

function attachmentLink(context: PlanContext, volume: VolumeRow, { isNeeded }: Needs): Link[] {
  const { identity, attachment } = volume
  const { nodeName, api } = context.inputs.snapshot
  const isListed =
    identity === undefined || api?.node == null
      ? undefined
      : context.objects.isAttached(csiUniqueName(identity.driver, identity.handle))
  const seen = (object: VolumeAttachment): Judged => judgeAttachment(attachmentRecord(object), { isNeeded, isListed })
  if (attachment !== undefined)
    return [{ kind: 'VolumeAttachment', name: attachment.metadata.name, ...seen(attachment) }]
  if (identity === undefined) return []
  const attachability = attachabilityOf(context, volume, identity)
  if (attachability === 'notAttachable') return []
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const found = apiObjects(context).attachment(name)
  // A driver whose CSIDriver could not be read may attach nothing.
  if (attachability === 'unknown' && found.state === 'Absent')
    return [{ kind: 'VolumeAttachment', name, state: 'unknown', says: 'it is not known whether the driver attaches' }]
  // What is mounted here needs its device, whoever wants it (O7).
  const { state, says } = judge(found, true, seen)
  const still = found.state === 'Absent' && isListed === true ? '; node.status.volumesAttached still lists it' : ''
  const elsewhere = elsewhereText(context.objects.attachedElsewhere(identity))
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

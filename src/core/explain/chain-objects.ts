/**
 * The links of a volume that are objects of the API: claim, PersistentVolume, VolumeAttachment. Never what an object's attributes or
 * annotations hold.
 */

import { present } from '../base/text.ts'
import type { ClusterAttachment, ClusterVolume } from '../cluster/model/cluster-state.ts'
import { nodesText } from '../cluster/model/findings.ts'
import { attachmentRecord, volumeRecord } from '../cluster/read/records.ts'
import { uniqueNameOfRow, type VolumeRow } from '../facts/row.ts'
import { namespacedName } from '../kube/api/names.ts'
import type { PersistentVolumeClaim, VolumeAttachment } from '../kube/api/objects.ts'
import type { PlanContext } from '../rules/context.ts'
import { type ApiLookup, apiLookup, type Lookup, mapFound, NOT_READ } from '../volumes/api-lookup.ts'
import { attachabilityOf as attachabilityOfDriver } from '../volumes/csi.ts'
import type { Attachability } from '../volumes/desired-state.ts'
import { podNamespace } from '../volumes/pods.ts'
import { pluginsFor } from '../volumes/registry.ts'
import { claimFacts } from '../volumes/resolve-claim.ts'
import { attachmentName, csiUniqueName, inlineCsiHandle, unescapeQualifiedName } from '../volumes/volume-names.ts'
import type { Link, Subject } from './explanation.ts'

export type Judged = Pick<Link, 'state' | 'says'>

const judgedAs =
  (state: Link['state']) =>
  (says: string): Judged => ({ state, says })

export const good = judgedAs('good')
export const bad = judgedAs('bad')
export const absent = judgedAs('absent')
export const unknown = judgedAs('unknown')

/** An object of the API, as far as it was read. */
export function asked<T>({ inputs }: PlanContext, look: (objects: ApiLookup) => Lookup<T>): Lookup<T> {
  const { api } = inputs.snapshot
  return api === undefined ? NOT_READ : look(apiLookup(api))
}

/** Of a claim, PersistentVolume or attachment behind which is no volume of this node: the object alone. */
export function objectLinks(context: PlanContext, { kind, name }: Subject): Link[] {
  if (kind === 'PersistentVolumeClaim') {
    const [namespace = '', own = ''] = name.split('/')
    return [claimLink(context, { namespace, name: own }, true)]
  }
  if (kind === 'PersistentVolume') return [persistentVolumeLink(context, name, true)]
  if (kind !== 'VolumeAttachment') return []
  const found = asked(context, (objects) => objects.volumeAttachment(name))
  const ofNode = (object: VolumeAttachment): Judged => {
    const { state, says } = judgeAttachment(object, true, undefined)
    return { state, says: `${says}; to node ${object.spec.nodeName}` }
  }
  return [{ kind, name, ...judge(found, true, ofNode) }]
}

/**
 * An attachment is this node's: one that nobody needs is as bad as one that is missing.
 *
 * @param isNeeded somebody here wants the volume, or may still use it
 */
export function apiLinks(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const claim = claimNameOf(volume)
  const name = persistentVolumeNameOf(volume)
  return present(
    claim && claimLink(context, claim, isNeeded),
    name && persistentVolumeLink(context, name, isNeeded),
    ...attachmentLink(context, volume, isNeeded),
  )
}

type ClaimName = { readonly namespace: string; readonly name: string }

function claimLink(context: PlanContext, claim: ClaimName, isNeeded: boolean): Link {
  const found = asked(context, (objects) => objects.persistentVolumeClaim(claim.name, claim.namespace))
  return { kind: 'PersistentVolumeClaim', name: namespacedName(claim), ...judge(found, isNeeded, judgeClaim) }
}

/** Of the claim that a volume is of, or would be. */
function claimNameOf({ wanted, ended, unresolved, persistentVolume }: VolumeRow): ClaimName | undefined {
  const claim = [...wanted, ...ended].find((each) => each.claim !== undefined)?.claim?.metadata
  if (claim !== undefined) return { namespace: claim.namespace ?? 'default', name: claim.name }
  const missing = unresolved.find(({ claimName }) => claimName !== undefined)
  if (missing?.claimName !== undefined) return { namespace: podNamespace(missing.pod), name: missing.claimName }
  const { namespace = 'default', name } = { ...persistentVolume?.spec.claimRef }
  return name === undefined ? undefined : { namespace, name }
}

function persistentVolumeNameOf({ persistentVolume, unresolved, attachment }: VolumeRow): string | undefined {
  return (
    persistentVolume?.metadata.name ??
    unresolved.find((each) => each.persistentVolumeName)?.persistentVolumeName ??
    attachment?.spec.source.persistentVolumeName
  )
}

/** Under the name that the controller gives it, translated to CSI if it is in-tree. */
function persistentVolumeLink(context: PlanContext, name: string, isNeeded: boolean): Link {
  const found = asked(context, (lookup) =>
    mapFound(lookup.persistentVolume(name), (object) => {
      const [found] = pluginsFor(object.spec)
      return judgeVolume(volumeRecord(object, lookup), found?.plugin.sourceText?.(found.source))
    }),
  )
  return { kind: 'PersistentVolume', name, ...judge(found, isNeeded, (judged) => judged) }
}

function attachmentLink(context: PlanContext, volume: VolumeRow, isNeeded: boolean): Link[] {
  const { identity, attachment, wanted, mounts } = volume
  const { nodeName, api } = context.inputs.snapshot
  const isListed =
    identity === undefined || api?.node == null
      ? undefined
      : context.objects.isAttached(csiUniqueName(identity.driver, identity.handle))
  const seen = (object: VolumeAttachment): Judged => judgeAttachment(object, isNeeded, isListed)
  const link = (name: string, judged: Judged): Link[] => [{ kind: 'VolumeAttachment', name, ...judged }]
  if (attachment !== undefined) return link(attachment.metadata.name, seen(attachment))
  if (identity === undefined || wanted.length + mounts.length === 0) return []
  const attachability = attachabilityOf(context, volume)
  if (attachability === 'notAttachable') return []
  const name = attachmentName(identity.handle, identity.driver, nodeName)
  const found = asked(context, (objects) => objects.volumeAttachment(name))
  // A driver whose CSIDriver could not be read, or is gone and leaves a mount, may attach nothing.
  const driver = asked(context, (objects) => objects.csiDriver(identity.driver))
  if (found.state === 'Absent' && (attachability === 'unknown' || (wanted.length === 0 && driver.state !== 'Found')))
    return link(name, unknown('it is not known whether the driver attaches'))
  // What is mounted here needs its device, whoever wants it (O7).
  const { state, says } = judge(found, true, seen)
  const nodes = context.objects.attachedElsewhere(identity)
  const more = present(
    says,
    found.state === 'Absent' && isListed === true && 'node.status.volumesAttached still lists it',
    nodes.length > 0 && `${nodesText(nodes, 2)} ${nodes.length === 1 ? 'has' : 'have'} the volume`,
  )
  return link(name, { state, says: more.join('; ') })
}

/**
 * By what pods want; of a leftover by what the API still shows (R512), then by its driver (R012), without whose CSIDriver object it is
 * attached.
 */
export function attachabilityOf(context: PlanContext, volume: VolumeRow): Attachability {
  const { wanted, ended, onDisk, identity, attachment } = volume
  const wants = [...wanted, ...ended].map(({ attachability }) => attachability)
  const known = (['attachable', 'unknown', 'notAttachable'] as const).find((each) => wants.includes(each))
  if (known !== undefined) return known
  if (attachment !== undefined || context.objects.isAttached(uniqueNameOfRow(volume) ?? '')) return 'attachable'
  if (identity === undefined) return 'notAttachable'
  const { driver, handle } = identity
  // An inline volume is never attached, whatever its driver does with other volumes (C35).
  if (onDisk.some(({ podUid, name }) => handle === inlineCsiHandle(podUid, unescapeQualifiedName(name))))
    return 'notAttachable'
  return attachabilityOfDriver(driver, { csiDriver: (name) => asked(context, (objects) => objects.csiDriver(name)) })
}

/** What is found is judged; what is not is bad where it is needed, and unknown where nobody could look. */
function judge<T>(found: Lookup<T>, isNeeded: boolean, ofObject: (object: T) => Judged): Judged {
  if (found.state === 'Found') return ofObject(found.object)
  if (found.state === 'Unknown') return unknown(found.reason)
  return (isNeeded ? bad : absent)('does not exist')
}

function judgeClaim(claim: PersistentVolumeClaim): Judged {
  const record = claimFacts(claim)
  const { phase, volumeName } = record
  const isBound = volumeName !== undefined && (phase ?? 'Bound') === 'Bound'
  const bound = volumeName === undefined ? 'not bound to a PersistentVolume' : `bound to ${volumeName}`
  return judged(isBound, record, isBound ? bound : `${phase ?? 'no phase'}, ${bound}`)
}

/** @param source of a plugin whose volumes have no driver and no handle, in its own words */
function judgeVolume(record: ClusterVolume, source: string | undefined): Judged {
  const { phase, driver, plugin = 'no plugin', handle = 'unknown', accessModes, problem } = record
  if (problem !== undefined) return bad(problem)
  const is = source ?? (driver === undefined ? plugin : `${driver}, handle ${handle}`)
  return judged(phase !== 'Failed', record, phase !== 'Bound' && phase, is, accessModes.join(', '))
}

/**
 * @param isNeeded a pod of the node needs it: an attachment that nobody needs is as bad as one that is missing
 * @param isListed in volumesAttached of its node; undefined: not known
 */
function judgeAttachment(object: VolumeAttachment, isNeeded: boolean, isListed: boolean | undefined): Judged {
  const record = attachmentRecord(object)
  const { attached, attachError, detachError } = record
  const isAttached = attached === true
  return judged(
    isAttached && isNeeded,
    record,
    isAttached ? 'attached' : 'not attached',
    isAttached && isListed === false && 'node.status.volumesAttached does not list it',
    !isNeeded && 'no pod there wants it',
    detachError?.message ?? attachError?.message,
  )
}

/** An object that is being deleted is never good. */
function judged(
  isGood: boolean,
  { deletedAt, finalizers = [] }: Partial<Pick<ClusterAttachment, 'deletedAt' | 'finalizers'>>,
  ...says: readonly (string | false | undefined)[]
): Judged {
  const keepers = finalizers.map((each) => `, kept by finalizer ${each}`)
  const deleting = deletedAt && `being deleted since ${deletedAt}${keepers.join('')}`
  const judge = isGood && deletedAt === undefined ? good : bad
  return judge(present(...says, deleting).join('; '))
}

/**
 * What explain says of a pod, claim, PersistentVolume or VolumeAttachment, as facts and as a link of a chain. Never what an object's
 * attributes or annotations hold.
 */
import { nodesText } from '../cluster/context/names.ts'
import type { ClusterAttachment, ClusterClaim, ClusterVolume } from '../cluster/model/cluster-state.ts'
import { namespacedName } from '../plan/pod-name.ts'
import type { Lookup } from '../volumes/api-lookup.ts'
import type { Fact, Link } from './explanation.ts'

/** From the API, unless another source is named; without a value nothing is said. */
export type Row = readonly [label: string, value: string | number | null | undefined, from?: string]

export function factsOf(rows: readonly Row[]): Fact[] {
  return rows.flatMap(([label, value, from = 'API']) =>
    value == null || value === '' ? [] : [{ label, value: String(value), from }],
  )
}

/** Since when, and what the API waits for. */
export function deletionRows(
  deletedAt: string | null | undefined,
  finalizers: readonly string[] | null = [],
): readonly Row[] {
  if (deletedAt == null) return []
  return [
    ['Being deleted', deletedAt],
    ['Kept by', finalizers?.map((each) => `finalizer ${each}`).join(', ')],
  ]
}

/** Of an object that is not there, or was not read: others refer to it. */
function rowsOf<T>(label: string, name: string, found: Lookup<T>, ofObject: (object: T) => readonly Row[]) {
  if (found.state === 'Found') return ofObject(found.object)
  const why = found.state === 'Absent' ? MISSING : found.reason
  return [[label, `${name}: ${why}`, 'an object that refers to it']] satisfies Row[]
}

export function claimRows(name: string, claim: Lookup<ClusterClaim>): readonly Row[] {
  return rowsOf('Claim', name, claim, ({ phase, deletedAt, finalizers, volumeName, storageClass, uid }) => [
    ['Claim', `${name}, ${phase ?? 'no phase'}`],
    ...deletionRows(deletedAt, finalizers),
    ['Bound to', volumeName],
    ['Class', storageClass],
    ['UID', uid],
  ])
}

/** @param source what a volume that is no CSI volume is */
export function volumeRows(name: string, volume: Lookup<ClusterVolume>, source?: string): readonly Row[] {
  return rowsOf('PersistentVolume', name, volume, (object) => [
    ['PersistentVolume', `${name}, ${object.phase ?? 'no phase'}`],
    ...deletionRows(object.deletedAt, object.finalizers),
    ['Claim', object.claim && namespacedName(object.claim)],
    ['Access modes', object.accessModes.join(', ')],
    ['Reclaim', object.reclaimPolicy],
    ['Source', source ?? sourceOf(object)],
    ['In-tree', object.migratedFrom],
    ['Unique name', object.uniqueName],
    ['UID', object.uid],
  ])
}

/** In-tree disks as what they are translated to. */
function sourceOf({ driver, plugin, handle }: ClusterVolume): string | undefined {
  return driver === undefined ? plugin : `CSI driver ${driver}, handle ${handle ?? 'unknown'}`
}

export function attachmentRows(attachment: ClusterAttachment): readonly Row[] {
  const { name, node, attacher, persistentVolume, inline, attached, createdAt, byVolctl } = attachment
  return [
    ['VolumeAttachment', name],
    ['Node', node],
    ['Attacher', attacher],
    ['PersistentVolume', persistentVolume],
    ['Inline', inline?.handle],
    ['Attached', attached === true ? 'yes' : 'no'],
    ['Created', createdAt && `${createdAt}${byVolctl === true ? ', by volctl' : ''}`],
    ...deletionRows(attachment.deletedAt, attachment.finalizers),
    ['Attach error', attachment.attachError?.message],
    ['Detach error', attachment.detachError?.message],
    ['UID', attachment.uid],
  ]
}

export type Judged = Pick<Link, 'state' | 'says'>

const MISSING = 'does not exist'

/** What is found is judged; what is not is bad where it is needed, and unknown where nobody could look. */
export function judge<T>(found: Lookup<T>, isNeeded: boolean, ofObject: (object: T) => Judged): Judged {
  if (found.state === 'Found') return ofObject(found.object)
  if (found.state === 'Unknown') return { state: 'unknown', says: found.reason }
  return { state: isNeeded ? 'bad' : 'absent', says: MISSING }
}

export function judgeClaim({ phase, volumeName, deletedAt }: ClusterClaim): Judged {
  const isBound = volumeName !== undefined && (phase ?? 'Bound') === 'Bound'
  const bound = volumeName === undefined ? 'not bound to a PersistentVolume' : `bound to ${volumeName}`
  return {
    state: isBound && deletedAt === undefined ? 'good' : 'bad',
    says: `${isBound ? bound : `${phase ?? 'no phase'}, ${bound}`}${deletingText(deletedAt)}`,
  }
}

export function judgeVolume({ phase, driver, plugin, handle, accessModes, problem, deletedAt }: ClusterVolume): Judged {
  if (problem !== undefined) return { state: 'bad', says: problem }
  const source = driver === undefined ? (plugin ?? 'no plugin') : `${driver}, handle ${handle ?? 'unknown'}`
  const facts = [...(phase === undefined || phase === 'Bound' ? [] : [phase]), source, accessModes.join(', ')]
  return {
    state: phase === 'Failed' || deletedAt !== undefined ? 'bad' : 'good',
    says: `${facts.filter((each) => each !== '').join('; ')}${deletingText(deletedAt)}`,
  }
}

interface Seen {
  /** A pod of the node needs it: an attachment that nobody needs is as bad as one that is missing. */
  readonly isNeeded: boolean
  /** In volumesAttached of its node; undefined: not known. */
  readonly isListed?: boolean | undefined
}

export function judgeAttachment(
  { attached, deletedAt, attachError, detachError }: ClusterAttachment,
  { isNeeded, isListed }: Seen,
): Judged {
  const isAttached = attached === true
  const says = [
    isAttached ? 'attached' : 'not attached',
    isAttached && isListed === false ? 'node.status.volumesAttached does not list it' : undefined,
    isNeeded ? undefined : 'no pod there wants it',
    detachError?.message ?? attachError?.message,
  ]
  const isGood = isAttached && isNeeded && deletedAt === undefined
  const text = says.filter((each) => each !== undefined).join('; ')
  return { state: isGood ? 'good' : 'bad', says: `${text}${deletingText(deletedAt)}` }
}

/** Of a volume whose attachment to this node does not exist. */
export function elsewhereText(nodes: readonly string[]): string {
  return nodes.length === 0 ? '' : `; ${nodesText(nodes, 2)} ${nodes.length === 1 ? 'has' : 'have'} the volume`
}

function deletingText(deletedAt: string | undefined): string {
  return deletedAt === undefined ? '' : `; being deleted since ${deletedAt}`
}

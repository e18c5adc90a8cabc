/** What a thing is, and where that was learned. Never what a secret, or an object's attributes or annotations, hold. */

import { attachmentRecord } from '../cluster/read/records.ts'
import type { PlanContext } from '../reconcile/context/context.ts'
import { identifyAttachment } from '../reconcile/identity/csi-identity.ts'
import type { Lookup } from '../volumes/api-lookup.ts'
import { PLUGINS } from '../volumes/registry.ts'
import { apiObjects, MISSING, volumeRecordOf } from './chain-objects.ts'
import type { Fact } from './explanation.ts'
import type { Thing } from './things.ts'

/** From the API, unless another source is named; without a value nothing is said. */
type Row = readonly [label: string, value: string | number | null | undefined, from?: string]

function factsOf(rows: readonly Row[]): Fact[] {
  return rows.flatMap(([label, value, from = 'API']) =>
    value == null || value === '' ? [] : [{ label, value: String(value), from }],
  )
}

/** Facts of what was asked about; those of the volume behind an object are the volume's (describe-volume.ts). */
export function identityOf(context: PlanContext, things: readonly Thing[]): Fact[] {
  return things.flatMap((thing) => factsOf(ROWS[thing.kind](context, thing)))
}

const ROWS: Readonly<Record<Thing['kind'], (context: PlanContext, thing: Thing) => readonly Row[]>> = {
  Pod: podRows,
  PersistentVolumeClaim: claimRows,
  PersistentVolume: persistentVolumeRows,
  VolumeAttachment: attachmentRows,
  Volume: (_, { volume }) => [
    ['Not identified', volume?.unidentified, 'disk'],
    [
      'Also called',
      [...(volume?.names ?? [])].filter((name) => name !== volume?.uniqueName).join(', '),
      'API and disk',
    ],
  ],
  // Its chain says all.
  Driver: () => [],
}

function podRows({ classes, inputs }: PlanContext, { name: uid }: Thing): readonly Row[] {
  const { pod } = { ...classes.of(uid) }
  const directory = inputs.absolute(`pods/${uid}`)
  return [
    ['Created', pod?.metadata.creationTimestamp],
    ...deletionRows(pod?.metadata),
    ['Directory', inputs.tree.has(`pods/${uid}`) ? directory : `${directory}: not there`, 'disk'],
  ]
}

/** Since when, and what the API waits for. */
function deletionRows({
  deletionTimestamp: deletedAt,
  finalizers,
}: {
  readonly deletionTimestamp?: string | null
  readonly finalizers?: readonly string[] | null
} = {}): readonly Row[] {
  if (deletedAt == null) return []
  return [
    ['Being deleted', deletedAt],
    ['Kept by', finalizers?.map((each) => `finalizer ${each}`).join(', ')],
  ]
}

/** Of an object that is not there, or was not read: others refer to it. */
function objectRows<T>(label: string, name: string, found: Lookup<T>, ofObject: (object: T) => readonly Row[]) {
  if (found.state === 'Found') return ofObject(found.object)
  const why = found.state === 'Absent' ? MISSING : found.reason
  return [[label, `${name}: ${why}`, 'an object that refers to it']] satisfies Row[]
}

function claimRows(context: PlanContext, { name }: Thing): readonly Row[] {
  const [namespace = '', own = ''] = name.split('/')
  const found = apiObjects(context).persistentVolumeClaim(namespace, own)
  return objectRows('Claim', name, found, ({ metadata, spec, status }) => [
    ['Claim', `${name}, ${status?.phase ?? 'no phase'}`],
    ...deletionRows(metadata),
    ['Bound to', spec.volumeName],
    ['Class', spec.storageClassName],
    ['UID', metadata.uid],
    ['Access modes', spec.accessModes?.join(', ')],
    ['Capacity', status?.capacity?.storage],
  ])
}

function persistentVolumeRows(context: PlanContext, { name }: Thing): readonly Row[] {
  const found = apiObjects(context).persistentVolume(name)
  return objectRows('PersistentVolume', name, found, ({ metadata, spec, status }) => {
    const { claimRef } = spec
    const record = volumeRecordOf(context, name)
    const {
      driver,
      plugin,
      handle = 'unknown',
      migratedFrom,
      uniqueName,
    } = record.state === 'Found' ? record.object : {}
    // In-tree disks as what they are translated to.
    const translated = driver === undefined ? plugin : `CSI driver ${driver}, handle ${handle}`
    const source = PLUGINS.map((each) => each.sourceText?.(spec)).find((text) => text !== undefined)
    return [
      ['PersistentVolume', `${name}, ${status?.phase ?? 'no phase'}`],
      ...deletionRows(metadata),
      ['Claim', claimRef == null ? undefined : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`],
      ['Access modes', spec.accessModes?.join(', ')],
      ['Reclaim', spec.persistentVolumeReclaimPolicy],
      ['Source', source ?? translated],
      ['In-tree', migratedFrom],
      ['Unique name', uniqueName],
      ['UID', metadata.uid],
      ['Capacity', spec.capacity?.storage],
      ['Mode', spec.volumeMode],
    ]
  })
}

function attachmentRows(context: PlanContext, { name }: Thing): readonly Row[] {
  const { api, nodeName } = context.inputs.snapshot
  const found = api?.volumeAttachments.find(({ metadata }) => metadata.name === name)
  if (found === undefined) return []
  const { node, attacher, persistentVolume, inline, attached, createdAt, byVolctl, attachError, detachError, uid } =
    attachmentRecord(found)
  const identity = node === nodeName ? identifyAttachment(context, found) : undefined
  return [
    ['VolumeAttachment', name],
    ['Node', node],
    ['Attacher', attacher],
    ['PersistentVolume', persistentVolume],
    ['Inline', inline?.handle],
    ['Attached', attached === true ? 'yes' : 'no'],
    ['Created', createdAt && `${createdAt}${byVolctl === true ? ', by volctl' : ''}`],
    ...deletionRows(found.metadata),
    ['Attach error', attachError?.message],
    ['Detach error', detachError?.message],
    ['UID', uid],
    ['Handle', identity?.handle, identity?.from ?? ''],
  ]
}

/** Of this node as a whole, what its plan does not say: what the Node object reports. */
export function nodeFacts({ inputs }: PlanContext): Fact[] {
  const { api, nodeName, bootTime } = inputs.snapshot
  const { status } = api?.node ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const own = api?.volumeAttachments.filter(({ spec }) => spec.nodeName === nodeName) ?? []
  const attached =
    status && `${status.volumesAttached?.length ?? 0} in node.status.volumesAttached, ${own.length} VolumeAttachments`
  return factsOf([
    ['Kubelet', status?.nodeInfo?.kubeletVersion],
    ['Attached', attached],
    ['In use', status && `${status.volumesInUse?.length ?? 0} in node.status.volumesInUse`],
    ['Ready', ready && `${ready.status}, heartbeat of ${ready.lastHeartbeatTime ?? 'unknown time'}`],
    ['Booted', bootTime, 'this host'],
  ])
}

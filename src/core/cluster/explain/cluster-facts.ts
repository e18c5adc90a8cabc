/** What an object of a cluster is, and where that was learned. */

import type { Fact } from '../../explain/explanation.ts'
import { count } from '../../lang/count.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { attacherLease } from '../context/drivers.ts'
import type { ClusterTarget } from './cluster-candidates.ts'

type Row = readonly [label: string, value: string | number | undefined, from?: string]

export function clusterFacts(context: ClusterContext, target: ClusterTarget): Fact[] {
  return rowsOf(context, target).flatMap(([label, value, from = 'API']) =>
    value === undefined || value === '' ? [] : [{ label, value: String(value), from }],
  )
}

function rowsOf(context: ClusterContext, target: ClusterTarget): readonly Row[] {
  switch (target.kind) {
    case 'Pod':
      return podRows(target.pod)
    case 'PersistentVolumeClaim':
      return claimRows(context, target)
    case 'PersistentVolume':
      return persistentVolumeRows(context, target.name)
    case 'VolumeAttachment':
      return attachmentRows(context, target.name)
    case 'Volume':
      return volumeRows(context, target.uniqueName)
    case 'Node':
      return nodeRows(context, target.name)
    case 'Driver':
      return driverRows(context, target.name)
    default:
      throw new Error(`no facts of ${JSON.stringify(target satisfies never)}`)
  }
}

function podRows(pod: Extract<ClusterTarget, { kind: 'Pod' }>['pod']): readonly Row[] {
  const { uid, node, phase, owner, createdAt, deletedAt } = pod
  return [
    ['UID', uid],
    ['Node', node],
    ['Phase', phase],
    ['Owner', owner && `${owner.kind} ${owner.name}`],
    ['Created', createdAt],
    ['Deleted', deletedAt],
  ]
}

function claimRows(
  { objects }: ClusterContext,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly Row[] {
  const found = objects.claim(namespace, name)
  if (found.state !== 'Found') return []
  const { uid, phase, volumeName, storageClass, deletedAt, finalizers } = found.object
  return [
    ['Phase', phase],
    ['PV', volumeName],
    ['Class', storageClass],
    ['UID', uid],
    ['Deleted', deletedAt],
    ['Finalizers', finalizers?.join(', ')],
  ]
}

function persistentVolumeRows({ objects }: ClusterContext, name: string): readonly Row[] {
  const found = objects.volume(name)
  if (found.state !== 'Found') return []
  const { uid, phase, claim, accessModes, reclaimPolicy, driver, plugin, handle, uniqueName, deletedAt } = found.object
  const { finalizers, migratedFrom } = found.object
  return [
    ['Handle', handle],
    ['Driver', driver ?? plugin],
    ['Claim', claim && namespacedName(claim)],
    ['Modes', accessModes.join(', ')],
    ['Phase', phase],
    ['Reclaim', reclaimPolicy],
    ['Unique name', uniqueName],
    ['In-tree', migratedFrom],
    ['UID', uid],
    ['Deleted', deletedAt],
    ['Finalizers', finalizers?.join(', ')],
  ]
}

function attachmentRows({ objects }: ClusterContext, name: string): readonly Row[] {
  const found = objects.attachment(name)
  if (found.state !== 'Found') return []
  const { uid, node, attacher, persistentVolume, inline, createdAt, deletedAt, finalizers, byVolctl } = found.object
  return [
    ['PV', persistentVolume],
    ['Inline', inline?.handle],
    ['Node', node],
    ['Attacher', attacher],
    ['Created', createdAt && `${createdAt}${byVolctl === true ? ', by volctl' : ''}`],
    ['Deleted', deletedAt],
    ['Finalizers', finalizers?.join(', ')],
    ['UID', uid],
  ]
}

function volumeRows({ known, actual }: ClusterContext, uniqueName: string): readonly Row[] {
  const { driver, plugin, handle, persistentVolumes = [], claim, accessModes = [] } = known.get(uniqueName) ?? {}
  return [
    ['Unique name', uniqueName],
    ['Driver', driver ?? plugin],
    ['Handle', handle],
    ['PVs', persistentVolumes.join(', ')],
    ['Claim', claim],
    ['Modes', accessModes.join(', ')],
    ['Nodes', actual.nodesWith(uniqueName).join(', ')],
  ]
}

function nodeRows(context: ClusterContext, name: string): readonly Row[] {
  const { objects, actual } = context
  const found = objects.node(name)
  const attachments: Row = ['Attached', attachedText(actual.onNode(name).length, actual.confirmedOn(name).size)]
  if (found.state !== 'Found') return [attachments]
  const {
    ready,
    readySince,
    leaseRenewTime,
    leaseWrittenAt,
    heartbeat,
    kubeletVersion,
    outOfService,
    csi,
    uid,
    machineID,
  } = found.object
  const drivers = csi.state === 'known' ? csi.drivers : []
  const counts = drivers.map(({ name: driver, limit }) => {
    const own = actual.onNode(name).filter(({ object }) => object.attacher === driver).length
    return `${driver} ${own}${limit === undefined ? '' : ` of ${limit}`}`
  })
  return [
    ['Ready', `${ready ?? 'missing'}${readySince === undefined ? '' : ` since ${readySince}`}`],
    attachments,
    ['In use', `${actual.inUseOn(name).size} in volumesInUse`],
    ['Drivers', counts.join(', '), 'CSINode, VolumeAttachments'],
    ['Taint', outOfService ? 'out-of-service' : undefined],
    ['Heard', [leaseWrittenAt, leaseRenewTime, heartbeat].find((each) => each !== undefined)],
    ['Kubelet', kubeletVersion],
    ['UID', uid],
    ['Machine', machineID],
  ]
}

function attachedText(objects: number, confirmed: number): string {
  return `${count(objects, 'VolumeAttachment')}, ${confirmed} in volumesAttached`
}

function driverRows(context: ClusterContext, name: string): readonly Row[] {
  const { objects, state, actual } = context
  const found = objects.driver(name)
  const nodes = state.nodes.filter(({ csi }) => csi.state === 'known' && csi.drivers.some((each) => each.name === name))
  const own = actual.all.filter(({ object }) => object.attacher === name)
  const lease = attacherLease(context, name)
  const object =
    found.state === 'Found'
      ? `attachRequired: ${found.object.attachRequired ?? 'true (default)'}`
      : found.state === 'Absent'
        ? 'none'
        : found.reason
  return [
    ['CSIDriver', object],
    ['Nodes', `registered on ${nodes.length} of ${count(state.nodes.length, 'node')}`, 'CSINodes'],
    ['Attacher', lease && `lease ${lease.name}, renewed ${lease.renewTime ?? 'at an unknown time'}`],
    [
      'Attached',
      `${count(own.length, 'VolumeAttachment')}, ${own.filter((each) => each.object.attached === true).length} attached`,
    ],
    ['PVs', state.volumes.filter(({ driver }) => driver === name).length],
  ]
}

/** What an object of a cluster is, and where that was learned. */

import type { Fact } from '../../explain/explanation.ts'
import { attachmentRows, claimRows, deletionRows, factsOf, type Row, volumeRows } from '../../explain/objects.ts'
import { count } from '../../lang/count.ts'
import { namespacedName } from '../../plan/pod-name.ts'
import type { ClusterContext } from '../context/cluster-context.ts'
import { attacherLease } from '../context/drivers.ts'
import type { ClusterTarget } from './cluster-candidates.ts'

export function clusterFacts(context: ClusterContext, target: ClusterTarget): Fact[] {
  return factsOf(rowsOf(context, target))
}

function rowsOf(context: ClusterContext, target: ClusterTarget): readonly Row[] {
  switch (target.kind) {
    case 'Pod':
      return podRows(target.pod)
    case 'PersistentVolumeClaim':
      return claimRows(namespacedName(target), context.objects.claim(target.namespace, target.name))
    case 'PersistentVolume':
      return volumeRows(target.name, context.objects.volume(target.name))
    case 'VolumeAttachment':
      return foundRows(context, target.name)
    case 'Volume':
      return knownRows(context, target.uniqueName)
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
    ...deletionRows(deletedAt),
  ]
}

/** One that is still to be created has no facts. */
function foundRows({ objects }: ClusterContext, name: string): readonly Row[] {
  const found = objects.attachment(name)
  return found.state === 'Found' ? attachmentRows(found.object) : []
}

function knownRows({ known, actual }: ClusterContext, uniqueName: string): readonly Row[] {
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

/** Nodes with their CSINode and Lease, CSIDrivers and Leases as records. */
import { migratedPlugins } from '../../desired/csi-translation/in-tree-plugin.ts'
import { isOutOfService } from '../../desired/node-status.ts'
import { defined } from '../../lang/defined.ts'
import { KEEPS_TERMINATED, MANAGED } from '../../model/annotations.ts'
import type { CsiDriver, Lease } from '../../model/objects.ts'
import type { ClusterDriver, ClusterNode, LeaseEvidence, NodeDriver } from '../model/cluster-state.ts'
import { timeOf } from '../model/times.ts'
import { lastWritten } from './controller-writes.ts'
import type { ReceivedCsiNode, ReceivedNode } from './received.ts'

/** The node without what other lists say of it. */
export function nodeRecord({ metadata, spec, status }: ReceivedNode): ClusterNode {
  const annotations = metadata.annotations ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    managed: Object.hasOwn(annotations, MANAGED),
    keepsTerminated: annotations[KEEPS_TERMINATED] === 'true',
    outOfService: isOutOfService({ spec }),
    csi: { state: 'unknown' },
    ...defined({
      createdAt: metadata.creationTimestamp ?? undefined,
      deletedAt: metadata.deletionTimestamp,
      ready: ready?.status,
      readySince: ready?.lastTransitionTime ?? undefined,
      heartbeat: ready?.lastHeartbeatTime ?? undefined,
      kubeletVersion: status?.nodeInfo?.kubeletVersion,
      volumesInUse: status?.volumesInUse ?? undefined,
      volumesAttached: status?.volumesAttached?.map(({ name }) => name),
    }),
  }
}

export function csiRecord({ metadata, spec }: ReceivedCsiNode): ClusterNode['csi'] {
  const drivers = (spec.drivers ?? []).map(
    ({ name, nodeID = '', allocatable }): NodeDriver => ({
      name,
      nodeID,
      ...defined({ limit: allocatable?.count }),
    }),
  )
  return { state: 'known', drivers, migrated: migratedPlugins({ metadata }) ?? [] }
}

export function driverRecord({ metadata, spec }: CsiDriver): ClusterDriver {
  return { name: metadata.name, ...defined({ attachRequired: spec.attachRequired }) }
}

/** @param lease with its managedFields */
export function leaseRecord(lease: Lease): LeaseEvidence {
  const { metadata, spec } = lease
  return {
    name: `${metadata.namespace ?? ''}/${metadata.name}`,
    ...defined({
      holder: spec?.holderIdentity || undefined,
      renewTime: spec?.renewTime ?? undefined,
      writtenAt: lastWritten(lease),
      durationSeconds: spec?.leaseDurationSeconds ?? undefined,
    }),
  }
}

/** A lease is written a moment after the time that stands in it. */
const WRITING_MS = 10_000

/** What the lease of a kubelet says of its node. */
export function nodeLease({
  renewTime,
  writtenAt,
}: LeaseEvidence): Pick<ClusterNode, 'leaseRenewTime' | 'leaseWrittenAt'> {
  const [renewed, written] = [timeOf(renewTime), timeOf(writtenAt)]
  const isBehind = renewed !== undefined && written !== undefined && written - renewed > WRITING_MS
  return defined({ leaseRenewTime: renewTime, leaseWrittenAt: isBehind ? writtenAt : undefined })
}

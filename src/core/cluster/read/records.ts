/** Objects of the API as records: of each kind its resource, and what becomes of an object. */

import { MANAGED } from '../../kube/api/names.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  CSI_DRIVERS,
  CSI_NODES,
  type CsiDriver,
  type CsiNode,
  LEASES,
  type Lease,
  NODES,
  type Node,
  type PersistentVolume,
  PODS,
  type Pod,
  type PodVolumeSource,
  VOLUMES,
  type VolumeAttachment,
} from '../../kube/api/objects.ts'
import { IN_TREE } from '../../volumes/in-tree-volumes.ts'
import { isOutOfService } from '../../volumes/node-affinity.ts'
import type { SpecContext } from '../../volumes/plugin.ts'
import { containerStatusesOf, isControllerTerminated, podNamespace } from '../../volumes/pods.ts'
import { claimFacts, claimReferenceOf } from '../../volumes/resolve-claim.ts'
import { ofSource, specOf } from '../../volumes/resolve-volume.ts'
import {
  type ClusterAttachment,
  type ClusterNode,
  type ClusterPod,
  type ClusterPodVolume,
  type ClusterVolume,
  type LeaseEvidence,
  timeOf,
} from '../model/cluster-state.ts'
import { lastWritten } from './controller-writes.ts'

/** The CSIDrivers, by which volumes are named. */
export type Drivers = SpecContext['lookup']

/** Records of each kind; none for an object on which nothing depends. */
export const KINDS = {
  nodes: { resource: NODES, record: nodeRecord },
  csinodes: { resource: CSI_NODES, record: csiRecord },
  leases: { resource: LEASES, record: leaseRecord },
  pods: { resource: PODS, record: podRecord },
  claims: { resource: CLAIMS, record: claimFacts },
  volumes: { resource: VOLUMES, record: volumeRecord },
  attachments: { resource: ATTACHMENTS, record: attachmentRecord },
  drivers: { resource: CSI_DRIVERS, record: driverRecord },
}

export type RecordKind = keyof typeof KINDS
export type RecordOf<K extends RecordKind> = NonNullable<ReturnType<(typeof KINDS)[K]['record']>>

// Nodes with their CSINode and Lease, CSIDrivers and Leases.

/** The node without what other lists say of it. */
function nodeRecord({ metadata, spec, status }: Node): ClusterNode {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    managed: Object.hasOwn(metadata.annotations ?? {}, MANAGED),
    outOfService: isOutOfService({ spec }),
    csi: { state: 'unknown' },
    createdAt: metadata.creationTimestamp ?? undefined,
    deletedAt: metadata.deletionTimestamp,
    ready: ready?.status,
    readySince: ready?.lastTransitionTime ?? undefined,
    heartbeat: ready?.lastHeartbeatTime ?? undefined,
    volumesInUse: status?.volumesInUse ?? undefined,
    volumesAttached: status?.volumesAttached?.map(({ name }) => name),
  }
}

function csiRecord({ metadata, spec }: CsiNode): Pick<ClusterNode, 'name' | 'csi'> {
  const drivers = (spec.drivers ?? []).map(({ name, allocatable }) => ({ name, limit: allocatable?.count }))
  return { name: metadata.name, csi: { state: 'known', drivers } }
}

function driverRecord({ metadata, spec }: CsiDriver) {
  return { name: metadata.name, attachRequired: spec.attachRequired }
}

/** @param lease with its managedFields */
function leaseRecord(lease: Lease): LeaseEvidence {
  const { metadata, spec } = lease
  return {
    name: `${metadata.namespace ?? ''}/${metadata.name}`,
    holder: spec?.holderIdentity || undefined,
    renewTime: spec?.renewTime ?? undefined,
    writtenAt: lastWritten(lease),
    durationSeconds: spec?.leaseDurationSeconds ?? undefined,
  }
}

/** A lease is written a moment after the time that stands in it. */
const WRITING_MS = 10_000

/** What the lease of a kubelet says of its node. */
export function nodeLease(lease: LeaseEvidence | undefined) {
  const { renewTime: leaseRenewTime, writtenAt } = lease ?? {}
  // NaN: not known.
  const lagMs = (timeOf(writtenAt) ?? Number.NaN) - (timeOf(leaseRenewTime) ?? Number.NaN)
  return { leaseRenewTime, leaseWrittenAt: lagMs > WRITING_MS ? writtenAt : undefined }
}

// A pod as the attach/detach controller looks at it: where it runs, whether it is over, and what it wants attached.

/**
 * Inline sources that the controller would attach: FC, iSCSI, flexVolume, and the in-tree disks that become CSI volumes. Others
 * (config maps, CSI inline volumes, NFS …) are never attached (R010, C35), so they are left out.
 */
const ATTACHED_SOURCES = [...Object.keys(IN_TREE), 'iscsi', 'fc', 'flexVolume'] as readonly (keyof PodVolumeSource)[]

/** @returns undefined for a pod without a node, or without a volume that could be attached: nothing here depends on it (R706) */
export function podRecord(pod: Pod): ClusterPod | undefined {
  const { metadata, spec } = pod
  const volumes = (spec.volumes ?? []).flatMap((volume) => podVolumes(pod, volume))
  if (!spec.nodeName || volumes.length === 0) return undefined
  return {
    namespace: podNamespace(pod),
    name: metadata.name,
    uid: metadata.uid,
    terminated: isControllerTerminated(pod),
    started: hasRun(pod),
    volumes,
    createdAt: metadata.creationTimestamp ?? undefined,
    deletedAt: metadata.deletionTimestamp,
    node: spec.nodeName,
  }
}

function podVolumes(pod: Pod, volume: PodVolumeSource): ClusterPodVolume[] {
  const { name } = volume
  const reference = claimReferenceOf(pod, volume, 'controller')
  if (reference !== undefined) return [{ name, claim: reference.name, ephemeral: reference.ephemeral || undefined }]
  const sources = ATTACHED_SOURCES.filter((source) => volume[source] != null)
  if (sources.length === 0) return []
  return [{ name, source: { name, ...Object.fromEntries(sources.map((source) => [source, volume[source]])) } }]
}

/** Some container runs or ran; one that crashed waits to be started again. */
function hasRun(pod: Pod): boolean {
  return containerStatusesOf(pod).some(
    ({ state, lastState }) => state?.running != null || state?.terminated != null || lastState?.terminated != null,
  )
}

// PersistentVolumes and VolumeAttachments.

/** On attachments that an apply of volctl has created. */
export const CREATED_BY = 'volctl.io/created-by'

/**
 * A PersistentVolume under the name that the controller gives it, translated to CSI if it is in-tree (R150).
 *
 * @param drivers the CSIDrivers, which say what needs an attachment
 */
export function volumeRecord(volume: PersistentVolume, drivers: Drivers): ClusterVolume {
  const { metadata, spec, status } = volume
  const { namespace = '', name = '', uid } = spec.claimRef ?? {}
  return {
    name: metadata.name,
    uid: metadata.uid,
    accessModes: spec.accessModes ?? [],
    ...namesOf(volume, drivers),
    deletedAt: metadata.deletionTimestamp,
    finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
    phase: status?.phase,
    claim: spec.claimRef == null ? undefined : { namespace, name, uid },
  }
}

function namesOf(
  volume: PersistentVolume,
  lookup: Drivers,
): Partial<ClusterVolume> & Pick<ClusterVolume, 'attachability'> {
  const found = specOf({ persistentVolume: volume }, { podUid: '', lookup, node: null })
  if ('error' in found) {
    // S4: a readable source that is never attached holds nothing but its pod.
    const isNeverAttached = ofSource(volume.spec).mayBe.length === 0
    return { attachability: isNeverAttached ? 'notAttachable' : 'unknown', problem: found.error }
  }
  const { plugin, uniqueName, attachability, driver, handle } = found
  return { plugin, uniqueName, attachability, driver, handle }
}

export function attachmentRecord({ metadata, spec, status }: VolumeAttachment): ClusterAttachment {
  const { persistentVolumeName, inlineVolumeSpec: inline } = spec.source
  const { driver, volumeHandle: handle } = inline?.csi ?? {}
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    attacher: spec.attacher,
    node: spec.nodeName,
    byVolctl: metadata.annotations?.[CREATED_BY] === undefined ? undefined : true,
    createdAt: metadata.creationTimestamp ?? undefined,
    deletedAt: metadata.deletionTimestamp,
    finalizers: metadata.finalizers,
    persistentVolume: persistentVolumeName || undefined,
    inline: inline == null ? undefined : { driver, handle },
    attached: status?.attached,
    attachError: errorOf(status?.attachError),
    detachError: errorOf(status?.detachError),
  }
}

/** Drivers write long messages; the beginning has the cause. */
const MESSAGE_LENGTH = 1000

function errorOf(error: NonNullable<VolumeAttachment['status']>['attachError']) {
  return error == null ? undefined : { message: (error.message ?? '').slice(0, MESSAGE_LENGTH) }
}

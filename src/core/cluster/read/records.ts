/** Objects of the API as records. */

import { omitUndefined } from '../../base/omit-undefined.ts'
import { MANAGED } from '../../kube/api/names.ts'
import {
  type CsiDriver,
  type CsiNode,
  type Lease,
  metadataFields,
  type Node,
  type ObjectMeta,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PodVolumeSource,
  podVolumeShape,
  type VolumeAttachment,
} from '../../kube/api/objects.ts'
import { PODS, type Resource } from '../../kube/api/resources.ts'
import { kept, keptList, needed, nullable, type ShapeOf, text } from '../../trust/shape.ts'
import { inTreePluginOf, migratedPlugins } from '../../volumes/in-tree-volumes.ts'
import { isOutOfService } from '../../volumes/node-affinity.ts'
import type { SpecContext } from '../../volumes/plugin.ts'
import { isControllerTerminated, podNamespace } from '../../volumes/pods.ts'
import { BOUND_ANNOTATION } from '../../volumes/resolve-claim.ts'
import { judgeSource, persistentSpec } from '../../volumes/resolve-volume.ts'
import {
  type AttachmentError,
  type ClusterAttachment,
  type ClusterClaim,
  type ClusterDriver,
  type ClusterNode,
  type ClusterPod,
  type ClusterPodVolume,
  type ClusterVolume,
  type LeaseEvidence,
  timeOf,
} from '../model/cluster-state.ts'
import { lastWritten } from './controller-writes.ts'

// Nodes with their CSINode and Lease, CSIDrivers and Leases.

/** The node without what other lists say of it. */
export function nodeRecord({ metadata, spec, status }: Node): ClusterNode {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    managed: Object.hasOwn(metadata.annotations ?? {}, MANAGED),
    outOfService: isOutOfService({ spec }),
    csi: { state: 'unknown' },
    ...omitUndefined({
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

export function csiRecord({ metadata, spec }: CsiNode): Pick<ClusterNode, 'name' | 'csi'> {
  const drivers = (spec.drivers ?? []).map(({ name, allocatable }) => ({
    name,
    ...omitUndefined({ limit: allocatable?.count }),
  }))
  return { name: metadata.name, csi: { state: 'known', drivers, migrated: migratedPlugins({ metadata }) ?? [] } }
}

export function driverRecord({ metadata, spec }: CsiDriver): ClusterDriver {
  return { name: metadata.name, ...omitUndefined({ attachRequired: spec.attachRequired }) }
}

/** @param lease with its managedFields */
export function leaseRecord(lease: Lease): LeaseEvidence {
  const { metadata, spec } = lease
  return {
    name: `${metadata.namespace ?? ''}/${metadata.name}`,
    ...omitUndefined({
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
  return omitUndefined({ leaseRenewTime: renewTime, leaseWrittenAt: isBehind ? writtenAt : undefined })
}

// A pod as the attach/detach controller looks at it: where it runs, whether it is over, and what it wants attached.

const container = kept({
  name: needed(text),
  state: kept({
    running: nullable(kept({})),
    terminated: nullable(kept({ finishedAt: nullable(text) })),
  }),
  /** Of its last run, where it waits to run again. */
  lastState: kept({ terminated: nullable(kept({})) }),
})

interface ReceivedContainer extends ShapeOf<typeof container> {}

const containers = keptList<ReceivedContainer>(container)

/**
 * A pod as the cluster pass receives it: only the fields that a record is made of are checked, since 150,000 are looked at. A field
 * of another type makes the whole list unknown (S3, S34).
 */
const receivedPod = kept({
  /** The uid matters to every decision here, other than on a node. */
  metadata: needed<ObjectMeta>(kept({ ...metadataFields, uid: needed(text) })),
  spec: needed(kept({ nodeName: text, volumes: keptList<PodVolumeSource>(podVolumeShape) })),
  status: kept({
    phase: text,
    conditions: keptList(kept({ type: needed(text), status: needed(text), message: text })),
    initContainerStatuses: containers,
    containerStatuses: containers,
    ephemeralContainerStatuses: containers,
  }),
})

interface ReceivedPod extends ShapeOf<typeof receivedPod> {}

export const CLUSTER_PODS: Resource<ReceivedPod> = { ...PODS, shape: receivedPod }

/**
 * Inline sources that the controller would attach: FC, iSCSI, flexVolume, and the in-tree disks that become CSI volumes. Others
 * (config maps, CSI inline volumes, NFS …) are never attached (R010, C35), so they are left out.
 */
const ATTACHED_SOURCES = [
  'awsElasticBlockStore',
  'gcePersistentDisk',
  'azureDisk',
  'cinder',
  'vsphereVolume',
  'portworxVolume',
  'azureFile',
  'iscsi',
  'fc',
  'flexVolume',
] as const satisfies readonly (keyof PodVolumeSource)[]

/** @returns undefined for a pod without a volume that could be attached: nothing here depends on it */
export function podRecord(pod: ReceivedPod): ClusterPod | undefined {
  const { metadata, spec, status } = pod
  const volumes = (spec.volumes ?? []).flatMap((volume) => podVolumes(metadata.name, volume))
  if (volumes.length === 0) return undefined
  const unscheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return {
    namespace: podNamespace(pod),
    name: metadata.name,
    uid: metadata.uid,
    terminated: isControllerTerminated(pod),
    started: containersOf(pod).some(hasRun),
    volumes,
    ...omitUndefined({
      createdAt: metadata.creationTimestamp ?? undefined,
      deletedAt: metadata.deletionTimestamp,
      node: spec.nodeName || undefined,
      unschedulable: unscheduled?.status === 'False' ? unscheduled.message : undefined,
    }),
  }
}

function podVolumes(pod: string, volume: PodVolumeSource): ClusterPodVolume[] {
  const { persistentVolumeClaim: direct, ephemeral } = volume
  const name = volume.name
  // The controller prefers `ephemeral` (R709), whose claim is named after the pod (R006).
  if (ephemeral != null) return [{ name, claim: `${pod}-${name}`, ephemeral: true }]
  if (direct != null) return [{ name, claim: direct.claimName }]
  const sources = ATTACHED_SOURCES.filter((source) => volume[source] != null)
  if (sources.length === 0) return []
  return [{ name, source: { name, ...Object.fromEntries(sources.map((source) => [source, volume[source]])) } }]
}

/** A container that crashed waits to be started again. */
function hasRun({ state, lastState }: ReceivedContainer): boolean {
  return state?.running != null || state?.terminated != null || lastState?.terminated != null
}

function containersOf({ status }: ReceivedPod): readonly ReceivedContainer[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
}

// Claims, PersistentVolumes and VolumeAttachments.

/** On attachments that an apply of volctl has created. */
export const CREATED_BY = 'volctl.io/created-by'

export function claimRecord({ metadata, spec, status }: PersistentVolumeClaim): ClusterClaim {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    uid: metadata.uid,
    wasBound: metadata.annotations?.[BOUND_ANNOTATION] !== undefined,
    ...omitUndefined({
      deletedAt: metadata.deletionTimestamp,
      // Finalizers show only what holds the deletion.
      finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
      volumeName: spec.volumeName || undefined,
      phase: status?.phase,
      ownerUid: owner?.uid,
    }),
  }
}

/** A PersistentVolume under the name that the controller gives it, translated to CSI if it is in-tree (R150). */
export function volumeRecord(volume: PersistentVolume, context: SpecContext): ClusterVolume {
  const { metadata, spec, status } = volume
  const { claimRef } = spec
  return {
    name: metadata.name,
    uid: metadata.uid,
    accessModes: spec.accessModes ?? [],
    ...namesOf(volume, context),
    ...omitUndefined({
      deletedAt: metadata.deletionTimestamp,
      finalizers: metadata.deletionTimestamp === undefined ? undefined : metadata.finalizers,
      phase: status?.phase,
      claim: claimRef == null ? undefined : claimOf(claimRef),
    }),
  }
}

function claimOf({
  namespace = '',
  name = '',
  uid,
}: NonNullable<PersistentVolume['spec']['claimRef']>): NonNullable<ClusterVolume['claim']> {
  return { namespace, name, ...omitUndefined({ uid }) }
}

type Names = Pick<
  ClusterVolume,
  'plugin' | 'uniqueName' | 'driver' | 'handle' | 'attachability' | 'migratedFrom' | 'problem'
>

function namesOf(volume: PersistentVolume, context: SpecContext): Names {
  const found = persistentSpec(volume, context)
  if ('error' in found) {
    // S4: a readable source that is never attached holds nothing but its pod.
    const isNeverAttached = judgeSource(volume.spec).mayBe.of === 'none'
    return { attachability: isNeverAttached ? 'notAttachable' : 'unknown', problem: found.error }
  }
  const { plugin, uniqueName, attachability, driver, handle } = found
  const migratedFrom = inTreePluginOf(volume.spec)
  return { plugin, uniqueName, attachability, ...omitUndefined({ driver, handle, migratedFrom }) }
}

export function attachmentRecord({ metadata, spec, status }: VolumeAttachment): ClusterAttachment {
  const { persistentVolumeName, inlineVolumeSpec } = spec.source
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion ?? '',
    attacher: spec.attacher,
    node: spec.nodeName,
    ...(metadata.annotations?.[CREATED_BY] !== undefined && { byVolctl: true as const }),
    ...omitUndefined({
      createdAt: metadata.creationTimestamp ?? undefined,
      deletedAt: metadata.deletionTimestamp,
      finalizers: metadata.finalizers,
      persistentVolume: persistentVolumeName || undefined,
      inline: inlineVolumeSpec == null ? undefined : inlineOf(inlineVolumeSpec),
      attached: status?.attached,
      attachError: errorOf(status?.attachError),
      detachError: errorOf(status?.detachError),
    }),
  }
}

function inlineOf({ csi }: PersistentVolume['spec']): NonNullable<ClusterAttachment['inline']> {
  return omitUndefined({ driver: csi?.driver, handle: csi?.volumeHandle })
}

/** Drivers write long messages; the beginning has the cause. */
const MESSAGE_LENGTH = 1000

function errorOf(
  error: { readonly message?: string; readonly time?: string | null } | null | undefined,
): AttachmentError | undefined {
  if (error == null) return undefined
  return {
    message: (error.message ?? '').slice(0, MESSAGE_LENGTH),
    ...omitUndefined({ time: error.time ?? undefined }),
  }
}

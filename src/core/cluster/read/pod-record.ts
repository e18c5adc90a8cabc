/** A pod as the attach/detach controller looks at it: where it runs, whether it is over, and what it wants attached. */
import { isControllerTerminated, podNamespace } from '../../desired/pods.ts'
import { defined } from '../../lang/defined.ts'
import type { PodVolumeSource } from '../../model/objects.ts'
import type { ClusterPod, ClusterPodVolume } from '../model/cluster-state.ts'
import type { ReceivedContainer, ReceivedPod } from './received.ts'

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
  const volumes = (spec.volumes ?? []).flatMap((volume) => volumeRecord(metadata.name, volume))
  if (volumes.length === 0) return undefined
  const unscheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  return {
    namespace: podNamespace(pod),
    name: metadata.name,
    uid: metadata.uid,
    terminated: isControllerTerminated(pod),
    started: containersOf(pod).some(hasRun),
    volumes,
    ...defined({
      createdAt: metadata.creationTimestamp ?? undefined,
      deletedAt: metadata.deletionTimestamp,
      node: spec.nodeName || undefined,
      unschedulable: unscheduled?.status === 'False' ? unscheduled.message : undefined,
    }),
  }
}

function volumeRecord(pod: string, volume: PodVolumeSource): ClusterPodVolume[] {
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

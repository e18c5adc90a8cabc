/** What the API says of living pods that tells which of their files a plan has to look at. */
import { expectedFiles } from '../desired/atomic-content.ts'
import { isTerminalPhase, isTerminating, namedUids } from '../desired/pods.ts'
import type { Pod } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import type { LivingPod } from './tree/pod-directory.ts'

/**
 * On-disk UIDs of the pods that the API lists and that have not ended: a Finished pod's volumes are treated like a Gone
 * pod's, so that everything is read of it.
 */
export function livingPods(pods: readonly Pod[]): ReadonlyMap<string, Pod> {
  const living = pods.filter((pod) => !isTerminating(pod) && !isTerminalPhase(pod))
  return new Map(living.flatMap((pod) => namedUids(pod).map((uid) => [uid, pod] as const)))
}

/** By on-disk UID. */
export function livingVolumes(api: ApiSnapshot): ReadonlyMap<string, LivingPod> {
  const volumesOf = (pod: Pod): LivingPod => ({
    expectedFiles: (volume) => expectedFiles(volume, pod, api),
    wants: (volume) => pod.spec.volumes?.some(({ name }) => name === volume) ?? false,
    isMountedOver: (volume) => Boolean(pod.spec.volumes?.find(({ name }) => name === volume)?.emptyDir?.medium),
  })
  return new Map([...livingPods(api.pods)].map(([uid, pod]) => [uid, volumesOf(pod)]))
}

/** Facts about pods that have not ended, from the API, that decide which of their files a plan must read. */
import { expectedFiles } from '../desired/atomic-content.ts'
import { isTerminalPhase, isTerminating, namedUids } from '../desired/pods.ts'
import type { Pod } from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import type { LivingPod } from './tree/pod-directory.ts'

/**
 * The pods that the API lists and that have not ended, by on-disk UID. The volumes of a Finished pod are treated like those of
 * a Gone pod, so for these everything is read.
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

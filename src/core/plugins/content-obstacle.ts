/** What keeps volctl from filling a volume of the pod's own. */
import { expectedContent } from '../desired/atomic-content.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { NoContent } from '../desired/payload-entries.ts'
import { isGateOn } from '../model/kubelet-version.ts'
import type { PodVolumeSource } from '../model/objects.ts'
import type { NodeSnapshot } from '../model/snapshot.ts'
import type { Obstacle } from '../plan/draft.ts'

/** @returns undefined if the API gives all content of this configMap, secret, downwardAPI or projected volume */
export function volumeObstacle(volume: VolumeToMount, snapshot: NodeSnapshot): Obstacle | undefined {
  const { source, pod } = volume
  const kubelets = leftToKubelet(volume, snapshot)
  if (kubelets !== undefined) return kubelets
  const content =
    source === undefined || snapshot.api === undefined ? NOT_READ : expectedContent(source, pod, snapshot.api)
  return content.kind === 'files' ? undefined : contentObstacle(volume, content)
}

/** What only the kubelet sets up: a certificate (P56), and what alpha fields ask for where its gate is on (N72). */
export function leftToKubelet({ source, specName }: VolumeToMount, snapshot: NodeSnapshot): Obstacle | undefined {
  const what = source?.projected?.sources?.some(({ podCertificate }) => podCertificate != null)
    ? 'contains a certificate of the pod, whose private key only the kubelet creates'
    : source?.emptyDir?.mode != null && isGateOn(snapshot, 'EmptyDirVolumeMode')
      ? 'asks for a mode of its directory, which only the kubelet gives it'
      : source !== undefined && hasOwners(source) && isGateOn(snapshot, 'AtomicWriteVolumeUserFields')
        ? 'asks for owners of its files, which only the kubelet gives them'
        : undefined
  if (what === undefined) return undefined
  return {
    code: 'LeftToKubelet',
    message: `volume ${specName} ${what}`,
    hint: 'Start the kubelet: it fills the volume.',
  }
}

function hasOwners({ configMap, secret, downwardAPI, projected }: PodVolumeSource): boolean {
  const own = configMap ?? secret ?? downwardAPI
  const ofSources = (projected?.sources ?? []).flatMap((each) => [
    ...((each.configMap ?? each.secret ?? each.downwardAPI)?.items ?? []),
    each.serviceAccountToken,
    each.clusterTrustBundle,
  ])
  const users = [...(own?.items ?? []), ...ofSources].map((each) => each?.user)
  return [(own ?? projected)?.defaultUser, ...users].some((user) => user != null)
}

const NOT_READ: NoContent = { kind: 'unknown', reason: 'the API was not read' }

export function contentObstacle({ specName }: VolumeToMount, { kind, reason }: NoContent): Obstacle {
  const message = `volume ${specName}: ${reason}`
  switch (kind) {
    case 'missing':
      return {
        code: 'ContentMissing',
        message,
        hint: 'Create the missing object or key, or mark it as optional; the kubelet waits for it, too.',
      }
    case 'invalid':
      return {
        code: 'InvalidVolume',
        message,
        hint: 'Correct the volume in the pod spec; the kubelet refuses it, too.',
      }
    case 'unknown':
      return { code: 'ContentUnknown', message, hint: 'Plan again with a credential that may read the object.' }
  }
}

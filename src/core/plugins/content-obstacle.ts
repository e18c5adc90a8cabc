/** What keeps a configMap, secret, downwardAPI or projected volume from being filled. */
import { expectedContent } from '../desired/atomic-content.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { NoContent } from '../desired/payload-entries.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import type { Obstacle } from '../plan/draft.ts'

/** Of a pod's volume by what the API says; undefined: it can be filled. */
export function volumeObstacle(volume: VolumeToMount, api: ApiSnapshot | undefined): Obstacle | undefined {
  const { source, pod, specName } = volume
  if (source?.projected?.sources?.some(({ podCertificate }) => podCertificate != null)) {
    return {
      code: 'LeftToKubelet',
      message: `volume ${specName} has a certificate of the pod, whose key only the kubelet makes`,
      hint: 'Start the kubelet: it fills the volume.',
    }
  }
  const content = source === undefined || api === undefined ? NOT_READ : expectedContent(source, pod, api)
  return content.kind === 'files' ? undefined : contentObstacle(volume, content)
}

const NOT_READ: NoContent = { kind: 'unknown', reason: 'the API was not read' }

export function contentObstacle({ specName }: VolumeToMount, { kind, reason }: NoContent): Obstacle {
  const message = `volume ${specName}: ${reason}`
  switch (kind) {
    case 'missing':
      return {
        code: 'ContentMissing',
        message,
        hint: 'Make it, or mark it as optional; the kubelet waits for it as well.',
      }
    case 'invalid':
      return { code: 'ContentInvalid', message, hint: 'Correct the volume in the pod; the kubelet refuses it as well.' }
    case 'unknown':
      return { code: 'ContentUnknown', message, hint: 'Plan again with a credential that may read it.' }
  }
}

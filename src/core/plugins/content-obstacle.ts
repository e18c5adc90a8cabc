/** Why a configMap, secret, downwardAPI or projected volume cannot be filled. */
import { expectedContent } from '../desired/atomic-content.ts'
import type { VolumeToMount } from '../desired/desired-state.ts'
import type { NoContent } from '../desired/payload-entries.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import type { Obstacle } from '../plan/draft.ts'

/** @returns undefined if the API gives all content of this volume */
export function volumeObstacle(volume: VolumeToMount, api: ApiSnapshot | undefined): Obstacle | undefined {
  const { source, pod, specName } = volume
  if (source?.projected?.sources?.some(({ podCertificate }) => podCertificate != null)) {
    return {
      code: 'LeftToKubelet',
      message: `volume ${specName} contains a certificate of the pod, whose private key only the kubelet creates`,
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

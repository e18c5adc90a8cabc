/** Reads content of volumes, with its values, right before it is written. It is passed on, and never stored or logged. */

import { kept, text } from '../trust/shape.ts'
import { onDiskUid, podNamespace } from '../volumes/pods.ts'
import { type ClusterTrustBundle, type Pod, type ProjectedSource, trustBundleShape } from './api/objects.ts'
import { objectPath, type Resource } from './api/resources.ts'
import { orInstead, unlessAbsent, unusable } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'

export type TokenSource = Pick<NonNullable<ProjectedSource['serviceAccountToken']>, 'audience' | 'expirationSeconds'>

const tokenAnswer = kept({
  status: kept({ token: text, expirationTimestamp: text }),
})

/**
 * A token of the pod's service account, bound to the pod (P53), with the time of its end, in RFC 3339.
 *
 * @returns undefined if the service account, or the pod, is shown not to exist
 */
export async function requestToken(client: KubeClient, pod: Pod, { audience, expirationSeconds }: TokenSource) {
  const key = { namespace: podNamespace(pod), name: pod.spec.serviceAccountName ?? '' }
  const account = objectPath({ plural: 'serviceaccounts', root: '/api/v1' }, key)
  const body = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      // Without one, the API server's own.
      ...(audience && { audiences: [audience] }),
      expirationSeconds,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: pod.metadata.name, uid: onDiskUid(pod) },
    },
  }
  // Every answer is a new token, and nothing is stored, so the request may be repeated.
  const given = await unlessAbsent(client.send('review', { path: `${account}/token`, shape: tokenAnswer, body }))
  if (given === undefined) return undefined
  const { status } = given
  const { token, expirationTimestamp = '' } = status ?? {}
  if (token) return { token, expirationTimestamp }
  throw unusable(`${client.server}: the answer to a token request has no token.`)
}

/** Undefined: there is none of this name. */
export async function getClusterTrustBundle(client: KubeClient, name: string): Promise<ClusterTrustBundle | undefined> {
  return ofNewestVersion((resource) => client.find(resource, { name }))
}

export async function listClusterTrustBundles(
  client: KubeClient,
  signerName: string,
): Promise<readonly ClusterTrustBundle[]> {
  const query = { fieldSelector: `spec.signerName=${signerName}` }
  return ofNewestVersion(async (resource) => {
    const { items } = await client.list(resource, { query })
    return items
  })
}

const VERSIONS: readonly Resource<ClusterTrustBundle>[] = ['v1', 'v1beta1', 'v1alpha1'].map((version) => ({
  plural: 'clustertrustbundles',
  root: `/apis/certificates.k8s.io/${version}`,
  shape: trustBundleShape,
}))

/** The newest API version that the server has: where it lacks one, its 404 names no object (N71). */
function ofNewestVersion<T>(
  ask: (resource: Resource<ClusterTrustBundle>) => Promise<T>,
  [newest, ...older] = VERSIONS as [Resource<ClusterTrustBundle>, ...Resource<ClusterTrustBundle>[]],
): Promise<T> {
  return orInstead(ask(newest), (error) => {
    const [next, ...rest] = older
    if (next === undefined || error.reason !== 'NoSuchResource') throw error
    return ofNewestVersion(ask, [next, ...rest])
  })
}

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

export type BundleSource = Pick<NonNullable<ProjectedSource['clusterTrustBundle']>, 'name' | 'signerName'>

type BundleResource = Resource<ClusterTrustBundle>

const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map((version) => ({
  plural: 'clustertrustbundles',
  root: `/apis/certificates.k8s.io/${version}`,
  shape: trustBundleShape,
}))

/** That of a name, or those of a signer, in the newest version that the server has: where it lacks one, its 404 names no object (N71). */
export async function clusterTrustBundles(
  client: KubeClient,
  source: BundleSource,
  [newest, ...older] = VERSIONS as [BundleResource, ...BundleResource[]],
): Promise<readonly ClusterTrustBundle[] | undefined> {
  const { name, signerName } = source
  const ask = async (): Promise<readonly ClusterTrustBundle[] | undefined> => {
    if (name) {
      const bundle = await client.find(newest, { name })
      return bundle && [bundle]
    }
    const query = { fieldSelector: `spec.signerName=${signerName}` }
    return (await client.list(newest, { query })).items
  }
  if (!name && !signerName) return []
  return orInstead(ask(), (error) => {
    const [next, ...rest] = older
    if (next === undefined || error.reason !== 'NoSuchResource') throw error
    return clusterTrustBundles(client, source, [next, ...rest])
  })
}

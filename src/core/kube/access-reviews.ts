/** What the API server says of a credential: whose it is, and what it may do. */
import { flag, kept, text } from '../trust/shape.ts'
import { NODE_USER } from './api/names.ts'
import { unlessRefused } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'

/**
 * The user that the API server takes this credential for (N36); undefined if the server names none.
 *
 * @throws ApiError, which says whether a server answers at all
 */
export async function whoAmI(client: KubeClient, signal?: AbortSignal): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const review = await client.send('review', { path, body, shape: identityReview }, { signal })
  return review.status?.userInfo?.username
}

/** `kubelet` for a node's identity (N29), otherwise the kind of place that the credential came from. */
export function credentialWord(client: KubeClient, user: string | undefined): string {
  if (user?.startsWith(NODE_USER)) return 'kubelet'
  return user !== undefined && client.credentialKind === 'kubelet' ? 'kubeconfig' : client.credentialKind
}

/** Asks whether this identity may do something with VolumeAttachments (N34); undefined if the server does not say. */
export async function mayI(client: KubeClient, verb: string, signal?: AbortSignal): Promise<boolean | undefined> {
  const resourceAttributes = { verb, group: 'storage.k8s.io', resource: 'volumeattachments' }
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const review = await unlessRefused(client.send('review', { path, body, shape: accessReview }, { signal }))
  return review && review.status?.allowed === true
}

const identityReview = kept({
  status: kept({ userInfo: kept({ username: text }) }),
})

const accessReview = kept({ status: kept({ allowed: flag }) })

import { NODE_USER } from '../names.ts'
import { unlessRefused } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'

/** The user the API server takes us for (N36); undefined where it does not say. */
export async function whoAmI(client: KubeClient, signal?: AbortSignal): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const review = await unlessRefused(
    client.review<{ status?: { userInfo?: { username?: string } } }>(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body,
      { signal },
    ),
  )
  return review?.status?.userInfo?.username
}

/** `kubelet` for a node's identity (N29), else where the credential came from. */
export function credentialWord(client: KubeClient, user: string | undefined): string {
  if (user?.startsWith(NODE_USER)) return 'kubelet'
  return user !== undefined && client.credentialKind === 'kubelet' ? 'kubeconfig' : client.credentialKind
}

export interface ResourceAttributes {
  readonly verb: string
  readonly group?: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
}

/** Asks whether this identity may do something (N34); undefined where the server does not say. */
export async function mayI(
  client: KubeClient,
  resourceAttributes: ResourceAttributes,
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
  const review = await unlessRefused(
    client.review<{ status?: { allowed?: boolean } }>('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body, {
      signal,
    }),
  )
  return review && review.status?.allowed === true
}

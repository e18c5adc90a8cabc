import { flag, kept, type Shape, text } from '../json/shape.ts'
import { NODE_USER } from '../names/volume-names.ts'
import { unlessRefused } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { received } from './received-objects.ts'

/** The user that the API server takes this credential for (N36); undefined if the server does not say. */
export async function whoAmI(client: KubeClient, signal?: AbortSignal): Promise<string | undefined> {
  return await unlessRefused(askWhoIAm(client, signal))
}

/** The same. @throws ApiError, which says whether a server answers at all */
export async function askWhoIAm(client: KubeClient, signal?: AbortSignal): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const review = await reviewed(client, { path, body, shape: identityReview }, signal)
  return review.status?.userInfo?.username
}

/** `kubelet` for a node's identity (N29), otherwise the kind of place that the credential came from. */
export function credentialWord(client: KubeClient, user: string | undefined): string {
  if (user?.startsWith(NODE_USER)) return 'kubelet'
  return user !== undefined && client.credentialKind === 'kubelet' ? 'kubeconfig' : client.credentialKind
}

export interface ResourceAttributes {
  readonly verb: string
  readonly group?: string
  readonly resource: string
  readonly subresource?: string
  readonly namespace?: string
  readonly name?: string
}

/** Asks whether this identity may do something (N34); undefined if the server does not say. */
export async function mayI(
  client: KubeClient,
  resourceAttributes: ResourceAttributes,
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
  const review = await unlessRefused(reviewed(client, { path, body, shape: accessReview }, signal))
  return review && review.status?.allowed === true
}

const identityReview = kept<{ readonly status?: { readonly userInfo?: { readonly username?: string } } }>({
  status: kept({ userInfo: kept({ username: text }) }),
})

const accessReview = kept<{ readonly status?: { readonly allowed?: boolean } }>({ status: kept({ allowed: flag }) })

interface Review<T> {
  readonly path: string
  readonly body: object
  readonly shape: Shape<T>
}

async function reviewed<T>(
  client: KubeClient,
  { path, body, shape }: Review<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  return received(shape, await client.review(path, body, { signal }), { client, request: `POST ${path}` })
}

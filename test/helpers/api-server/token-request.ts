import type { AuthenticatedUser } from './authorize.ts'
import type { RequestInfo } from './request-info.ts'
import { type StoredObject, typeOfPlural } from './resource-types.ts'
import { notFound, StatusError } from './status.ts'
import type { Store } from './store.ts'

interface TokenRequest {
  readonly spec: {
    readonly audiences?: readonly string[]
    readonly expirationSeconds?: number
    readonly boundObjectRef?: { readonly kind?: string; readonly name?: string; readonly uid?: string }
  }
}

interface TokenVolume {
  readonly projected?: { readonly sources?: readonly { serviceAccountToken?: { audience?: string } }[] }
  readonly csi?: { readonly driver?: string }
  readonly persistentVolumeClaim?: { readonly claimName?: string }
}

/**
 * A token with the claims that were requested. A node's token has to be bound to one of that node's pods, for an audience
 * that the pod names (N33).
 */
export function issueToken(store: Store, user: AuthenticatedUser, info: RequestInfo, body: string): object {
  const { namespace = '', name = '' } = info
  const request = JSON.parse(body) as TokenRequest
  const { audiences = [], expirationSeconds = 3600, boundObjectRef } = request.spec
  if (expirationSeconds < 600) throw refused(422, 'Invalid', 'may not specify a duration less than 10 minutes')
  if (!find(store, 'serviceaccounts', namespace, name)) throw notFound('serviceaccounts', name)
  const pod = boundObjectRef && find(store, 'pods', namespace, boundObjectRef.name ?? '')
  if (boundObjectRef && !pod) throw notFound('pods', boundObjectRef.name ?? '')
  if (pod && pod.metadata.uid !== boundObjectRef?.uid) {
    const text = `the UID in the bound object reference (${boundObjectRef?.uid}) does not match the UID in record`
    throw refused(409, 'Conflict', text)
  }
  if (user.name.startsWith('system:node:')) admitNode(store, user.name.slice('system:node:'.length), pod, audiences)
  const token = ['token', namespace, name, audiences.join('+'), expirationSeconds, boundObjectRef?.uid ?? ''].join('.')
  return {
    ...request,
    status: { token, expirationTimestamp: new Date(Date.now() + expirationSeconds * 1000).toISOString() },
  }
}

function admitNode(store: Store, node: string, pod: StoredObject | undefined, audiences: readonly string[]): void {
  if (!pod) throw refused(403, 'Forbidden', 'node requested token not bound to a pod')
  if (pod.spec?.nodeName !== node)
    throw refused(403, 'Forbidden', 'node requested token bound to a pod scheduled on a different node')
  const volumes = (pod.spec.volumes ?? []) as TokenVolume[]
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? [])
  const named = [
    ...sources.map(({ serviceAccountToken }) => serviceAccountToken?.audience ?? ''),
    ...volumes.flatMap((volume) => audiencesOf(store, pod.metadata.namespace ?? '', volume)),
  ]
  if (audiences.length > 1 || !audiences.every((audience) => named.includes(audience)))
    throw refused(403, 'Forbidden', `audience "${audiences.join()}" not found in pod spec volume`)
}

/** The audiences that the CSIDriver of a volume asks for. */
function audiencesOf(store: Store, namespace: string, { csi, persistentVolumeClaim }: TokenVolume): string[] {
  const claim = find(store, 'persistentvolumeclaims', namespace, persistentVolumeClaim?.claimName ?? '')
  const volume = find(store, 'persistentvolumes', undefined, String(claim?.spec?.volumeName))
  const driver = csi?.driver ?? (volume?.spec?.csi as TokenVolume['csi'])?.driver
  const type = typeOfPlural('storage.k8s.io', 'csidrivers')
  const requests = type && store.get(type, undefined, driver ?? '')?.spec?.tokenRequests
  return ((requests ?? []) as { audience: string }[]).map(({ audience }) => audience)
}

function find(store: Store, plural: string, namespace: string | undefined, name: string): StoredObject | undefined {
  const type = typeOfPlural('', plural)
  return type && store.get(type, namespace, name)
}

function refused(code: number, reason: string, text: string): StatusError {
  return new StatusError(code, reason, text, {})
}

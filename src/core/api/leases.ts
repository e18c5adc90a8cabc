/** Leases as locks: whoever holds one renews it, and one that is not renewed for its duration is free (as client-go's leaders do). */
import { type Lease, leaseShape } from '../model/objects.ts'
import { LEASES, type ObjectKey, objectPath } from '../model/resources.ts'
import { unlessAbsent } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { getObject, received } from './received-objects.ts'

export interface LeaseTerm {
  /** Empty: nobody. */
  readonly holder: string
  readonly durationSeconds: number
  /** RFC 3339: when this holder took it. */
  readonly acquiredAt: string
  readonly renewedAt: string
}

/** Undefined if the API shows that there is none. */
export function getLease(
  client: KubeClient,
  key: Required<ObjectKey>,
  signal?: AbortSignal,
): Promise<Lease | undefined> {
  return unlessAbsent(getObject(client, LEASES, key, { signal }))
}

/**
 * Creates a lease, or replaces exactly this version of it.
 *
 * @throws ApiError with status 409 if somebody else was first
 */
export async function writeLease(
  client: KubeClient,
  key: { readonly namespace: string; readonly name: string },
  term: LeaseTerm,
  version?: string,
): Promise<Lease> {
  const spec = {
    holderIdentity: term.holder,
    leaseDurationSeconds: term.durationSeconds,
    acquireTime: microTime(term.acquiredAt),
    renewTime: microTime(term.renewedAt),
  }
  const lease = (metadata: object) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
  const path = objectPath(LEASES, key)
  if (version !== undefined) {
    const answer = await client.replace(path, lease({ ...key, resourceVersion: version }))
    return received(leaseShape, answer, { client, request: `PUT ${path}` })
  }
  const list = path.slice(0, path.lastIndexOf('/'))
  return received(leaseShape, await client.create(list, lease(key)), { client, request: `POST ${list}` })
}

/** A MicroTime of Kubernetes: always six digits. */
function microTime(time: string): string {
  return new Date(time).toISOString().replace('Z', '000Z')
}

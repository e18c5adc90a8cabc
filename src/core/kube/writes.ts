/** All that volctl changes in the API: attachments of volumes, the status of a claim, its own lease. */

import { anything } from '../trust/shape.ts'
import {
  ATTACHMENTS,
  CLAIMS,
  LEASES,
  type Lease,
  type ObjectMeta,
  type PersistentVolumeClaim,
  type VolumeAttachment,
} from './api/objects.ts'
import { listPath, type ObjectKey, objectPath } from './api/resources.ts'
import { orInstead, unlessAbsent } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'

/** Identifies the VolumeAttachment that was judged: the object, and its version. */
export interface AttachmentVersion {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

/**
 * Deletes an attachment if it is still the one that was judged: uid and resourceVersion are sent as preconditions (N60). The
 * attacher's finalizer keeps the object until the storage is really detached (N59), so it may still be there.
 *
 * If the answer is lost, the request is not simply repeated: the object is read to see what happened.
 *
 * @throws ApiError with status 409 if it has changed since it was judged, and was not deleted
 */
export async function deleteVolumeAttachment(client: KubeClient, version: AttachmentVersion): Promise<void> {
  const { name, uid, resourceVersion } = version
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } }
  await orInstead(
    unlessAbsent(client.send('delete', { path: objectPath(ATTACHMENTS, { name }), body, shape: anything })),
    async (error) => {
      if (!error.isSilence) throw error
      const found = await client.find(ATTACHMENTS, { name })
      if (found?.metadata.uid === uid && !found.metadata.deletionTimestamp) throw error
    },
  )
}

/**
 * If the answer is lost, the request is not repeated: the object is read to see what happened.
 *
 * @returns one of this name that is there instead: it may be somebody else's, created before
 * @throws ApiError
 */
export async function createVolumeAttachment(
  client: KubeClient,
  metadata: Pick<ObjectMeta, 'name' | 'annotations'>,
  spec: VolumeAttachment['spec'],
): Promise<VolumeAttachment | undefined> {
  const body = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata, spec }
  const sent = client.send('create', { path: listPath(ATTACHMENTS), body, shape: anything })
  return await orInstead(
    sent.then(() => undefined),
    async (error) => {
      const mayBeThere = error.status === 409 || error.status === 0
      const there = mayBeThere ? await client.find(ATTACHMENTS, metadata) : undefined
      if (there === undefined) throw error
      return there
    },
  )
}

/** A strategic merge patch. */
export interface ClaimStatusPatch {
  /** With a resourceVersion the patch fails if the claim has changed since. */
  readonly metadata?: { readonly resourceVersion?: string }
  readonly status: Readonly<Record<string, unknown>>
}

/** Writes those parts of a claim's status that a node may write (C40, C102). @returns the claim with the patch in it */
export function patchClaimStatus(
  client: KubeClient,
  key: ObjectKey,
  patch: ClaimStatusPatch,
): Promise<PersistentVolumeClaim> {
  return client.send('patch', { ...CLAIMS, path: `${objectPath(CLAIMS, key)}/status`, body: patch })
}

/**
 * Creates a lease, or replaces exactly this version of it.
 *
 * @throws ApiError with status 409 if somebody else was first
 */
export async function writeLease(
  client: KubeClient,
  key: Required<ObjectKey>,
  spec: Lease['spec'] & { readonly acquireTime: string },
  version?: string,
): Promise<Lease> {
  const metadata = { ...key, resourceVersion: version }
  const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
  return version === undefined
    ? await client.send('create', { ...LEASES, path: listPath(LEASES, key.namespace), body })
    : await client.send('replace', { ...LEASES, path: objectPath(LEASES, key), body })
}

/** A MicroTime of Kubernetes: always six digits. @param ms since the epoch */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

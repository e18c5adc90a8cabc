/** Reads a claim, and writes those parts of its status that a node may write (C40, C102). */
import type { ClaimStatusPatch } from '../desired/claim-status-patch.ts'
import type { PersistentVolumeClaim } from '../model/objects.ts'
import { CLAIMS, type ObjectKey, objectPath } from '../model/resources.ts'
import { ApiError } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { getObject, received } from './received-objects.ts'
import { reduced } from './reduce-object.ts'

/** Undefined if the API shows that there is none (S3). */
export async function getClaim(client: KubeClient, key: ObjectKey): Promise<PersistentVolumeClaim | undefined> {
  try {
    return reduced(await getObject(client, CLAIMS, key))
  } catch (error) {
    if (error instanceof ApiError && error.isAbsent) return undefined
    throw error
  }
}

/** @returns the claim with the patch in it */
export async function patchClaimStatus(
  client: KubeClient,
  key: ObjectKey,
  patch: ClaimStatusPatch,
): Promise<PersistentVolumeClaim> {
  const path = `${objectPath(CLAIMS, key)}/status`
  return received(CLAIMS.shape, await client.patch(path, patch), { client, request: `PATCH ${path}` })
}

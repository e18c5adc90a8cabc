/**
 * Reads again the claims and volumes behind pods: a new list of pods may name objects that the last look did not read, and
 * those are unknown, not absent (S21, S3).
 */

import type { ClaimStatusPatch } from '../desired/claim-status-patch.ts'
import type { ApiObject, PersistentVolumeClaim, Pod } from '../model/objects.ts'
import { CLAIMS, keyText, type ObjectKey, objectPath, type Resource, VOLUMES } from '../model/resources.ts'
import type { ApiReadError, ApiSnapshot } from '../model/snapshot.ts'
import { controllerWantedVolumes } from '../populator/controller-wanted.ts'
import { unlessAbsent } from './api-error.ts'
import type { KubeClient } from './kube-client.ts'
import { ObjectReader } from './object-reader.ts'
import { getObject, received } from './received-objects.ts'
import { reduced } from './reduce-object.ts'
import { referencedObjects } from './referenced-objects.ts'

/** For all reads together. */
const DEADLINE_MS = 30_000

/**
 * Reads by name the claims of pods, and the volumes behind them, if the last look did not have the pod or could not resolve one
 * of its volumes. The others need not be read again: a bound claim's volume never changes, nor do a pod's volumes.
 *
 * @param api the last look
 * @param pods just read
 * @returns the last look with these objects added; what could not be read is among its errors
 */
export async function withFreshVolumes(
  client: KubeClient,
  api: ApiSnapshot,
  pods: readonly Pod[],
  nodeName: string,
): Promise<ApiSnapshot> {
  const known = new Set(api.pods.map(({ metadata }) => metadata.uid))
  const unresolved = new Set(controllerWantedVolumes(pods, api, nodeName).unresolved.map(({ pod }) => pod))
  const doubtful = pods.filter((pod) => !known.has(pod.metadata.uid) || unresolved.has(pod))
  const { claims: claimKeys } = referencedObjects(doubtful)
  if (claimKeys.length === 0) return api
  const reader = new ObjectReader(client, { deadlineMs: DEADLINE_MS })
  const claims = await reader.getAll(CLAIMS, claimKeys)
  const names = new Set(claims.flatMap(({ spec }) => (spec.volumeName ? [spec.volumeName] : [])))
  const volumeKeys = [...names].map((name) => ({ name }))
  const volumes = await reader.getAll(VOLUMES, volumeKeys)
  const isAsked = (error: ApiReadError): boolean =>
    isAbout(claimKeys, CLAIMS, error) || isAbout(volumeKeys, VOLUMES, error)
  return {
    ...api,
    persistentVolumeClaims: replaced(api.persistentVolumeClaims, claimKeys, claims),
    persistentVolumes: replaced(api.persistentVolumes, volumeKeys, volumes),
    errors: [...api.errors.filter((error) => !isAsked(error)), ...reader.sortedErrors()],
  }
}

function replaced<T extends ApiObject>(before: readonly T[], keys: readonly ObjectKey[], now: readonly T[]): T[] {
  const asked = new Set(keys.map(keyText))
  return [...before.filter(({ metadata }) => !asked.has(keyText(metadata))), ...now]
}

/** True for an error of the last look that is about one of these objects. */
function isAbout<T>(keys: readonly ObjectKey[], { plural }: Resource<T>, error: ApiReadError): boolean {
  const { resource, name, namespace } = error
  return resource === plural && name !== undefined && keys.some((key) => keyText(key) === keyText({ name, namespace }))
}

/**
 * Reads a claim, and writes those parts of its status that a node may write (C40, C102).
 * Undefined if the API shows that there is none (S3).
 */
export async function getClaim(client: KubeClient, key: ObjectKey): Promise<PersistentVolumeClaim | undefined> {
  const found = await unlessAbsent(getObject(client, CLAIMS, key))
  return found && reduced(found)
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

/**
 * Reads again the claims and volumes behind pods: a new list of pods may name objects that the last look did not read, and
 * those are unknown, not absent (S21, S3).
 */

import type { ApiObject, Pod } from '../model/objects.ts'
import { CLAIMS, keyText, type ObjectKey, type Resource, VOLUMES } from '../model/resources.ts'
import type { ApiReadError, ApiSnapshot } from '../model/snapshot.ts'
import { controllerWantedVolumes } from '../populator/controller-wanted.ts'
import type { KubeClient } from './kube-client.ts'
import { ObjectReader } from './object-reader.ts'
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

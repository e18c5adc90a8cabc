/**
 * Finds API objects in a snapshot, and tells "shown not to exist" from "not known".
 *
 * Only absence is evidence (S3): an object that is not in a list counts as absent when the list came from a credential
 * that lists and no error could have hidden it, or when the API answered NotFound for exactly this object. Everything
 * else, errors of a shape that isn't understood included, is unknown.
 */
import { keyText } from '../api/resources.ts'
import type {
  ApiObject,
  ConfigMap,
  CsiDriver,
  PersistentVolume,
  PersistentVolumeClaim,
  SecretDigest,
  VolumeAttachment,
} from '../model/objects.ts'
import type { ApiSnapshot } from '../model/snapshot.ts'
import { NODE_USER } from '../names.ts'
import { onceFor } from '../once-for.ts'
import { covers, isNotFoundOf, isRefusedList, type ReadFailure, readFailures } from './read-failures.ts'

export type Lookup<T> =
  | { readonly state: 'Found'; readonly object: T }
  | { readonly state: 'Absent' }
  /** `reason`: why it isn't known, in words. */
  | { readonly state: 'Unknown'; readonly reason: string }

export interface ApiLookup {
  persistentVolumeClaim(namespace: string, name: string): Lookup<PersistentVolumeClaim>
  persistentVolume(name: string): Lookup<PersistentVolume>
  csiDriver(name: string): Lookup<CsiDriver>
  volumeAttachment(name: string): Lookup<VolumeAttachment>
  configMap(namespace: string, name: string): Lookup<ConfigMap>
  secret(namespace: string, name: string): Lookup<SecretDigest>
}

/** A snapshot never changes, so its indexes are built once. */
export const apiLookup = onceFor((api: ApiSnapshot): ApiLookup => {
  const failures = readFailures(api.errors)
  const lists = listsObjects(api)
  const finder = <T extends ApiObject>(resource: string, list: readonly T[] | undefined, listed: boolean) => {
    const byName = new Map((list ?? []).map((object) => [keyText(object.metadata), object]))
    return (name: string, namespace?: string): Lookup<T> => {
      const object = byName.get(keyText({ name, namespace }))
      if (object !== undefined) return { state: 'Found', object }
      return absence(failures, { resource, name, namespace }, listed && list !== undefined)
    }
  }
  const claims = finder('persistentvolumeclaims', api.persistentVolumeClaims, lists)
  const persistentVolumes = finder('persistentvolumes', api.persistentVolumes, lists)
  // Every node identity may list CSIDrivers (ClusterRole system:node), so their list is whole with any credential.
  const csiDrivers = finder('csidrivers', api.csiDrivers, true)
  const attachments = finder('volumeattachments', api.volumeAttachments, lists)
  const configMaps = finder('configmaps', api.configMaps, lists)
  const secrets = finder('secrets', api.secrets, lists)
  return {
    persistentVolumeClaim: (namespace, name) => claims(name, namespace),
    persistentVolume: (name) => persistentVolumes(name),
    csiDriver: (name) => csiDrivers(name),
    volumeAttachment: (name) => attachments(name),
    configMap: (namespace, name) => configMaps(name, namespace),
    secret: (namespace, name) => secrets(name, namespace),
  }
})

/** The Node authorizer lets a node identity read single objects only: what it didn't read may well exist. */
function listsObjects({ credential, user }: ApiSnapshot): boolean {
  const isNodeIdentity = credential === 'kubelet' || (user?.startsWith(NODE_USER) ?? false)
  return typeof credential === 'string' && credential !== '' && !isNodeIdentity
}

function absence(
  failures: readonly ReadFailure[],
  object: { resource: string; name: string; namespace: string | undefined },
  listed: boolean,
): Lookup<never> {
  const covering = failures.filter((failure) => covers(failure, object))
  const isNotFound = covering.some((failure) => isNotFoundOf(failure, object))
  // A refused list says nothing against the answer to the question for this one object.
  const doubts = covering.filter((failure) => !isNotFoundOf(failure, object) && !(isNotFound && isRefusedList(failure)))
  const [doubt] = doubts
  if (doubt !== undefined) return { state: 'Unknown', reason: `could not be read: ${doubt.text}` }
  if (isNotFound || listed) return { state: 'Absent' }
  return { state: 'Unknown', reason: 'was not read' }
}

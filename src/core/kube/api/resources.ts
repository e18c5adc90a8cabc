/** The resources volctl reads: their paths, and the fields of their objects that volctl relies on. */

import { digest } from '../../trust/digest.ts'
import type { Shape } from '../../trust/shape.ts'
import {
  type ApiObject,
  attachmentShape,
  type ConfigMap,
  claimShape,
  configMapShape,
  csiDriverShape,
  csiNodeShape,
  leaseShape,
  nodeShape,
  type ObjectMeta,
  objectShape,
  podShape,
  type Secret,
  type SecretDigest,
  secretShape,
  volumeShape,
} from './objects.ts'

export interface ResourcePath {
  /** Plural name, as in `api.errors`. */
  readonly plural: string
  readonly root: string
}

export interface Resource<T> extends ResourcePath {
  readonly shape: Shape<T>
}

export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

const CORE = '/api/v1'
const STORAGE = '/apis/storage.k8s.io/v1'

function resource<T>(plural: string, shape: Shape<T>, root = CORE): Resource<T> {
  return { plural, root, shape }
}

export const PODS = resource('pods', podShape)
/** Of one only the UID is asked for. */
export const NAMESPACES = resource('namespaces', objectShape)
export const NODES = resource('nodes', nodeShape)
export const CLAIMS = resource('persistentvolumeclaims', claimShape)
export const VOLUMES = resource('persistentvolumes', volumeShape)
export const CONFIG_MAPS = resource('configmaps', configMapShape)
export const SECRETS = resource('secrets', secretShape)
export const ATTACHMENTS = resource('volumeattachments', attachmentShape, STORAGE)
export const CSI_DRIVERS = resource('csidrivers', csiDriverShape, STORAGE)
export const CSI_NODES = resource('csinodes', csiNodeShape, STORAGE)
export const LEASES = resource('leases', leaseShape, '/apis/coordination.k8s.io/v1')

/** Path of all objects of a resource. @param namespace absent: in every one */
export function listPath({ root, plural }: ResourcePath, namespace?: string): string {
  return `${root}${namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${plural}`
}

export function objectPath(resource: ResourcePath, key: ObjectKey): string {
  return `${listPath(resource, key.namespace)}/${encodeURIComponent(key.name)}`
}

/** One text for a key, for maps and sorting. */
export function keyText(key: ObjectKey): string {
  return `${key.namespace ?? ''}/${key.name}`
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/** True for a value with the metadata that every object of the API has. */
export function hasMetadata(value: unknown): value is ApiObject {
  const metadata = (value as { metadata?: unknown } | null)?.metadata
  return typeof metadata === 'object' && metadata !== null
}

/** Without managedFields and kubectl's copy of the object (contract, "Snapshot"). Changes the object it is given. */
export function reduced<T extends ApiObject>(object: T): T {
  const metadata = object.metadata as ObjectMeta & { managedFields?: unknown; annotations?: Record<string, string> }
  delete metadata.managedFields
  if (metadata.annotations) delete metadata.annotations[LAST_APPLIED]
  return object
}

/** A config map with a digest of each value, so that content can be compared without being kept. */
export function digestedConfigMap(object: ConfigMap): ConfigMap {
  return { ...reduced(object), digests: { ...digests(object.data, 'utf8'), ...digests(object.binaryData, 'base64') } }
}

/** What volctl keeps of a secret: never its values. */
export function digestedSecret(object: Secret): SecretDigest {
  const { apiVersion, kind, type, data } = object
  return {
    metadata: reduced(object).metadata,
    type,
    apiVersion,
    kind,
    digests: digests(data, 'base64'),
  }
}

function digests(data: Readonly<Record<string, string>> | undefined, encoding: BufferEncoding): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, digest(Buffer.from(value, encoding))]),
  )
}

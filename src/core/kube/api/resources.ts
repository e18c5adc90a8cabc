/** The paths of resources and of their objects, and what is kept of an object. */

import { digest } from '../../trust/digest.ts'
import type { ApiObject, ConfigMap, ObjectMeta, ResourcePath, Secret, SecretDigest } from './objects.ts'

export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

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

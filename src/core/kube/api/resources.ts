/** The paths of resources and of their objects, and what is kept of an object. */

import { digest } from '../../trust/digest.ts'
import { about } from '../../trust/json-schema.ts'
import { count, object, oneOf, optional, type ShapeOf, text } from '../../trust/shape.ts'
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

// What is kept of an answer that could not be had, or that need not be the server's.

/** An entry as volctl writes it. */
export const writtenError = object({
  /** Plural resource name: pods, persistentvolumeclaims, persistentvolumes, volumeattachments, csidrivers, csinodes, nodes, configmaps, secrets. */
  resource: text,
  namespace: optional(text),
  name: optional(text),
  status: about('HTTP status; 0: no answer came.', count),
  /** Kubernetes reason (Forbidden, NotFound, Timeout …) or a transport error's code. */
  reason: text,
  message: text,
})

/** An object or list that the API refused or could not give. `absent`: the API showed that it does not exist (S3). */
export interface ApiReadError extends ShapeOf<typeof writtenError> {}

/**
 * TlsNotVerified: insecure-skip-tls-verify. Either way, anyone on the network path could answer in the server's place (S34).
 */
export type Insecure = ShapeOf<typeof insecure>

export const insecure = oneOf('TlsNotVerified', 'PlainHttp')

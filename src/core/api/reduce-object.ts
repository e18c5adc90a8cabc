import { defined } from '../lang/defined.ts'
import type { ApiObject, ConfigMap, ObjectMeta, Secret, SecretDigest } from '../model/objects.ts'
import { digest } from '../trust/digest.ts'

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
    ...defined({ type, apiVersion, kind }),
    digests: digests(data, 'base64'),
  }
}

function digests(data: Readonly<Record<string, string>> | undefined, encoding: BufferEncoding): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data ?? {}).map(([key, value]) => [key, digest(Buffer.from(value, encoding))]),
  )
}

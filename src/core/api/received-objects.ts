/**
 * Checks the types of all fields of objects from an API server, since decisions rely on them. An answer with a field of another
 * type counts as no answer (S3, S34), like one that is not JSON.
 */
import { type Shape, ShapeError } from '../json/shape.ts'
import { listPath, type ObjectKey, objectPath, type Resource } from '../model/resources.ts'
import { unusable } from './api-error.ts'
import type { KubeClient, ObjectList, RequestSettings } from './kube-client.ts'

export async function getObject<T>(
  client: KubeClient,
  resource: Resource<T>,
  key: ObjectKey,
  settings?: RequestSettings,
): Promise<T> {
  const path = objectPath(resource, key)
  return received(resource.shape, await client.get(path, settings), { client, request: `GET ${path}` })
}

/** The complete list, or a failure: without one of its objects, the list would say nothing about absence. */
export async function listObjects<T>(
  client: KubeClient,
  resource: Resource<T>,
  settings?: RequestSettings,
): Promise<ObjectList<T>> {
  const path = listPath(resource)
  const list = await client.list<T>(path, settings)
  for (const [index, item] of list.items.entries()) {
    received(resource.shape, item, { client, request: `GET ${path}`, at: `items[${index}]` })
  }
  return list
}

export interface Received {
  readonly client: KubeClient
  /** What was asked, e.g. `GET /api/v1/pods`. */
  readonly request: string
  /** The value's place in the answer. */
  readonly at?: string
}

/** The same value, if it has the shape. @throws ApiError ApiFailed, naming the field that does not */
export function received<T>(shape: Shape<T>, value: unknown, { client, request, at = '' }: Received): T {
  try {
    return shape(value, at)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw unusable(`${client.server}: in the answer to ${request}, ${error.message}.`)
  }
}

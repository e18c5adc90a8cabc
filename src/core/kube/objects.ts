/**
 * Objects of the API: one way to get, find, list and change them. The types of all fields are checked, since decisions rely on them:
 * an answer with a field of another type counts as no answer (S3, S34), like one that is not JSON.
 */

import { type Shape, ShapeError } from '../trust/shape.ts'
import type { ApiObject } from './api/objects.ts'
import { listPath, type ObjectKey, objectPath, type Resource, reduced } from './api/resources.ts'
import { unlessAbsent, unusable } from './api-error.ts'
import { type KubeClient, type ObjectList, type RequestSettings, WRITES, type Write } from './kube-client.ts'

interface GetSettings extends RequestSettings {
  /** Nothing of it is left out. */
  readonly whole?: true
}

/** One object, reduced. */
export async function getObject<T extends ApiObject>(
  client: KubeClient,
  resource: Resource<T>,
  key: ObjectKey,
  { whole, ...settings }: GetSettings = {},
): Promise<T> {
  const path = objectPath(resource, key)
  const object = received(resource.shape, await client.get(path, settings), { client, request: `GET ${path}` })
  return whole === true ? object : reduced(object)
}

/** The same; undefined if the API shows that there is none (S3). */
export function findObject<T extends ApiObject>(
  client: KubeClient,
  resource: Resource<T>,
  key: ObjectKey,
  settings?: GetSettings,
): Promise<T | undefined> {
  return unlessAbsent(getObject(client, resource, key, settings))
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

/** Sends an object. @returns what is answered */
export async function sendObject<T>(
  client: KubeClient,
  write: Write,
  { path, shape, body }: { readonly path: string; readonly shape: Shape<T>; readonly body: object },
  settings?: RequestSettings,
): Promise<T> {
  const answer = await client.send(write, path, body, settings)
  return received(shape, answer, { client, request: `${WRITES[write].method} ${path}` })
}

interface Received {
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

/**
 * Objects as an API server sends them, if they are what was asked for: whoever decides by them relies on the types of their
 * fields. An answer in which one is of another type is no answer (S3, S34), like one that is no JSON.
 */
import { type Shape, ShapeError } from '../json/shape.ts'
import { listPath, type ObjectKey, objectPath, type Resource } from '../model/resources.ts'
import { ApiError } from './api-error.ts'
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

/** The whole list, or the failure of it: whoever lacks one object of it does not know what that was. */
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
  /** Where in the answer it stands. */
  readonly at?: string
}

/** The very value. @throws ApiError BadAnswer, with the place of what is wrong */
export function received<T>(shape: Shape<T>, value: unknown, { client, request, at = '' }: Received): T {
  try {
    return shape(value, at)
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new ApiError('BadAnswer', `${client.server}: in the answer to ${request}, ${error.message}.`, {
      status: 0,
      reason: 'BadAnswer',
      hint: 'Is this the address of a Kubernetes API server, or is a proxy in between?',
    })
  }
}

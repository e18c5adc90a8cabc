/** Objects of the API as records, each list page by page. What an object shows of a controller manager is seen on the way. */
import { ApiError } from '../../api/api-error.ts'
import type { KubeClient } from '../../api/kube-client.ts'
import type { WalkLimits } from '../../api/list-pages.ts'
import { findObject, received } from '../../api/objects.ts'
import { defined } from '../../lang/defined.ts'
import type { ApiObject } from '../../model/objects.ts'
import { listPath, type ObjectKey, type Resource } from '../../model/resources.ts'
import type { ControllerWrites } from './controller-writes.ts'

/** Records of one kind. */
const MOST_OBJECTS = 2_000_000

export interface Reading {
  readonly client: KubeClient
  readonly signal?: AbortSignal | undefined
  readonly writes: ControllerWrites
}

export interface ListSettings {
  /** Instead of that of all namespaces. */
  readonly path?: string
  readonly query?: Readonly<Record<string, string>>
  readonly limits?: WalkLimits
  /** Called after each page: so many objects have been read. */
  readonly onPage?: (objects: number) => void
}

/** @param record undefined for an object on which nothing depends @throws ApiError */
export async function readList<Received extends ApiObject, Made>(
  { client, signal, writes }: Reading,
  resource: Resource<Received>,
  record: (object: Received) => Made | undefined,
  { path = listPath(resource), query, limits, onPage }: ListSettings = {},
): Promise<{ readonly records: Made[]; readonly count: number; readonly resourceVersion?: string | undefined }> {
  let records: Made[] = []
  let count = 0
  const begin = (): void => {
    records = []
    count = 0
  }
  const take = (object: Received, index: number): Made | undefined => {
    if (count + index >= MOST_OBJECTS) throw tooMany(client, path)
    writes.see(resource.plural, object)
    return record(received(resource.shape, object, { client, request: `GET ${path}`, at: `items[${index}]` }))
  }
  const page = (made: readonly (Made | undefined)[]): void => {
    count += made.length
    for (const each of made) if (each !== undefined) records.push(each)
    onPage?.(count)
  }
  const settings = defined({ query, signal })
  const { resourceVersion } = await client.walk<Received, Made | undefined>(
    path,
    { begin, take, page },
    settings,
    limits,
  )
  return { records, count, resourceVersion }
}

/** @returns undefined: it is shown to be absent @throws ApiError */
export async function readObject<Received extends ApiObject>(
  { client, writes }: Reading,
  resource: Resource<Received>,
  key: ObjectKey,
): Promise<Received | undefined> {
  const object = await findObject(client, resource, key, { whole: true })
  if (object !== undefined) writes.see(resource.plural, object)
  return object
}

function tooMany({ server }: KubeClient, path: string): ApiError {
  return new ApiError('ApiFailed', `${server}: GET ${path} has more than ${MOST_OBJECTS} objects.`, {
    status: 0,
    reason: 'AnswerTooLarge',
    hint: 'Check that this is the address of a Kubernetes API server: no cluster has so many.',
  })
}

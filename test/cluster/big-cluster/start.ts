import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { startApiServer, type TestApiServer } from '../../helpers/api-server/start.ts'
import { type BigClusterSize, type BigList, bigCluster } from './objects.ts'

export interface BigApiServerOptions extends BigClusterSize {
  /** Each list is one answer, whatever limit is asked for: aggregated API servers send them so. */
  readonly ignoresLimit?: boolean
}

const LEASES = '/apis/coordination.k8s.io/v1/leases'
const KUBE_SYSTEM = {
  kind: 'Namespace',
  metadata: { name: 'kube-system', uid: '11111111-2222-4333-8444-555555555555' },
}

/** An API server of a big cluster, whose objects are made when they are asked for. */
export async function startBigCluster(options: BigApiServerOptions): Promise<TestApiServer> {
  const resources = bigCluster(options)
  const { [LEASES]: leases } = resources
  return await startApiServer({
    objects: [KUBE_SYSTEM, ...objectsOf(leases).map((lease) => ({ kind: 'Lease', ...lease }))],
    others: ({ pathname, searchParams }, response) => {
      const { [pathname]: list } = resources
      if (list === undefined) return false
      const limit = options.ignoresLimit ? 0 : Number(searchParams.get('limit'))
      // Who asks may be gone before the end.
      send(list, Number(searchParams.get('continue')), limit || list.length, response).catch(() => undefined)
      return true
    },
  })
}

function objectsOf(list: BigList | undefined, from = 0, to = list?.length ?? 0) {
  return Array.from({ length: to - from }, (_, index) => list?.at(from + index))
}

/** So many objects at once, so that the server is not what is large. */
const AT_ONCE = 100

/** Metadata first, as API servers write it. */
async function send(list: BigList, start: number, limit: number, response: ServerResponse): Promise<void> {
  const { kind, apiVersion, length } = list
  const end = Math.min(start + limit, length)
  const more = end < length ? { continue: String(end), remainingItemCount: length - end } : {}
  const metadata = JSON.stringify({ resourceVersion: '5000000', ...more })
  response.write(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[`)
  for (let from = start; from < end; from += AT_ONCE) {
    const items = objectsOf(list, from, Math.min(from + AT_ONCE, end)).map((object) => JSON.stringify(object))
    if (!response.write(`${from > start ? ',' : ''}${items.join()}`)) await once(response, 'drain')
  }
  response.end(']}')
}

/**
 * An API server of a big cluster, as a separate program, over HTTPS: lists, in pages, and reviews. It writes `big.kubeconfig` into DIR.
 *
 *   node test/helpers/big-cluster/serve.ts --dir DIR --nodes N [--pods-per-node 30] [--seed 1] [--ignore-limit]
 *
 * With --ignore-limit each list is one answer, as aggregated API servers send them.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthority } from '../api-server/certificates.ts'
import { discovery } from '../api-server/discovery.ts'
import { StatusError } from '../api-server/status.ts'
import { kubeconfigText } from '../api-server/users.ts'
import { readyUntilEnd } from '../start-program.ts'
import { type BigList, bigCluster } from './objects.ts'

const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    nodes: { type: 'string', default: '100' },
    'pods-per-node': { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    'ignore-limit': { type: 'boolean', default: false },
  },
})
if (flags.dir === undefined) throw new Error('--dir is required')

const { resources } = bigCluster({
  nodes: Number(flags.nodes),
  podsPerNode: Number(flags['pods-per-node']),
  seed: Number(flags.seed),
})
const authority = createAuthority('volctl big test CA')
const { key, certificate } = authority.server(['127.0.0.1', 'localhost'])
const server = createSecureServer({ key, cert: certificate }, answer)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
writeFileSync(
  join(flags.dir, 'big.kubeconfig'),
  kubeconfigText({ server: url, 'certificate-authority-data': btoa(authority.certificate) }),
  { mode: 0o600 },
)
readyUntilEnd(() => undefined)

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '', url)
  response.setHeader('Content-Type', 'application/json')
  const list = resources[pathname]
  const known = discovery(pathname)
  if (pathname.endsWith('/selfsubjectreviews')) response.end('{"status":{"userInfo":{"username":"admin"}}}')
  else if (pathname.endsWith('/selfsubjectaccessreviews')) response.end('{"status":{"allowed":true}}')
  else if (list !== undefined && flags['ignore-limit']) void sendAll(list, response)
  else if (list !== undefined) sendPage(list, searchParams, response)
  else if (known !== undefined) response.end(JSON.stringify(known))
  else if (pathname === '/api/v1/namespaces/kube-system') response.end(KUBE_SYSTEM)
  else sendObject(pathname, response)
}

const KUBE_SYSTEM =
  '{"kind":"Namespace","metadata":{"name":"kube-system","uid":"11111111-2222-4333-8444-555555555555"}}'

/** Metadata first, as API servers write it. */
function sendPage(list: BigList, query: URLSearchParams, response: ServerResponse): void {
  const limit = Number(query.get('limit') ?? 0) || list.length
  const from = Number(atob(query.get('continue') ?? '') || 0)
  const to = Math.min(from + limit, list.length)
  const more = to < list.length ? { continue: btoa(String(to)), remainingItemCount: list.length - to } : {}
  const places = Array.from({ length: to - from }, (_, index) => from + index)
  sendItems(list, places, response, more)
}

function sendItems(list: BigList, places: readonly number[], response: ServerResponse, more: object = {}): void {
  const { kind, apiVersion } = list
  const metadata = JSON.stringify({ resourceVersion: '5000000', ...more })
  const items = places.map((place) => JSON.stringify(list.at(place))).join()
  response.end(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[${items}]}`)
}

/** So many objects at once, so that the server is not what is large. */
const AT_ONCE = 100

async function sendAll(list: BigList, response: ServerResponse): Promise<void> {
  response.write(
    `{"kind":"${list.kind}","apiVersion":"${list.apiVersion}","metadata":{"resourceVersion":"5"},"items":[`,
  )
  let isFirst = true
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const places = Array.from({ length: Math.min(AT_ONCE, list.length - from) }, (_, index) => from + index)
    const items = places.map((place) => JSON.stringify(list.at(place))).join()
    if (!response.write(isFirst ? items : `,${items}`)) await once(response, 'drain')
    isFirst = false
  }
  response.end(']}')
}

/** The controller's lease, and any other object of a few. */
function sendObject(path: string, response: ServerResponse): void {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const list = resources[path.slice(0, path.lastIndexOf('/')).replace(/\/namespaces\/[^/]+(?=\/)/, '')]
  for (let index = 0; index < (list?.length ?? 0); index++) {
    const object = list?.at(index)
    if (object?.metadata.name !== name) continue
    response.end(JSON.stringify(object))
    return
  }
  const status = new StatusError(404, 'NotFound', `"${name}" not found`, { name }).toJSON()
  response.writeHead(404).end(JSON.stringify(status))
}

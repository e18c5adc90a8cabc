/**
 * An API server of a big cluster, as a separate program, over HTTPS: lists, in pages, reviews, and what an apply of the cluster
 * changes. It prints one line of JSON when it is ready, and answers GET /counted with the number of requests of each form.
 *
 *   node test/helpers/big-cluster/serve.ts --dir DIR --nodes N [--pods-per-node 30] [--seed 1] [--ignore-limit]
 *       [--gone-nodes N] [--without-controller] [--lacking N] [--attacher-ms MS]
 *
 * With --ignore-limit each list is one answer, as aggregated API servers send them.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { createAuthority } from '../api-server/certificates.ts'
import { discovery } from '../api-server/discovery.ts'
import { bigCluster } from './objects.ts'
import { World, type WorldList } from './world.ts'

const { values: flags } = parseArgs({
  options: {
    dir: { type: 'string' },
    nodes: { type: 'string', default: '100' },
    'pods-per-node': { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    'ignore-limit': { type: 'boolean', default: false },
    'gone-nodes': { type: 'string', default: '0' },
    'without-controller': { type: 'boolean', default: false },
    lacking: { type: 'string', default: '0' },
    'attacher-ms': { type: 'string', default: '0' },
  },
})
if (flags.dir === undefined) throw new Error('--dir is required')

const cluster = bigCluster({
  nodes: Number(flags.nodes),
  podsPerNode: Number(flags['pods-per-node']),
  seed: Number(flags.seed),
  goneNodes: Number(flags['gone-nodes']),
  withoutController: flags['without-controller'],
  lacking: Number(flags.lacking),
})
const world = new World(cluster, Number(flags['attacher-ms']))
const counted = new Map<string, number>()
const authority = createAuthority('volctl big test CA')
const { key, certificate } = authority.server(['127.0.0.1', 'localhost'])
const server = createSecureServer({ key, cert: certificate }, answer)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
const kubeconfig = join(flags.dir, 'big.kubeconfig')
writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(url, authority.certificate)), { mode: 0o600 })
process.stdin.resume().on('end', () => process.exit(0))
process.stdout.write(`${JSON.stringify({ url, kubeconfig })}\n`)

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET' } = request
  const { pathname, searchParams } = new URL(request.url ?? '', url)
  response.setHeader('Content-Type', 'application/json')
  if (pathname === '/counted') {
    response.end(JSON.stringify(Object.fromEntries(counted)))
    return
  }
  const list = world.list(pathname)
  const within = world.within(pathname)
  const node = searchParams.get('fieldSelector')?.replace('spec.nodeName=', '')
  const known = discovery(pathname)
  if (!searchParams.has('continue')) count(`${method} ${formOf(pathname, searchParams)}`)
  else count(`${method} ${formOf(pathname, searchParams)} (next page)`)
  if (pathname.endsWith('/selfsubjectreviews')) response.end('{"status":{"userInfo":{"username":"admin"}}}')
  else if (pathname.endsWith('/selfsubjectaccessreviews')) response.end('{"status":{"allowed":true}}')
  else if (method !== 'GET') void change(request, pathname, response)
  else if (list !== undefined && flags['ignore-limit']) void sendAll(list, response)
  else if (list !== undefined && node !== undefined) sendSome(list, { node }, response)
  else if (list !== undefined) sendPage(list, searchParams, response)
  else if (within !== undefined) sendSome(within.list, { namespace: within.namespace }, response)
  else if (known !== undefined) response.end(JSON.stringify(known))
  else sendObject(pathname, response)
}

function count(form: string): void {
  counted.set(form, (counted.get(form) ?? 0) + 1)
}

/** The resource, and whether all of its objects are asked for, those of a namespace or of a node, or one. */
function formOf(path: string, query: URLSearchParams): string {
  const selector = query.get('fieldSelector')?.replace(/=.*/, '')
  const isList = world.list(path) !== undefined || world.within(path) !== undefined
  const parts = path.split('/')
  const resource = parts.at(isList ? -1 : -2) ?? path
  if (!isList) return `one of ${resource}`
  return selector === undefined
    ? `${path.includes('/namespaces/') ? 'namespace' : 'all'} ${resource}`
    : `${resource} by ${selector}`
}

async function change(request: IncomingMessage, path: string, response: ServerResponse): Promise<void> {
  const { status, body } = world.answer(request.method ?? '', path, await text(request))
  response.writeHead(status).end(JSON.stringify(body))
}

/** Metadata first, as API servers write it. */
function sendPage(list: WorldList, query: URLSearchParams, response: ServerResponse): void {
  const limit = Number(query.get('limit') ?? 0) || list.length
  const from = Number(atob(query.get('continue') ?? '') || 0)
  const to = Math.min(from + limit, list.length)
  const more = to < list.length ? { continue: btoa(String(to)), remainingItemCount: list.length - to } : {}
  const places = Array.from({ length: to - from }, (_, index) => from + index)
  sendItems(list, places, response, more)
}

/** The pods of a node or of a namespace, in one page. */
function sendSome(list: WorldList, of: { node?: string; namespace?: string }, response: ServerResponse): void {
  sendItems(list, list.base.among?.(of) ?? [], response)
}

function sendItems(list: WorldList, places: readonly number[], response: ServerResponse, more: object = {}): void {
  const { kind, apiVersion } = list.base
  const metadata = JSON.stringify({ resourceVersion: '5000000', ...more })
  const items = places.flatMap((place) => JSON.stringify(list.at(place)) ?? []).join()
  response.end(`{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${metadata},"items":[${items}]}`)
}

/** So many objects at once, so that the server is not what is large. */
const AT_ONCE = 100

async function sendAll(list: WorldList, response: ServerResponse): Promise<void> {
  response.write(
    `{"kind":"${list.base.kind}","apiVersion":"${list.base.apiVersion}","metadata":{"resourceVersion":"5"},"items":[`,
  )
  let isFirst = true
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const places = Array.from({ length: Math.min(AT_ONCE, list.length - from) }, (_, index) => from + index)
    const items = places.flatMap((place) => JSON.stringify(list.at(place)) ?? []).join()
    if (items === '') continue
    if (!response.write(isFirst ? items : `,${items}`)) await once(response, 'drain')
    isFirst = false
  }
  response.end(']}')
}

function sendObject(path: string, response: ServerResponse): void {
  if (path === '/api/v1/namespaces/kube-system') {
    response.end('{"kind":"Namespace","metadata":{"name":"kube-system","uid":"11111111-2222-4333-8444-555555555555"}}')
    return
  }
  const { status, body } = world.answer('GET', path, '')
  response.writeHead(status).end(JSON.stringify(body))
}

function kubeconfigOf(address: string, ca: string): object {
  return {
    kind: 'Config',
    clusters: [{ name: 'big', cluster: { server: address, 'certificate-authority-data': btoa(ca) } }],
    users: [{ name: 'admin', user: { token: 'admin' } }],
    contexts: [{ name: 'big', context: { cluster: 'big', user: 'admin' } }],
    'current-context': 'big',
  }
}

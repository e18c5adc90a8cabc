/**
 * An API server of a big cluster, as a program of its own, over HTTPS: only lists, in pages, and reviews. It prints one line
 * of JSON when it is ready.
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

const cluster = bigCluster({
  nodes: Number(flags.nodes),
  podsPerNode: Number(flags['pods-per-node']),
  seed: Number(flags.seed),
})
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
  const { pathname, searchParams } = new URL(request.url ?? '', url)
  response.setHeader('Content-Type', 'application/json')
  const list = cluster.resources[pathname]
  const known = discovery(pathname)
  if (list !== undefined && flags['ignore-limit']) void sendAll(list, response)
  else if (list !== undefined) sendPage(list, searchParams, response)
  else if (known !== undefined) response.end(JSON.stringify(known))
  else if (pathname.endsWith('/selfsubjectreviews')) response.end('{"status":{"userInfo":{"username":"admin"}}}')
  else if (pathname.endsWith('/selfsubjectaccessreviews')) response.end('{"status":{"allowed":true}}')
  else sendObject(pathname, response)
}

/** Metadata first, as API servers write it. */
function sendPage(list: BigList, query: URLSearchParams, response: ServerResponse): void {
  const limit = Number(query.get('limit') ?? 0) || list.length
  const from = Number(atob(query.get('continue') ?? '') || 0)
  const to = Math.min(from + limit, list.length)
  const more = to < list.length ? { continue: btoa(String(to)), remainingItemCount: list.length - to } : {}
  const metadata = JSON.stringify({ resourceVersion: '5000000', ...more })
  const items = Array.from({ length: to - from }, (_, index) => JSON.stringify(list.at(from + index)))
  response.end(
    `{"kind":"${list.kind}","apiVersion":"${list.apiVersion}","metadata":${metadata},"items":[${items.join()}]}`,
  )
}

/** So many objects at once, so that the server is not what is large. */
const AT_ONCE = 100

async function sendAll(list: BigList, response: ServerResponse): Promise<void> {
  response.write(
    `{"kind":"${list.kind}","apiVersion":"${list.apiVersion}","metadata":{"resourceVersion":"5"},"items":[`,
  )
  for (let from = 0; from < list.length; from += AT_ONCE) {
    const count = Math.min(AT_ONCE, list.length - from)
    const items = Array.from({ length: count }, (_, index) => JSON.stringify(list.at(from + index))).join()
    if (!response.write(from === 0 ? items : `,${items}`)) await once(response, 'drain')
  }
  response.end(']}')
}

function sendObject(path: string, response: ServerResponse): void {
  if (path === '/api/v1/namespaces/kube-system') {
    response.end('{"kind":"Namespace","metadata":{"name":"kube-system","uid":"11111111-2222-4333-8444-555555555555"}}')
    return
  }
  const leases = cluster.resources['/apis/coordination.k8s.io/v1/leases']
  if (path.endsWith('/kube-system/leases/kube-controller-manager')) response.end(JSON.stringify(leases?.at(0)))
  else response.writeHead(404).end(JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }))
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

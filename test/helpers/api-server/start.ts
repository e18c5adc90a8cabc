/** A Kubernetes API server in the process that starts it: over HTTPS, with the authentication, authorisation and failures that volctl meets. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { temporary } from '../left-behind.ts'
import type { Asker } from './access.ts'
import { answer, type Settings } from './answer.ts'
import { type Fault, Faults } from './faults.ts'
import { objectsIn, Store, type StoredObject } from './objects.ts'
import { StatusError } from './status.ts'
import { certificateOf, defaultUsers, loadRole, pem, type TestUser, tokenOf, writeKubeconfig } from './users.ts'

export interface ApiServerOptions {
  /** Files of NodeSnapshots. */
  readonly data?: readonly string[]
  /** Objects or NodeSnapshots. */
  readonly objects?: readonly object[]
  /** Instead of admin, kubelet, plan, apply and nobody. */
  readonly users?: readonly TestUser[]
  readonly nodeName?: string
  readonly host?: string
  /** The server's certificate is signed by an authority that the kubeconfigs do not know. */
  readonly untrusted?: boolean
  /** How long attachers take to detach; never when negative. */
  readonly detachDelayMs?: number
  /** Lists that are not in the store. @returns whether it answers this request */
  readonly others?: (url: URL, response: ServerResponse) => boolean
}

export interface LoggedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly user: string | undefined
  readonly status: number
}

export type TestApiServer = Awaited<ReturnType<typeof startApiServer>>

/** Answers above this size are compressed for clients that accept it, as Kubernetes does (N52). */
const COMPRESS_FROM = 128 * 1024

export async function startApiServer(options: ApiServerOptions = {}) {
  const { data = [], objects = [], host = '127.0.0.1', others = () => false } = options
  const store = new Store()
  const documents = [...data.map((file) => JSON.parse(readFileSync(file, 'utf8'))), ...objects]
  for (const object of documents.flatMap(objectsIn)) store.put(object)
  const { nodeName = store.all('Node')[0]?.metadata.name ?? 'node' } = options
  const { users = defaultUsers(nodeName) } = options
  const askers = users.map((user) => ({
    ...{ name: user.user, groups: user.groups ?? [], roles: (user.roles ?? []).map(loadRole) },
    credential: user.login === 'token' ? tokenOf(user) : certificateOf(user.name),
  }))
  const settings: Settings = {
    ...{ detachDelayMs: options.detachDelayMs ?? 0, clockSkewMs: 0 },
    ...{ attachesAtOnce: false, reportsDetached: true },
  }
  const faults = new Faults()
  const log: LoggedRequest[] = []
  let [accepted, open] = [0, 0]

  const authenticate = ({ headers, socket }: IncomingMessage): Asker => {
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    const given = token ?? (socket as TLSSocket).getPeerX509Certificate()?.toString()
    const asker = askers.find(({ credential }) => credential === given)
    if (asker === undefined) throw new StatusError(401, 'Unauthorized', 'Unauthorized')
    const { 'impersonate-user': acting, 'impersonate-group': groups = '' } = headers
    return acting === undefined ? asker : { name: String(acting), groups: String(groups).split(', '), roles: [] }
  }
  /** @returns the user's name, for the log */
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<string | undefined> => {
    const { method = '', headers } = request
    response.setHeader('Date', new Date(Date.now() + settings.clockSkewMs).toUTCString())
    response.setHeader('Content-Type', 'application/json')
    let user: string | undefined
    try {
      if (await faults.apply(request, response)) return undefined
      const asker = authenticate(request)
      user = asker.name
      const body = await text(request)
      if (method === 'PATCH' && headers['content-type'] !== 'application/strategic-merge-patch+json')
        throw new StatusError(415, 'UnsupportedMediaType', 'this test server does not know this kind of patch')
      const url = new URL(request.url ?? '', 'https://test')
      if (others(url, response)) return user
      const answered = JSON.stringify(answer(store, asker, method, url, body, settings))
      const isPacked = answered.length >= COMPRESS_FROM && headers['accept-encoding']?.includes('gzip')
      if (isPacked) response.setHeader('Content-Encoding', 'gzip')
      response.end(isPacked ? gzipSync(answered, { level: 1 }) : answered)
    } catch (error) {
      const status = error instanceof StatusError ? error : new StatusError(500, 'InternalError', String(error))
      response.writeHead(status.code).end(JSON.stringify(status))
    }
    return user
  }

  const ca = [certificateOf('admin'), certificateOf('kubelet')]
  const own = pem(options.untrusted ? 'stranger' : 'server')
  const server = createServer({ key: own, cert: own, ca, requestCert: true, rejectUnauthorized: false })
  server.on('secureConnection', (socket) => {
    accepted++
    open++
    socket.on('close', () => open--)
  })
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const user = await handle(request, response)
    log.push({ method: request.method ?? '', path: request.url ?? '', user, status: response.statusCode })
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))

  const url = `https://${host}:${(server.address() as AddressInfo).port}`
  const directory = temporary('volctl-api-')
  writeFileSync(join(directory, 'ca.crt'), certificateOf('server'))
  const kubeconfigs = new Map(users.map((user) => [user.name, writeKubeconfig(directory, url, user)]))
  const stop = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    rmSync(directory, { recursive: true, force: true })
  }
  return {
    url,
    /** Holds ca.crt and the kubeconfigs; removed by `stop`. */
    directory,
    kubeconfig: (user: string): string => {
      const path = kubeconfigs.get(user)
      if (path === undefined) throw new Error(`no user ${user}`)
      return path
    },
    /** Those that have been answered. */
    requests: (): readonly LoggedRequest[] => [...log],
    clearRequests: () => void log.splice(0),
    reset(): void {
      this.setFaults()
      this.clearRequests()
    },
    /** TLS connections: all so far, and those that are open. */
    connections: () => accepted,
    openConnections: () => open,
    put: (...added: object[]) => added.forEach((object) => void store.put(structuredClone(object) as StoredObject)),
    remove: (kind: string, name: string, namespace?: string) => store.remove(kind, namespace, name),
    /** Every time in every object is so much longer ago. */
    elapse: (ms: number) => store.elapse(ms),
    /** Requests that a fault holds now. */
    held: () => faults.held,
    /** Replaces all faults. */
    setFaults: (...all: Fault[]) => faults.set(all),
    set: (changed: Partial<Settings>) => void Object.assign(settings, changed),
    /** Ends it and removes its directory. */
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

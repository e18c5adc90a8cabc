import { createServer as createAdminServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { answer } from './answer.ts'
import type { AuthenticatedUser, ClusterRole } from './authorize.ts'
import type { KeyAndCertificate } from './certificates.ts'
import { discovery } from './discovery.ts'
import { applyFault, type Fault, takeFault } from './faults.ts'
import { type StoredObject, typeOfKind } from './resource-types.ts'
import { StatusError } from './status.ts'
import type { Store } from './store.ts'

export interface LoggedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly user: string | undefined
  readonly status: number
}

export interface Settings {
  detachDelayMs: number
  /** Added to the Date header; null: there is none. */
  clockSkewMs: number | null
  /** Whether every attachment is attached in the moment in which it is created. */
  attachesAtOnce: boolean
  /** Whether what is detached is taken out of volumesAttached, as by a controller; false: somebody else writes that list. */
  reportsDetached: boolean
}

export interface ServerParts {
  readonly store: Store
  readonly authority: string
  readonly certificate: KeyAndCertificate
  readonly tokens: ReadonlyMap<string, AuthenticatedUser>
  readonly rolesOf: (user: AuthenticatedUser) => readonly ClusterRole[]
  readonly settings: Settings
  readonly host: string
  readonly port: number
}

const PATCHES = ['application/strategic-merge-patch+json', 'application/merge-patch+json']

/** Answers above this size are compressed for clients that accept it, as Kubernetes does (N52). */
const COMPRESS_FROM = 128 * 1024

/** Starts the API server, and beside it a plain HTTP port through which a test changes it and reads its log. */
export async function serve(parts: ServerParts): Promise<{ port: number; adminPort: number }> {
  const log: LoggedRequest[] = []
  const faults: Fault[] = []
  let connections = 0
  const server = createServer(
    {
      key: parts.certificate.key,
      cert: parts.certificate.certificate,
      ca: parts.authority,
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      handle(parts, faults, request, response)
        .catch((error) => sendFailure(error, response))
        .then((user) =>
          log.push({
            method: request.method ?? '',
            path: request.url ?? '',
            user: user ?? undefined,
            status: response.statusCode,
          }),
        )
    },
  )
  server.on('secureConnection', () => connections++)
  const admin = createAdminServer((request, response) => {
    administer(parts, faults, log, () => connections, request).then(
      (result) => response.end(JSON.stringify(result ?? null)),
      (error: unknown) => response.writeHead(400).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(parts.port, parts.host, resolve))
  await new Promise<void>((resolve) => admin.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    adminPort: (admin.address() as AddressInfo).port,
  }
}

/** @returns the user's name, for the log */
async function handle(
  parts: ServerParts,
  faults: Fault[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<string | undefined> {
  const { clockSkewMs } = parts.settings
  if (clockSkewMs === null) response.sendDate = false
  else response.setHeader('Date', new Date(Date.now() + clockSkewMs).toUTCString())
  const fault = takeFault(faults, request)
  if (fault && (await applyFault(fault, faults, request, response))) return undefined
  const user = authenticate(parts, request)
  const url = new URL(request.url ?? '', 'https://test')
  const body = await textOf(request)
  const known = discovery(url.pathname)
  try {
    if (request.method === 'PATCH' && !PATCHES.includes(request.headers['content-type'] ?? ''))
      throw new StatusError(415, 'UnsupportedMediaType', 'this test server does not know this kind of patch', {})
    const asker = { user, roles: parts.rolesOf(user) }
    send(
      request,
      response,
      known ? JSON.stringify(known) : answer(parts.store, asker, request.method ?? '', url, body, parts.settings),
    )
  } catch (error) {
    sendFailure(error, response)
  }
  return user.name
}

function send(request: IncomingMessage, response: ServerResponse, text: string): void {
  response.setHeader('Content-Type', 'application/json')
  if (text.length >= COMPRESS_FROM && request.headers['accept-encoding']?.includes('gzip')) {
    response.setHeader('Content-Encoding', 'gzip')
    response.end(gzipSync(text, { level: 1 }))
  } else {
    response.end(text)
  }
}

function sendFailure(error: unknown, response: ServerResponse): undefined {
  const status = error instanceof StatusError ? error : new StatusError(500, 'InternalError', String(error))
  response.writeHead(status.code, { 'Content-Type': 'application/json' }).end(JSON.stringify(status))
}

function authenticate({ tokens }: ServerParts, request: IncomingMessage): AuthenticatedUser {
  const socket = request.socket as TLSSocket
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
  const byToken = token === undefined ? undefined : tokens.get(token)
  const user = byToken ?? (token === undefined && socket.authorized ? certificateUser(socket) : undefined)
  if (!user) throw new StatusError(401, 'Unauthorized', 'Unauthorized')
  const acting = request.headers['impersonate-user']
  if (typeof acting !== 'string') return user
  return {
    name: acting,
    groups: String(request.headers['impersonate-group'] ?? '')
      .split(', ')
      .filter(Boolean),
  }
}

function certificateUser(socket: TLSSocket): AuthenticatedUser {
  const { CN = '', O: groups = [] } = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] }
  return { name: CN, groups: [groups].flat() }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function administer(
  { store, settings }: ServerParts,
  faults: Fault[],
  log: LoggedRequest[],
  connections: () => number,
  request: IncomingMessage,
): Promise<unknown> {
  const body: unknown = JSON.parse((await textOf(request)) || 'null')
  switch (`${request.method} ${request.url}`) {
    case 'GET /requests':
      return log
    case 'GET /connections':
      return connections()
    case 'DELETE /requests':
      log.length = 0
      return undefined
    case 'GET /held':
      return faults.reduce((sum, { held = 0 }) => sum + held, 0)
    case 'POST /elapse':
      store.elapse(body as number)
      return undefined
    case 'POST /faults':
      faults.splice(0, faults.length, ...(body as Fault[]))
      return undefined
    case 'POST /settings':
      Object.assign(settings, body)
      return undefined
    case 'POST /objects':
      for (const object of body as StoredObject[]) store.put(object)
      return undefined
    case 'POST /remove': {
      const { kind, namespace, name } = body as { kind: string; namespace?: string; name: string }
      const type = typeOfKind(kind)
      if (!type) throw new Error(`unknown kind ${kind}`)
      store.remove(type, namespace, name)
      return undefined
    }
    default:
      throw new Error(`unknown: ${request.method} ${request.url}`)
  }
}

import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { createSecureContext, getCACertificates, rootCertificates } from 'node:tls'
import { promisify } from 'node:util'
// Not when it is needed: an import() in the bundle, which is a vm.Script, prints an ExperimentalWarning.
import { gunzip } from 'node:zlib'
import type { ConnectionOptions } from './kube-credentials.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly body?: string
  readonly contentType?: string
  readonly signal: AbortSignal
}

/** One connection pool to one server with one credential. */
export interface Transport {
  send(request: HttpRequest): Promise<Answer>
  close(): void
}

/** Enough to hide round trips; each connection costs a TLS handshake. */
const MAX_SOCKETS = 4

export function createTransport(server: URL, connection: ConnectionOptions): Transport {
  const secure = server.protocol === 'https:'
  const loopback = isLoopback(server.hostname)
  const agent = connection.agent ?? keepAliveAgent(secure, loopback, connection)
  const headers: Record<string, string | string[]> = { ...connection.headers, Accept: 'application/json' }
  // On loopback compressing costs more than it saves.
  if (!loopback && connection.compression) headers['Accept-Encoding'] = 'gzip'
  const base: RequestOptions = { agent, ...(connection.auth !== undefined && { auth: connection.auth }) }
  const send = secure ? request : plainRequest
  return {
    send: ({ method, url, body, contentType = 'application/json', signal }) =>
      new Promise<Answer>((resolve, reject) => {
        const sent = {
          ...headers,
          ...(body !== undefined && {
            'Content-Type': contentType,
            'Content-Length': String(Buffer.byteLength(body)),
          }),
        }
        const outgoing = send(url, { ...base, method, headers: sent, signal }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            decode(Buffer.concat(chunks), response.headers['content-encoding']).then(
              (text) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
              reject,
            )
          })
        })
        outgoing.on('error', reject)
        outgoing.end(body)
      }),
    close: () => agent.destroy(),
  }
}

function keepAliveAgent(secure: boolean, loopback: boolean, connection: ConnectionOptions): Agent | PlainAgent {
  // As kubectl: HTTPS_PROXY and NO_PROXY count, never for this very host.
  const proxy = loopback ? {} : { proxyEnv: process.env }
  const pool = { keepAlive: true, maxSockets: MAX_SOCKETS, ...proxy }
  if (!secure) return new PlainAgent(pool)
  const { ca, cert, key, servername, rejectUnauthorized } = connection
  // One for all connections: else each parses the certificates again, at milliseconds apiece.
  const secureContext = createSecureContext({
    ca: ca ?? [...rootCertificates, ...getCACertificates('system')],
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  })
  return new Agent({
    ...pool,
    secureContext,
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  })
}

async function decode(body: Buffer, encoding: string | undefined): Promise<string> {
  if (encoding !== 'gzip') return body.toString('utf8')
  return (await promisify(gunzip)(body)).toString('utf8')
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
}

/**
 * HTTP to one server, with one credential. Whatever the server does, a request is bounded (S34):
 *
 * - in time: its signal ends it at any point between the connection and the last byte. That also ends endless informational
 *   answers (1xx), which Node.js reads and drops, and answers that come byte by byte;
 * - in size: the body here, as received and as decompressed; the head, trailers and chunk extensions by Node's parser (16 KiB
 *   each, `--max-http-header-size`, which a caller cannot set: the launcher drops NODE_OPTIONS);
 * - in steps: no redirect is followed, and a change of protocol (101) ends the connection, since nothing here handles it.
 */
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent, type RequestOptions, request } from 'node:https'
import { createSecureContext, getCACertificates, rootCertificates } from 'node:tls'
import { type Budget, collect } from '../../trust/bytes.ts'
import { TooLarge } from '../../trust/plain-files.ts'
import { bare, type ConnectionOptions, ending, endingWith, isLoopback } from './connection.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly body?: string
  readonly contentType?: string
  /** Of the answer, as received and as decompressed. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

export type Transport = ReturnType<typeof createTransport>

/** Enough to hide latency; each connection costs a TLS handshake. */
const MAX_SOCKETS = 4
/** Limit for the body of a failed answer. */
const MAX_FAILURE_BYTES = 1024 * 1024

/** One connection pool to one server with one credential. @param budget of all answers that are being received */
export function createTransport(server: URL, connection: ConnectionOptions, budget: Budget) {
  const secure = server.protocol === 'https:'
  const loopback = isLoopback(bare(server.hostname))
  const agent = connection.agent ?? keepAliveAgent(server, connection)
  const headers: Record<string, string | string[]> = { ...connection.headers, Accept: 'application/json' }
  // On loopback compressing costs more than it saves.
  if (!loopback && connection.compression) headers['Accept-Encoding'] = 'gzip'
  const base: RequestOptions = { agent, auth: connection.auth }
  const begin = secure ? request : plainRequest
  return {
    /** @throws TooLarge, or the connection's error, also where the signal has ended it */
    send: async ({
      method,
      url,
      body,
      contentType = 'application/json',
      signal,
      maxBytes,
    }: HttpRequest): Promise<Answer> => {
      const sent = {
        ...headers,
        ...(body !== undefined && { 'Content-Type': contentType, 'Content-Length': String(Buffer.byteLength(body)) }),
      }
      const failed = new AbortController()
      const outgoing = begin(url, { ...base, ...endingWith(failed.signal), method, headers: sent, signal })
      outgoing.end(body)
      const response = await headOf(outgoing, signal).catch((error: unknown) => {
        failed.abort()
        throw error
      })
      const { statusCode: status = 0, headers: received } = response
      const isFailure = status < 200 || status >= 300
      const limit = isFailure ? MAX_FAILURE_BYTES : maxBytes
      const bounds = { budget, signal, encoding: received['content-encoding'], maxBytes: limit }
      const read = await collect(response, bounds).catch((error: unknown) => {
        // Of a failed answer that is too long the status says enough.
        if (isFailure && error instanceof TooLarge) return Buffer.alloc(0)
        throw error
      })
      return { status, headers: received, body: read }
    },
    close: () => agent.destroy(),
  }
}

async function headOf(outgoing: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  // Later errors of the request also end the answer that is being read.
  outgoing.on('error', () => {})
  // A change of protocol closes the request without an error, and so does the signal before there is a socket.
  const closed = once(outgoing, 'close').then(() => {
    throw new Error('the connection was closed without an answer')
  })
  const [response] = await Promise.race([once(outgoing, 'response', { signal }), closed])
  return response
}

function keepAliveAgent(server: URL, connection: ConnectionOptions): Agent | PlainAgent {
  const { proxy, ca, cert, key, servername, rejectUnauthorized } = connection
  // Whether it is used is decided already: there are no exceptions.
  const proxied = proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }
  const pool = { keepAlive: true, maxSockets: MAX_SOCKETS, ...proxied }
  if (server.protocol !== 'https:') return ending(new PlainAgent(pool))
  // One for all connections; otherwise each would parse the certificates again, which takes milliseconds each.
  const secureContext = createSecureContext({
    ca: ca ?? [...rootCertificates, ...getCACertificates('system')],
    cert,
    key,
  })
  // rejectUnauthorized is set explicitly; otherwise NODE_TLS_REJECT_UNAUTHORIZED would decide.
  return ending(new Agent({ ...pool, secureContext, servername, rejectUnauthorized }))
}

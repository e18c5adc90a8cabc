/**
 * HTTP to one server, with one credential. Whatever the server does, a request has an end (S34):
 *
 * - in time: its signal ends it anywhere between the connection and the last byte, and then nothing of it goes on. So end
 *   also informational answers (1xx) without end, which Node reads and drops, and answers that come byte by byte;
 * - in bytes: of the body as it arrives and as it is unpacked, here; of the head, and of trailers, by Node's parser (16 KiB
 *   each, `--max-http-header-size`, which nobody can set: the launcher keeps no NODE_OPTIONS), as of chunk extensions;
 * - in steps: no redirect is followed, and a change of protocol (101) ends the connection, since nobody here listens for it.
 */

import { type ClientRequest, type IncomingMessage, type Agent as PlainAgent, request as plainRequest } from 'node:http'
import { type Agent, type RequestOptions, request } from 'node:https'
import { createSecureContext, getCACertificates, rootCertificates } from 'node:tls'
import { defined } from '../../lang/defined.ts'
import { type Budget, collect } from '../../trust/bytes.ts'
import { proxyEnvironment } from '../../trust/environment.ts'
import { TooLarge } from '../../trust/plain-files.ts'
import type { ConnectionOptions } from './connection.ts'
import { EndingAgent, EndingPlainAgent, endingWith } from './ending-agent.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
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
  /** @throws TooLarge, the signal's reason, or what the connection has wrong */
  send(request: HttpRequest): Promise<Answer>
  close(): void
}

export interface AnswerLimits {
  /** Of one answer, raw and unpacked. */
  readonly maxBytes: number
  /** Of all answers that are being received. */
  readonly budget?: Budget
}

/** Enough to hide round trips; each connection costs a TLS handshake. */
const MAX_SOCKETS = 4
/** What a server says of a failure. */
const MAX_FAILURE_BYTES = 1024 * 1024

export function createTransport(
  server: URL,
  connection: ConnectionOptions,
  { maxBytes, budget }: AnswerLimits,
): Transport {
  const secure = server.protocol === 'https:'
  const loopback = isLoopback(server.hostname)
  const agent = connection.agent ?? keepAliveAgent(secure, loopback, connection)
  const headers: Record<string, string | string[]> = { ...connection.headers, Accept: 'application/json' }
  // On loopback compressing costs more than it saves.
  if (!loopback && connection.compression) headers['Accept-Encoding'] = 'gzip'
  const base: RequestOptions = { agent, ...defined({ auth: connection.auth }) }
  const begin = secure ? request : plainRequest
  return {
    send: async ({ method, url, body, contentType = 'application/json', signal }) => {
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
      const bounds = { budget, signal, encoding: received['content-encoding'] }
      if (status >= 200 && status < 300)
        return { status, headers: received, body: await collect(response, { ...bounds, maxBytes }) }
      return { status, headers: received, body: await failureIn(response, bounds) }
    },
    close: () => agent.destroy(),
  }
}

function headOf(outgoing: ClientRequest, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The listeners stay: what happens to the request later happens to the answer as well, which is being read.
    outgoing.on('response', resolve).on('error', reject)
    // A change of protocol ends it without a word, and so does the signal before there is a socket.
    outgoing.on('close', () => reject(new Error('the connection was closed without an answer')))
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** The status says it too: more words than that are left unread. */
async function failureIn(
  response: IncomingMessage,
  bounds: Omit<Parameters<typeof collect>[1], 'maxBytes'>,
): Promise<Buffer> {
  try {
    return await collect(response, { ...bounds, maxBytes: MAX_FAILURE_BYTES })
  } catch (error) {
    if (error instanceof TooLarge) return Buffer.alloc(0)
    throw error
  }
}

function keepAliveAgent(secure: boolean, loopback: boolean, connection: ConnectionOptions): Agent | PlainAgent {
  // As kubectl: HTTPS_PROXY and NO_PROXY count, never for this very host.
  const proxy = loopback ? {} : { proxyEnv: proxyEnvironment() }
  const pool = { keepAlive: true, maxSockets: MAX_SOCKETS, ...proxy }
  if (!secure) return new EndingPlainAgent(pool)
  const { ca, cert, key, servername, rejectUnauthorized = true } = connection
  // One for all connections: else each parses the certificates again, at milliseconds apiece.
  const secureContext = createSecureContext({
    ca: ca ?? [...rootCertificates, ...getCACertificates('system')],
    ...defined({ cert, key }),
  })
  return new EndingAgent({
    ...pool,
    secureContext,
    ...defined({ servername }),
    // Said, since NODE_TLS_REJECT_UNAUTHORIZED would else decide.
    rejectUnauthorized,
  })
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
}

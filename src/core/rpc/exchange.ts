import { connect as connectHttp2, constants, type IncomingHttpHeaders, type IncomingHttpStatusHeader } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { closing, errnoOf, errorMessage } from '../messages/findings.ts'
import { Gathered } from '../trust/bytes.ts'
import { walkTo } from '../trust/walk.ts'
import { type Deadline, type GrpcCode, grpcCodeName } from './grpc-status.ts'

/** How a call ended: with the server's status, or with the one that corresponds to an end of the stream without a status. */
interface Reply {
  readonly code: GrpcCode
  readonly details: string
  /** What came before the server's status. */
  readonly body?: Buffer
  readonly cause?: unknown
}

/** Room for an answer of the maximum size without waiting for window updates. */
const WINDOW_BYTES = 1024 * 1024

/**
 * One request and its answer over HTTP/2 without TLS, on its own connection. Never rejects: the first of status, broken
 * connection and deadline settles it, and then the connection is closed.
 *
 * Whatever the server sends, the bytes that are kept are bounded (S34): the body by `receiveLimit`, headers and trailers by
 * Node's own limits (128 of them, 64 KiB), floods of settings, pings and continuations by nghttp2, which ends such a session.
 * Endless meaningless frames are read and dropped until the deadline.
 *
 * @grpc/grpc-js makes of an OK with half a message an UNIMPLEMENTED, by which a runtime that lies would pass for none (S9), tells errors
 * of the socket in prose alone, and takes 10 ms to load.
 *
 * @param path `/package.Service/Method`
 * @param frame the request
 */
export function exchange(
  socketPath: string,
  path: string,
  frame: Buffer,
  { deadline, receiveLimit }: { readonly deadline: Deadline; readonly receiveLimit: number },
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  const late: Reply = { code: 'DEADLINE_EXCEEDED', details: `no answer within ${deadline.totalMs / 1000} s` }
  const remainingMs = deadline.remainingMs()
  if (remainingMs <= 0) return Promise.resolve(late)

  let socket: Socket
  try {
    // By a descriptor: a way that leads into a file system that hangs does not hang this process (S36), and the path may be longer
    // than a socket address.
    socket = closing(walkTo(socketPath, { throughDoubt: true }).fd, (fd) => connect({ path: `/proc/self/fd/${fd}` }))
  } catch (error) {
    return Promise.resolve(statusOfConnection(error))
  }
  const session = connectHttp2('http://localhost', {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: WINDOW_BYTES },
  })
  const stream = session.request({
    ':method': 'POST',
    // Set by hand: servers not written in Go refuse an authority that they cannot make sense of (C5).
    ':authority': 'localhost',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'volctl',
    'grpc-timeout': encodeTimeout(remainingMs),
  })

  const settle = (reply: Reply): void => {
    clearTimeout(timer)
    resolve(reply)
    if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL)
    session.destroy()
  }
  const timer = setTimeout(() => settle(late), remainingMs)

  let failure: unknown
  let headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {}
  let trailers: IncomingHttpHeaders = {}
  const received = new Gathered()

  // The socket's error has the cause; those of session and stream only say that they are closed.
  socket.on('error', (error) => {
    failure = error
  })
  session.on('error', (error) => {
    failure ??= error
  })
  // A session that breaks before its stream was sent ends the stream only later, or never.
  session.on('close', () => settle(statusOfConnection(failure)))
  stream.on('error', (error) => {
    failure ??= error
  })
  stream.on('response', (value) => {
    headers = value
  })
  stream.on('trailers', (value) => {
    trailers = value
  })
  stream.on('data', (chunk: Buffer) => {
    if (received.length + chunk.length <= receiveLimit) received.add(chunk)
    else settle({ code: 'RESOURCE_EXHAUSTED', details: `the answer is larger than ${receiveLimit} bytes` })
  })
  stream.on('close', () => settle(conclude()))
  stream.end(frame)

  function conclude(): Reply {
    // A status ends the call even where the server resets the stream after it.
    const source = trailers['grpc-status'] === undefined ? headers : trailers
    const given = source['grpc-status']
    if (given !== undefined) {
      // To JavaScript an empty text is the number 0, which would be OK.
      const code = grpcCodeName(/^\d{1,9}$/.test(String(given)) ? Number(given) : UNKNOWN)
      // The server knows the deadline, too, and may be first to notice that it has passed.
      if (code === 'DEADLINE_EXCEEDED' && deadline.remainingMs() === 0) return late
      const message = source['grpc-message']
      return { code, details: decodeGrpcMessage(String(message ?? '')), body: received.all() }
    }
    const { ':status': status, 'content-type': type = '' } = headers
    if (status !== undefined && status !== 200)
      return { code: BY_HTTP_STATUS[status] ?? 'UNKNOWN', details: `HTTP status ${status}` }
    if (status !== undefined && !type.startsWith('application/grpc'))
      return {
        code: 'UNKNOWN',
        details: `the answer is not gRPC but has ${type ? `content type ${type}` : 'no content type'}`,
      }
    // Node closes the streams of a broken connection as cancelled, without a frame from the server.
    if (socket.destroyed || session.destroyed || session.closed) return statusOfConnection(failure)
    const details = `the server reset the call (HTTP/2 code ${stream.rstCode})`
    return { code: BY_RESET_CODE[stream.rstCode] ?? 'INTERNAL', details }
  }
  return promise
}

/** The number of the status that says nothing. */
const UNKNOWN = 2

/**
 * A gRPC message on the wire: one byte (0: not compressed), four bytes of length (big endian), the message.
 *
 *     00  00 00 00 05  0a 03 66 6f 6f
 */
const HEADER_BYTES = 5

export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + message.length)
  frame.writeUInt8(0, 0)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, HEADER_BYTES)
  return frame
}

/**
 * The one message of a unary answer.
 *
 * @throws Error when the body is not exactly one whole, uncompressed frame
 */
export function decodeFrame(body: Buffer): Buffer {
  if (body.length < HEADER_BYTES) throw new Error(`the answer has ${body.length} bytes, less than a frame's header`)
  if (body.readUInt8(0) !== 0) throw new Error('the answer is compressed, which was not offered')
  const length = body.readUInt32BE(1)
  if (body.length !== HEADER_BYTES + length) {
    throw new Error(`the answer has ${body.length - HEADER_BYTES} bytes of message, but announces ${length}`)
  }
  return body.subarray(HEADER_BYTES)
}

/**
 * Decodes a `grpc-message`: UTF-8, in which everything but printable ASCII is written %XX.
 * Invalid escapes are left as they are, since a damaged message is still worth showing.
 */
export function decodeGrpcMessage(value: string): string {
  return value.replace(/(?:%[\da-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
}

/** A `grpc-timeout`: at most eight digits and a unit. */
export function encodeTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms))
  return whole < 1e8 ? `${whole}m` : `${Math.min(Math.ceil(whole / 1000), 99_999_999)}S`
}

/** HTTP statuses that gRPC maps to a status; every other one is UNKNOWN. */
const BY_HTTP_STATUS: Readonly<Record<number, GrpcCode>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
}

/** HTTP/2 reset codes that gRPC maps to a status; every other one is INTERNAL. */
const BY_RESET_CODE: Readonly<Record<number, GrpcCode>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: 'UNAVAILABLE',
  [constants.NGHTTP2_CANCEL]: 'CANCELLED',
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: 'RESOURCE_EXHAUSTED',
  [constants.NGHTTP2_INADEQUATE_SECURITY]: 'PERMISSION_DENIED',
}

const SOCKET_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such socket',
  ENOTDIR: 'no such socket',
  ECONNREFUSED: 'no process listens on the socket',
  EACCES: 'permission denied on the socket',
  ENOTSOCK: 'not a socket',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
}

/** A connection that failed or broke: UNAVAILABLE, as for the kubelet's client (C5). */
function statusOfConnection(cause: unknown): Reply {
  const reason = SOCKET_REASONS[errnoOf(cause) ?? '']
  return { code: 'UNAVAILABLE', details: reason ?? (cause ? errorMessage(cause) : 'the connection was closed'), cause }
}

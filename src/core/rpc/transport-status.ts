import { constants } from 'node:http2'
import { errnoOf, errorMessage } from '../base/errors.ts'
import type { GrpcCode } from './grpc-status.ts'

/** The gRPC status for an end of the stream without one. */
interface TransportStatus {
  readonly code: GrpcCode
  readonly details: string
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

export function statusOfHttp(status: number, contentType: string): TransportStatus {
  if (status !== 200) return { code: BY_HTTP_STATUS[status] ?? 'UNKNOWN', details: `HTTP status ${status}` }
  return {
    code: 'UNKNOWN',
    details: `the answer is not gRPC but has ${contentType ? `content type ${contentType}` : 'no content type'}`,
  }
}

export function statusOfReset(resetCode: number): TransportStatus {
  return {
    code: BY_RESET_CODE[resetCode] ?? 'INTERNAL',
    details: `the server reset the call (HTTP/2 code ${resetCode})`,
  }
}

/** A connection that failed or broke: UNAVAILABLE, as for the kubelet's client (C5). */
export function statusOfConnection(error: unknown): TransportStatus {
  const reason = SOCKET_REASONS[errnoOf(error) ?? '']
  return { code: 'UNAVAILABLE', details: reason ?? (error ? errorMessage(error) : 'the connection was closed') }
}

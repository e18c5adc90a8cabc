import { type GrpcCode, isFinalCode } from './grpc-status.ts'

export interface GrpcErrorDetails {
  /** Short name of the method, e.g. NodeUnpublishVolume. */
  readonly method: string
  readonly socketPath: string
  readonly cause?: unknown
}

/**
 * A call that did not end with OK: the server's status, or the one that corresponds to the transport's failure. `details` is the
 * text of the status; requests are never part of it, since they may contain secrets (C118).
 */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: GrpcCode
  readonly details: string
  readonly method: string
  readonly socketPath: string

  constructor(code: GrpcCode, details: string, { method, socketPath, cause }: GrpcErrorDetails) {
    super(`${method}: ${code}${details === '' ? '' : `: ${details}`}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
    this.method = method
    this.socketPath = socketPath
  }

  /** False: the operation may still be running, or is half done (C3). */
  get isFinal(): boolean {
    return isFinalCode(this.code)
  }
}

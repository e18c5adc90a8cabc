/** gRPC status codes by number (the position in this list is the code on the wire). */
const GRPC_CODES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const

export type GrpcCode = (typeof GRPC_CODES)[number]

/** Codes after which the operation may still be running, or is half done (C3). */
const UNCERTAIN: ReadonlySet<GrpcCode> = new Set([
  'CANCELLED',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'ABORTED',
  'UNAVAILABLE',
])

/** The name of a status code; a number that gRPC does not define is UNKNOWN. */
export function grpcCodeName(code: number): GrpcCode {
  return GRPC_CODES[code] ?? 'UNKNOWN'
}

/**
 * A call that did not end with OK: the server's status, or the one that corresponds to the transport's failure. `details` is the
 * text of the status; requests are never part of it, since they may contain secrets (C118).
 */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: GrpcCode
  readonly details: string

  /** @param method its short name, e.g. NodeUnpublishVolume */
  constructor(code: GrpcCode, details: string, method: string, cause?: unknown) {
    super(`${method}: ${code}${details === '' ? '' : `: ${details}`}`, cause === undefined ? undefined : { cause })
    this.code = code
    this.details = details
  }

  /**
   * False: the operation may still be running, or is half done (C3). The kubelet only asks this for NodeStageVolume,
   * NodePublishVolume, NodeExpandVolume and NodeGetCapabilities; after any failure of unpublish or unstage the volume's state is
   * uncertain.
   */
  get isFinal(): boolean {
    return !UNCERTAIN.has(this.code)
  }
}

/** A point in time that several calls share, on the monotonic clock (C6). */
export interface Deadline {
  /** The whole span, for messages. */
  readonly totalMs: number
  /** Whole, as timers take them; zero when it has passed. */
  remainingMs(): number
}

export function deadlineIn(totalMs: number): Deadline {
  const end = performance.now() + totalMs
  return { totalMs, remainingMs: () => Math.max(0, Math.ceil(end - performance.now())) }
}

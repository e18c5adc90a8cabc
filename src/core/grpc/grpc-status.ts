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
 * Has a failed call certainly ended, with nothing in progress (C3).
 *
 * The kubelet only asks this for NodeStageVolume, NodePublishVolume, NodeExpandVolume and NodeGetCapabilities; after any failure
 * of unpublish or unstage the volume's state is uncertain.
 */
export function isFinalCode(code: GrpcCode): boolean {
  return !UNCERTAIN.has(code)
}

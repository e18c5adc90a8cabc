/** A driver's gRPC status, and what a person can do about it (C3, C119, C125). */
import { GrpcError } from '../grpc/grpc-error.ts'
import type { GrpcCode } from '../grpc/grpc-status.ts'

export function grpcStatusOf(error: unknown): GrpcCode | undefined {
  return error instanceof GrpcError ? error.code : undefined
}

const HINTS: Partial<Record<GrpcCode, { code: string; hint: string }>> = {
  NOT_FOUND: {
    code: 'VolumeNotFound',
    hint: 'The storage system says that the volume is gone; what remains is local. Make sure of that, then undo the rest by hand.',
  },
  ABORTED: {
    code: 'OperationPending',
    hint: 'The driver is still at work on this volume: apply again in a while.',
  },
  FAILED_PRECONDITION: {
    code: 'DriverRefused',
    hint: "By the driver's own records the volume is still in use; look at its log and at its other targets.",
  },
  UNAVAILABLE: {
    code: 'DriverNotRegistered',
    hint: 'The driver went away: bring its node pod back; then apply again.',
  },
  DEADLINE_EXCEEDED: {
    code: 'TimedOut',
    hint: 'The call may still be at work in the driver; look at its log, then apply again.',
  },
  PERMISSION_DENIED: { code: 'DriverRefused', hint: 'The driver lacks a right of its own; look at its log.' },
  UNIMPLEMENTED: { code: 'DriverRefused', hint: 'The driver does not offer this call.' },
}

export function hintFor(status: GrpcCode | undefined): { code: string; hint: string } {
  const known = status === undefined ? undefined : HINTS[status]
  return (
    known ?? {
      code: 'DriverFailed',
      hint: "The words are the driver's; look at its log. Nothing was cleaned up after it.",
    }
  )
}

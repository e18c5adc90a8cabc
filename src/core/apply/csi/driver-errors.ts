/** What a driver's gRPC status means, and what to do about it (C3, C119, C125). */
import type { OutcomeCode } from '../../codes/codes.ts'
import { type GrpcCode, GrpcError } from '../../rpc/grpc-status.ts'

export function grpcStatusOf(error: unknown): GrpcCode | undefined {
  return error instanceof GrpcError ? error.code : undefined
}

/** Outcome codes by status, the same for set-up and tear-down. */
const CODES: Partial<Record<GrpcCode, OutcomeCode>> = {
  NOT_FOUND: 'VolumeNotFound',
  ABORTED: 'OperationPending',
  UNAVAILABLE: 'DriverUnavailable',
  DEADLINE_EXCEEDED: 'TimedOut',
  INVALID_ARGUMENT: 'DriverRefused',
  ALREADY_EXISTS: 'DriverRefused',
  PERMISSION_DENIED: 'DriverRefused',
  FAILED_PRECONDITION: 'DriverRefused',
  UNIMPLEMENTED: 'DriverRefused',
  UNAUTHENTICATED: 'DriverRefused',
}

/** The outcome's code; DriverFailed for a failure without a status. */
export function outcomeCodeOf(status: GrpcCode | undefined): OutcomeCode {
  return (status === undefined ? undefined : CODES[status]) ?? 'DriverFailed'
}

const TAKING_DOWN: Partial<Record<GrpcCode, string>> = {
  NOT_FOUND:
    'The storage system says that the volume is gone, so only local state is left. Verify that, then remove the rest by hand.',
  ABORTED: 'The driver is still working on this volume: apply again later.',
  FAILED_PRECONDITION:
    "The driver's own records say that the volume is still in use; see its log, and look for other targets.",
  UNAVAILABLE: 'The driver is gone: bring its node pod back; then apply again.',
  DEADLINE_EXCEEDED: 'The call may still be running in the driver; see its log, then apply again.',
  PERMISSION_DENIED: 'The driver itself lacks a right; see its log.',
  UNAUTHENTICATED: 'The driver itself lacks a right; see its log.',
  UNIMPLEMENTED: 'The driver does not offer this call.',
}

/** What to do about a failed tear-down call. */
export function hintFor(status: GrpcCode | undefined): string {
  const known = status === undefined ? undefined : TAKING_DOWN[status]
  return known ?? "See the driver's log. Nothing was cleaned up after the call."
}

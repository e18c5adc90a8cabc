/** A driver's gRPC status, and what a person can do about it (C3, C119, C125). */
import type { OutcomeCode } from '../../codes/codes.ts'
import { GrpcError } from '../../grpc/grpc-error.ts'
import type { GrpcCode } from '../../grpc/grpc-status.ts'

export function grpcStatusOf(error: unknown): GrpcCode | undefined {
  return error instanceof GrpcError ? error.code : undefined
}

/** One status has one code, whichever way the call was to bring the volume. */
const CODES: Partial<Record<GrpcCode, OutcomeCode>> = {
  NOT_FOUND: 'VolumeNotFound',
  ABORTED: 'OperationPending',
  UNAVAILABLE: 'DriverNotRegistered',
  DEADLINE_EXCEEDED: 'TimedOut',
  INVALID_ARGUMENT: 'DriverRefused',
  ALREADY_EXISTS: 'DriverRefused',
  PERMISSION_DENIED: 'DriverRefused',
  FAILED_PRECONDITION: 'DriverRefused',
  UNIMPLEMENTED: 'DriverRefused',
  UNAUTHENTICATED: 'DriverRefused',
}

/** The outcome's code; of a failure without a status too. */
export function outcomeCodeOf(status: GrpcCode | undefined): OutcomeCode {
  return (status === undefined ? undefined : CODES[status]) ?? 'DriverFailed'
}

const TAKING_DOWN: Partial<Record<GrpcCode, string>> = {
  NOT_FOUND:
    'The storage system says that the volume is gone; what remains is local. Make sure of that, then undo the rest by hand.',
  ABORTED: 'The driver is still at work on this volume: apply again in a while.',
  FAILED_PRECONDITION:
    "By the driver's own records the volume is still in use; look at its log and at its other targets.",
  UNAVAILABLE: 'The driver went away: bring its node pod back; then apply again.',
  DEADLINE_EXCEEDED: 'The call may still be at work in the driver; look at its log, then apply again.',
  PERMISSION_DENIED: 'The driver lacks a right of its own; look at its log.',
  UNAUTHENTICATED: 'The driver lacks a right of its own; look at its log.',
  UNIMPLEMENTED: 'The driver does not offer this call.',
}

/** What to do about a call that should have taken a volume down. */
export function hintFor(status: GrpcCode | undefined): string {
  const known = status === undefined ? undefined : TAKING_DOWN[status]
  return known ?? "The words are the driver's; look at its log. Nothing was cleaned up after it."
}

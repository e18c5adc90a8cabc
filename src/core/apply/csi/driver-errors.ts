/** What a driver's gRPC status means, and what to do about it (C3, C119, C125). */
import type { OutcomeCode } from '../../messages/codes.ts'
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

/** What to do where it is more than the code says. */
const HINTS: Readonly<Record<'settingUp' | 'takingDown', Partial<Record<GrpcCode, string>>>> = {
  settingUp: {
    ALREADY_EXISTS:
      'The driver already has the volume here with other parameters: unmount it everywhere on this node first.',
  },
  takingDown: {
    NOT_FOUND:
      'The storage system says that the volume is gone, so only local state is left. Verify that, then remove the rest by hand.',
    FAILED_PRECONDITION:
      "The driver's own records say that the volume is still in use; see its log, and look for other targets.",
  },
}

export function hintOf(status: GrpcCode | undefined, call: keyof typeof HINTS): string | undefined {
  return status && HINTS[call][status]
}

import type { GrpcCode } from '../../src/core/rpc/grpc-status.ts'

/** What volctl calls each failure of a driver's call. ABORTED is apart: it is waited for (C119). */
const NAMES: Readonly<Record<Exclude<GrpcCode, 'OK' | 'ABORTED'>, string>> = {
  CANCELLED: 'DriverFailed',
  UNKNOWN: 'DriverFailed',
  INVALID_ARGUMENT: 'DriverRefused',
  DEADLINE_EXCEEDED: 'TimedOut',
  NOT_FOUND: 'VolumeNotFound',
  ALREADY_EXISTS: 'DriverRefused',
  PERMISSION_DENIED: 'DriverRefused',
  RESOURCE_EXHAUSTED: 'DriverFailed',
  FAILED_PRECONDITION: 'DriverRefused',
  OUT_OF_RANGE: 'DriverFailed',
  UNIMPLEMENTED: 'DriverRefused',
  INTERNAL: 'DriverFailed',
  UNAVAILABLE: 'DriverUnavailable',
  DATA_LOSS: 'DriverFailed',
  UNAUTHENTICATED: 'DriverRefused',
}

/** After these the call may still be going on, or is half done (C3). */
const UNCERTAIN: readonly GrpcCode[] = ['CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE']

/** Every code that a call may fail with, and how it is to be taken. */
export const OUTCOMES = Object.entries(NAMES).map(([key, name]) => {
  const code = key as keyof typeof NAMES
  return { code, state: `failed ${name}`, isFinal: !UNCERTAIN.includes(code) }
})

import { expect, test } from 'vitest'
import { GrpcError, grpcCodeName } from '../../src/core/rpc/grpc-status.ts'

test.each([
  [1, 'CANCELLED', false],
  [2, 'UNKNOWN', true],
  [3, 'INVALID_ARGUMENT', true],
  [4, 'DEADLINE_EXCEEDED', false],
  [5, 'NOT_FOUND', true],
  [6, 'ALREADY_EXISTS', true],
  [7, 'PERMISSION_DENIED', true],
  [8, 'RESOURCE_EXHAUSTED', false],
  [9, 'FAILED_PRECONDITION', true],
  [10, 'ABORTED', false],
  [11, 'OUT_OF_RANGE', true],
  [12, 'UNIMPLEMENTED', true],
  [13, 'INTERNAL', true],
  [14, 'UNAVAILABLE', false],
  [15, 'DATA_LOSS', true],
  [16, 'UNAUTHENTICATED', true],
  [17, 'UNKNOWN', true],
  [Number.NaN, 'UNKNOWN', true],
] as const)('code %d is %s, final: %s (C3)', (number, name, final) => {
  expect(grpcCodeName(number)).toBe(name)
  const error = new GrpcError(name, 'text', { method: 'NodeStageVolume', socketPath: '/s' })
  expect(error.isFinal).toBe(final)
  expect(error.message).toBe(`NodeStageVolume: ${name}: text`)
})

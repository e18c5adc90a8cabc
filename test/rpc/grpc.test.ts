import { status } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import { decodeFrame, decodeGrpcMessage, encodeFrame, encodeTimeout } from '../../src/core/rpc/exchange.ts'
import { GrpcError, grpcCodeName } from '../../src/core/rpc/grpc-status.ts'

describe('frames', () => {
  test('a frame is a zero, the length and the message', () => {
    expect(encodeFrame(Buffer.from('0a03666f6f', 'hex')).toString('hex')).toBe('00000000050a03666f6f')
    expect(encodeFrame(new Uint8Array()).toString('hex')).toBe('0000000000')
  })

  test.each([
    ['an empty message', '0000000000', ''],
    ['a message', '00000000050a03666f6f', '0a03666f6f'],
  ])('%s is read back', (_name, frame, message) => {
    expect(decodeFrame(Buffer.from(frame, 'hex')).toString('hex')).toBe(message)
  })

  test.each([
    ['nothing', '', /less than a frame's header/],
    ['a header cut short', '000000', /less than a frame's header/],
    ['a message cut short', '00000000050a03', /2 bytes of message, but announces 5/],
    ['two messages', '00000000000000000000', /5 bytes of message, but announces 0/],
    ['a compressed message', '010000000100', /compressed/],
  ])('%s is refused', (_name, frame, message) => {
    expect(() => decodeFrame(Buffer.from(frame, 'hex'))).toThrow(message)
  })
})

test.each([
  ['plain', 'plain'],
  ['100%25', '100%'],
  ['Ger%C3%A4t belegt', 'Gerät belegt'],
  ['%E2%82%AC%F0%9F%92%BE', '€💾'],
  ['50% of %zz, then %C3%A4', '50% of %zz, then ä'],
  ['', ''],
])('grpc-message %j is %j', (wire, text) => {
  expect(decodeGrpcMessage(wire)).toBe(text)
})

test.each([
  [0.2, '1m'],
  [1500, '1500m'],
  [120_000, '120000m'],
  [99_999_999, '99999999m'],
  [100_000_000, '100000S'],
])('%d ms are grpc-timeout %s', (ms, text) => {
  expect(encodeTimeout(ms)).toBe(text)
})

const NAMES = Object.entries(status).filter((entry): entry is [keyof typeof status, number] => !/^\d/.test(entry[0]))

test('codes have the names that another implementation gives them, any other is UNKNOWN', () => {
  expect(NAMES.map(([, number]) => grpcCodeName(number))).toEqual(NAMES.map(([name]) => name))
  expect([17, Number.NaN].map(grpcCodeName)).toEqual(['UNKNOWN', 'UNKNOWN'])
})

test('after some the operation may still be running (C3)', () => {
  const of = (name: keyof typeof status) => new GrpcError(name, 'text', 'NodeStageVolume')
  const open = NAMES.map(([name]) => of(name)).filter(({ isFinal }) => !isFinal)
  expect(open.map(({ message }) => message)).toEqual(
    ['CANCELLED', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'ABORTED', 'UNAVAILABLE'].map(
      (code) => `NodeStageVolume: ${code}: text`,
    ),
  )
})

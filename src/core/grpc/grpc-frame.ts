/**
 * A gRPC message on the wire: one byte (0: not compressed), four bytes of length (big endian), the message.
 *
 *     00  00 00 00 05  0a 03 66 6f 6f
 */
const HEADER_BYTES = 5

export function encodeFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + message.length)
  frame.writeUInt8(0, 0)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, HEADER_BYTES)
  return frame
}

/**
 * The one message of a unary answer.
 *
 * @throws Error when the body is not exactly one whole, uncompressed frame
 */
export function decodeFrame(body: Buffer): Buffer {
  if (body.length < HEADER_BYTES) throw new Error(`the answer has ${body.length} bytes, less than a frame's header`)
  if (body.readUInt8(0) !== 0) throw new Error('the answer is compressed, which was not offered')
  const length = body.readUInt32BE(1)
  if (body.length !== HEADER_BYTES + length) {
    throw new Error(`the answer has ${body.length - HEADER_BYTES} bytes of message, but announces ${length}`)
  }
  return body.subarray(HEADER_BYTES)
}

/**
 * Decodes a `grpc-message`: UTF-8, in which everything but printable ASCII is written %XX.
 * Invalid escapes are left as they are, since a damaged message is still worth showing.
 */
export function decodeGrpcMessage(value: string): string {
  if (!value.includes('%')) return value
  const bytes: Buffer[] = []
  for (const part of value.split(/(%[0-9A-Fa-f]{2})/)) {
    bytes.push(part.startsWith('%') && part.length === 3 ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))
  }
  return Buffer.concat(bytes).toString('utf8')
}

/** A `grpc-timeout`: at most eight digits and a unit. */
export function encodeTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms))
  return whole < 1e8 ? `${whole}m` : `${Math.min(Math.ceil(whole / 1000), 99_999_999)}S`
}

import {
  create,
  type DescField,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { firstCharacters } from '../base/text.ts'
import { errorMessage } from '../messages/findings.ts'
import type { Budget } from '../trust/bytes.ts'
import { TooLarge } from '../trust/plain-files.ts'
import { decodeFrame, encodeFrame, exchange } from './exchange.ts'
import { type Deadline, type GrpcCode, GrpcError } from './grpc-status.ts'

export interface CallOptions {
  readonly deadline: Deadline
  /** Accepted bytes of answer; default: gRPC's own 4 MiB (C5). */
  readonly receiveLimit?: number
  /** Memory limit shared by several answers. */
  readonly budget?: Budget
  /** What is in the request and must not be shown (C118). */
  readonly secrets?: readonly string[]
}

const DEFAULT_RECEIVE_LIMIT = 4 * 1024 * 1024
/** Limit for the memory of an answer, as a multiple of `receiveLimit`; real answers take three times their size. */
const UNPACKED = 4

/**
 * Makes one unary gRPC call over a unix socket, on its own connection, which is closed afterwards, as the kubelet does: no
 * keep-alive, no retries, no waiting for a missing server (C5).
 *
 * The deadline is sent to the server (`grpc-timeout`), and also enforced here, so that a server that hangs does not make
 * volctl hang. An abandoned call may still be carried out (C120).
 *
 * @throws GrpcError for every status but OK
 */
export async function unaryCall<I extends DescMessage, O extends DescMessage>(
  socketPath: string,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  options: CallOptions,
): Promise<MessageShape<O>> {
  const { deadline, receiveLimit = DEFAULT_RECEIVE_LIMIT, secrets = [], budget } = options
  const failure = (status: GrpcCode, said: string, cause?: unknown): GrpcError => {
    const details = shownText(said, secrets)
    // A cause that says the same would have the secrets.
    return new GrpcError(status, details, method.name, details === said ? cause : undefined)
  }
  const path = `/${method.parent.typeName}/${method.name}`
  const frame = encodeFrame(toBinary(method.input, create(method.input, request)))
  const { code, details, body, cause } = await exchange(socketPath, path, frame, { deadline, receiveLimit })
  if (code !== 'OK' || body === undefined) throw failure(code, details, cause)
  try {
    const message = decodeFrame(body)
    const most = receiveLimit * UNPACKED
    const size = unpackedSize(method.output, message, most)
    if (size > most) throw new TooLarge(`unpacks to more than ${most} bytes of memory`)
    budget?.take(size)
    // Each unknown field would take an object.
    return fromBinary(method.output, message, { readUnknownFields: false })
  } catch (error) {
    if (error instanceof TooLarge) throw failure('RESOURCE_EXHAUSTED', `the answer ${error.why}`)
    throw failure('INTERNAL', errorMessage(error), error)
  }
}

/** Masking shorter values ("ro", "yes") would make messages unreadable, and hide nothing. */
const SHORTEST_SECRET = 4

/** What a server says of a failure, fit for a message: the secrets of the request are masked (C118), and it has an end. */
function shownText(text: string, secrets: readonly string[]): string {
  let masked = text
  // The longest first: one secret may be part of another.
  for (const secret of [...secrets].sort((a, b) => b.length - a.length)) {
    if (secret.length >= SHORTEST_SECRET) masked = masked.replaceAll(secret, '***')
  }
  // Not before: the beginning of a secret would no longer be recognised.
  return firstCharacters(masked)
}

/** Approximate memory in V8 of an object, of each of its fields, and of a text or number in addition to its bytes. */
const OBJECT_BYTES = 48
const FIELD_BYTES = 16
const VALUE_BYTES = 24
/** Nesting of messages; those of CSI and CRI have five levels. */
const MAX_DEPTH = 50

/** @param most counting stops above this @returns the size; if it is more than `most`, some number above `most` */
function unpackedSize(message: DescMessage, bytes: Uint8Array, most: number): number {
  const reader = new BinaryReader(bytes)
  let size = 0
  const measure = (of: DescMessage, end: number, depth: number): void => {
    size += OBJECT_BYTES + of.fields.length * FIELD_BYTES
    while (reader.pos < end && size <= most) {
      const [number, wireType] = reader.tag()
      const field = of.fields.find((each) => each.number === number)
      if (wireType !== WireType.LengthDelimited) {
        reader.skip(wireType, number)
        size += VALUE_BYTES
        continue
      }
      const length = reader.uint32()
      const next = reader.pos + length
      const inside = messageIn(field)
      if (inside !== undefined && depth < MAX_DEPTH) measure(inside, Math.min(next, end), depth + 1)
      size += VALUE_BYTES + (field === undefined || inside !== undefined ? 0 : length)
      // Two values of a map's entry.
      if (field?.fieldKind === 'map') size += 2 * VALUE_BYTES
      reader.pos = next
    }
  }
  try {
    measure(message, bytes.length, 0)
  } catch {
    // Damaged from here on: decoding will stop here as well.
  }
  return size
}

function messageIn(field: DescField | undefined): DescMessage | undefined {
  if (field?.fieldKind === 'message') return field.message
  return field?.fieldKind === 'list' && field.listKind === 'message' ? field.message : undefined
}

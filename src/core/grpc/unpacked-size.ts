/**
 * Estimates a message's memory before it is decoded: two bytes on the wire can become an object of some hundred, so a limit of
 * the bytes does not limit the memory (S34).
 */
import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** Approximate memory in V8 of an object, of each of its fields, and of a text or number in addition to its bytes. */
const OBJECT_BYTES = 48
const FIELD_BYTES = 16
const VALUE_BYTES = 24
/** Nesting of messages; those of CSI and CRI have five levels. */
const MAX_DEPTH = 50

/** @param most counting stops above this @returns the size; if it is more than `most`, some number above `most` */
export function unpackedSize(message: DescMessage, bytes: Uint8Array, most: number): number {
  const reader = new BinaryReader(bytes)
  let size = 0
  const measure = (of: DescMessage, end: number, depth: number): void => {
    const fields = fieldsOf(of)
    size += OBJECT_BYTES + fields.size * FIELD_BYTES
    while (reader.pos < end && size <= most) {
      const [number, wireType] = reader.tag()
      const field = fields.get(number)
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

const known = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>()

function fieldsOf(message: DescMessage): ReadonlyMap<number, DescField> {
  const found = known.get(message) ?? new Map(message.fields.map((field) => [field.number, field]))
  known.set(message, found)
  return found
}

function messageIn(field: DescField | undefined): DescMessage | undefined {
  if (field?.fieldKind === 'message') return field.message
  return field?.fieldKind === 'list' && field.listKind === 'message' ? field.message : undefined
}

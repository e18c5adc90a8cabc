/**
 * Protocol buffers by hand, for the few CRI calls that only this test makes (volctl itself starts no pods). Field numbers:
 * k8s.io/cri-api runtime.v1.
 */

/** A field with a length: text or an inner message; lists of fields are messages. */
export function field(number: number, content: string | Buffer | readonly Buffer[]): Buffer {
  const bytes = Array.isArray(content) ? Buffer.concat(content) : Buffer.from(content as string | Buffer)
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
}

export function numberField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number << 3), varint(value)])
}

export function mapField(number: number, values: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(values).map(([key, value]) => field(number, [field(1, key), field(2, value)])))
}

/** The text of the first field, if it is one: the id in every answer here. */
export function firstText(message: Buffer): string {
  const length = message[1] ?? 0
  return message.subarray(2, 2 + length).toString()
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest >>>= 7
  }
  return Buffer.from([...bytes, rest])
}

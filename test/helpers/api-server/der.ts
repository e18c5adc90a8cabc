/** The part of DER (X.690) that a certificate needs. */

function tlv(tag: number, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag]), length(body.length), body])
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size])
  const bytes = size < 0x100 ? [size] : [size >> 8, size & 0xff]
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

export const sequence = (...items: Uint8Array[]): Buffer => tlv(0x30, ...items)
export const set = (...items: Uint8Array[]): Buffer => tlv(0x31, ...items)
export const octets = (content: Uint8Array): Buffer => tlv(0x04, content)
export const utf8 = (text: string): Buffer => tlv(0x0c, Buffer.from(text))
export const boolean = (value: boolean): Buffer => tlv(0x01, Buffer.from([value ? 0xff : 0]))
export const bits = (content: Uint8Array, unused = 0): Buffer => tlv(0x03, Buffer.from([unused]), content)
/** A field that the certificate's own grammar numbers. */
export const numbered = (tag: number, content: Uint8Array, constructed = true): Buffer =>
  tlv((constructed ? 0xa0 : 0x80) | tag, content)

/** A whole number from 0 to 127. */
export const integer = (value: number): Buffer => tlv(0x02, Buffer.from([value]))

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return tlv(0x06, Buffer.from(bytes))
}

/** UTCTime, to the second. */
export function utcTime(date: Date): Buffer {
  return tlv(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`))
}

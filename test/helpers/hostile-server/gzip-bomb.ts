import { constants, deflateRawSync } from 'node:zlib'

const MIB = 1 << 20

/**
 * One gzip member that unpacks to a text and so many MiB of blanks behind it, at a thousandth of its size; made at once,
 * since every MiB is the same bytes.
 */
export function gzipBomb(text: string, mebibytes: number): Buffer {
  const block = (bytes: Buffer): Buffer => deflateRawSync(bytes, { level: 9, finishFlush: constants.Z_FULL_FLUSH })
  const header = Buffer.from('1f8b08000000000000ff', 'hex')
  const blanks = block(Buffer.alloc(MIB, ' '))
  const end = Buffer.from('0300', 'hex')
  // Its checksum and size are read only after everything was unpacked.
  const trailer = Buffer.alloc(8)
  return Buffer.concat([
    header,
    block(Buffer.from(text)),
    ...Array.from({ length: mebibytes }, () => blanks),
    end,
    trailer,
  ])
}

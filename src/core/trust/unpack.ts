/** The gate for bytes that are here and packed: what they become has an end (S34). For a stream there is `collect`. */
import { gunzipSync } from 'node:zlib'
import { errnoOf } from '../errors/errors.ts'
import { TooLarge } from './plain-files.ts'

/** No deflated byte becomes more. */
const MOST_UNPACKED = 1032

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** @throws TooLarge, or what zlib says of damaged bytes */
export function gunzipped(bytes: Buffer, maxBytes: number): Buffer {
  // One piece that is large enough, of which only what is written takes memory: several would be there twice at the end.
  const chunkSize = Math.min(maxBytes, bytes.length * MOST_UNPACKED + 1024) + 1
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize })
  } catch (error) {
    if (errnoOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
    throw new TooLarge(`it unpacks to more than ${maxBytes} bytes`, { cause: error })
  }
}

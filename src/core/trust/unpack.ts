/** The gate for compressed bytes in memory: their decompressed size is bounded (S34). `collect` is for streams. */
import { gunzipSync } from 'node:zlib'
import { errnoOf } from '../base/errors.ts'
import { TooLarge } from './plain-files.ts'

/** A byte of deflate output never becomes more than this. */
const MOST_UNPACKED = 1032

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** @throws TooLarge, or zlib's error for damaged bytes */
export function gunzipped(bytes: Buffer, maxBytes: number): Buffer {
  // One buffer that is large enough (only written pages take memory); several would be copied at the end.
  const chunkSize = Math.min(maxBytes, bytes.length * MOST_UNPACKED + 1024) + 1
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize })
  } catch (error) {
    if (errnoOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
    throw new TooLarge(`unpacks to more than ${maxBytes} bytes`, { cause: error })
  }
}

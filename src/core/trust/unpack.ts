/** The gate for compressed bytes in memory: their decompressed size is bounded (S34). `collect` is for streams. */
import { Readable } from 'node:stream'
import { createGunzip, gunzipSync } from 'node:zlib'
import { errnoOf } from '../errors/errors.ts'
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

/**
 * The bytes of a stream as they come, unpacked where it begins as gzip; several packed parts may follow one another. Its reader
 * bounds what it keeps, and no more is unpacked than is read.
 *
 * @throws zlib's error for damaged bytes, or the stream's own
 */
export async function* openUnpacked(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const pieces = stream[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (first.done === true) return
  const all = (async function* (): AsyncGenerator<Buffer> {
    yield first.value
    for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) yield next.value
  })()
  if (!isGzip(first.value)) {
    yield* all
    return
  }
  const gunzip = createGunzip()
  const source = Readable.from(all, { objectMode: false })
  source.once('error', (error) => gunzip.destroy(error))
  yield* source.pipe(gunzip) as AsyncIterable<Buffer>
}

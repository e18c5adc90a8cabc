/**
 * The gate for bytes that come in as a stream (from an API server, a pipe): they are limited in size, as received and as
 * decompressed, and in time (S34). Decompressing ends at the limit, since a few bytes can become any number.
 */

import type { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { errnoOf } from '../messages/findings.ts'
import { TooLarge } from './plain-files.ts'

/** A number of bytes that several streams may hold together. */
export class Budget {
  readonly #most: number
  #used = 0

  constructor(most: number) {
    this.#most = most
  }

  /** @throws TooLarge; then nothing is taken */
  take(bytes: number): void {
    if (this.#used + bytes > this.#most) throw new TooLarge(`is larger than ${this.#most} bytes together with others`)
    this.#used += bytes
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }
}

interface Bounds {
  /** Limit of the bytes received, and of the decompressed bytes. */
  readonly maxBytes: number
  /** Shared with other streams. */
  readonly budget?: Budget
  /** `gzip`: decompress the stream. */
  readonly encoding?: string
  /** Ends the stream: a deadline, or an interrupt. */
  readonly signal?: AbortSignal
}

/**
 * Reads a stream to its end; if it is too large, it is destroyed.
 *
 * @throws TooLarge, the signal's reason, or an error of the stream or its compression
 */
export async function collect(stream: Readable, { maxBytes, budget, encoding, signal }: Bounds): Promise<Buffer> {
  const gathered = new Gathered()
  const giveUp = (): void => void stream.destroy(signal?.reason)
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted) giveUp()
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (gathered.length + chunk.length > maxBytes) throw new TooLarge(`is larger than ${maxBytes} bytes`)
      budget?.take(chunk.length)
      gathered.add(chunk)
    }
    signal?.throwIfAborted()
    const bytes = gathered.all()
    return encoding === 'gzip' && bytes.length > 0 ? gunzipped(bytes, maxBytes) : bytes
  } finally {
    budget?.giveBack(gathered.length)
    signal?.removeEventListener('abort', giveUp)
    stream.destroy()
  }
}

/** Most answers are small. */
const FIRST_BYTES = 16 * 1024

/**
 * Collects pieces of any size in one buffer that grows. A sender may send single bytes; keeping each piece would cost a hundred
 * times its size, and the whole buffer in which it was received.
 */
export class Gathered {
  #buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #length = 0

  /** Of all pieces together. */
  get length(): number {
    return this.#length
  }

  add(piece: Buffer): void {
    const needed = this.#length + piece.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    piece.copy(this.#buffer, this.#length)
    this.#length = needed
  }

  all(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}

// Compressed bytes in memory: their decompressed size is bounded (S34).

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

/** S34: what comes in as a stream has an end in bytes, raw and unpacked, and in time. */
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Budget, collect } from '../../src/core/trust/bytes.ts'
import { TooLarge } from '../../src/core/trust/plain-files.ts'

const MEBIBYTE = 1024 * 1024

it('gives all bytes in their order, however they are cut', async () => {
  const bytes = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index % 251))
  for (const size of [1000, 16_384, 65_536, 600_000]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
      bytes.subarray(n * size, (n + 1) * size),
    )
    expect((await collect(Readable.from(pieces), { maxBytes: MEBIBYTE })).equals(bytes)).toBe(true)
  }
})

it('is not made to hold the buffers that small pieces were cut from', async () => {
  function* pieces(): Generator<Buffer> {
    for (let sent = 0; sent < 300_000; sent++) yield Buffer.alloc(8192).subarray(0, 1)
  }
  const before = process.resourceUsage().maxRSS
  expect(await collect(Readable.from(pieces()), { maxBytes: MEBIBYTE })).toHaveLength(300_000)
  // They would be 2.4 GB.
  expect(process.resourceUsage().maxRSS - before).toBeLessThan(500 * 1024)
})

describe('a budget', () => {
  it('is given back in full, also by what it was too small for', async () => {
    const budget = new Budget(100)
    const bounds = { maxBytes: MEBIBYTE, budget }
    for (let tries = 0; tries < 5; tries++) {
      await expect(collect(Readable.from([Buffer.alloc(60), Buffer.alloc(60)]), bounds)).rejects.toThrow(TooLarge)
      await expect(collect(Readable.from([Buffer.alloc(60)]), { ...bounds, maxBytes: 50 })).rejects.toThrow(TooLarge)
    }
    expect(await collect(Readable.from([Buffer.alloc(100)]), bounds)).toHaveLength(100)
  })
})

describe('packed', () => {
  const packed = gzipSync(Buffer.alloc(MEBIBYTE, ' '))

  it('is counted as it is unpacked', async () => {
    const whole = collect(Readable.from([packed]), { maxBytes: MEBIBYTE, encoding: 'gzip' })
    expect(await whole).toHaveLength(MEBIBYTE)
    const more = collect(Readable.from([packed, packed]), { maxBytes: MEBIBYTE, encoding: 'gzip' })
    await expect(more).rejects.toThrow(TooLarge)
  })

  it('and is counted as it arrives', async () => {
    const noise = Buffer.alloc(2000, 1)
    await expect(collect(Readable.from([noise]), { maxBytes: 1000, encoding: 'gzip' })).rejects.toThrow()
  })

  it('fails where it is cut off', async () => {
    const cut = Readable.from([packed.subarray(0, -4)])
    await expect(collect(cut, { maxBytes: MEBIBYTE, encoding: 'gzip' })).rejects.toThrow()
  })
})

it('ends with its signal, whatever the sender does', async () => {
  const endless = new Readable({ read: () => undefined })
  const work = collect(endless, { maxBytes: MEBIBYTE, signal: AbortSignal.timeout(50) })
  await expect(work).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(endless.destroyed).toBe(true)
})

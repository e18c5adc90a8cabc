/** S34: every stream has an end, in bytes raw and unpacked, and in time. */
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { Budget, collect } from '../../src/core/trust/bytes.ts'
import { TooLarge } from '../../src/core/trust/plain-files.ts'

const endless = (): Readable =>
  new Readable({
    read() {
      this.push(Buffer.alloc(1024, 'x'))
    },
  })
const silent = (): Readable => new Readable({ read() {} })
const MEGABYTE = 1024 * 1024

describe('collect', () => {
  it('gives all of a stream, and no byte more than it may', async () => {
    const letters = (): Readable => Readable.from([Buffer.from('a'), Buffer.from('b')])
    expect((await collect(letters(), { maxBytes: 2 })).toString()).toBe('ab')
    await expect(collect(letters(), { maxBytes: 1 })).rejects.toThrow(TooLarge)
  })

  it('is not made to hold the buffers that small pieces were cut from, and keeps their order', async () => {
    function* pieces(): Generator<Buffer> {
      for (let sent = 0; sent < 40_000; sent++) yield Buffer.alloc(8192, sent % 251).subarray(0, 1)
    }
    const before = process.resourceUsage().maxRSS
    const found = await collect(Readable.from(pieces()), { maxBytes: MEGABYTE })
    expect(found.equals(Buffer.from(Array.from({ length: 40_000 }, (_, index) => index % 251)))).toBe(true)
    // They would be 320 MB.
    expect(process.resourceUsage().maxRSS - before).toBeLessThan(160 * 1024)
  })

  it('unpacks', async () => {
    const packed = Readable.from([gzipSync('content')])
    expect((await collect(packed, { maxBytes: 100, encoding: 'gzip' })).toString()).toBe('content')
  })

  it('ends one that never ends', async () => {
    const stream = endless()
    await expect(collect(stream, { maxBytes: MEGABYTE })).rejects.toThrow(TooLarge)
    expect(stream.destroyed).toBe(true)
  })

  it('ends what unpacks to more, long before all is unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MEGABYTE))
    await expect(collect(Readable.from([bomb]), { maxBytes: MEGABYTE, encoding: 'gzip' })).rejects.toThrow(TooLarge)
  })

  it('ends what arrives without end and unpacks to nothing', async () => {
    const empty = gzipSync('')
    const stream = new Readable({
      read() {
        this.push(empty)
      },
    })
    await expect(collect(stream, { maxBytes: MEGABYTE, encoding: 'gzip' })).rejects.toThrow(TooLarge)
  })

  it.each([undefined, 'gzip'])('ends one that says nothing, at the deadline (%s)', async (encoding) => {
    const stream = silent()
    const signal = AbortSignal.timeout(20)
    await expect(collect(stream, { maxBytes: 1, encoding, signal })).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(stream.destroyed).toBe(true)
  })

  it.each(['cut off', 'none'])('says of packing that is %s that it is wrong', async (how) => {
    const bytes = how === 'none' ? Buffer.from('no gzip') : gzipSync('content').subarray(0, 12)
    await expect(collect(Readable.from([bytes]), { maxBytes: 100, encoding: 'gzip' })).rejects.toThrow()
  })

  it('shares a budget with others, and gives back what it took', async () => {
    const budget = new Budget(3 * MEGABYTE)
    const both = [endless(), endless()].map((stream) => collect(stream, { maxBytes: 2 * MEGABYTE, budget }))
    const ended = await Promise.allSettled(both)
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(
      collect(Readable.from([Buffer.alloc(MEGABYTE)]), { maxBytes: 2 * MEGABYTE, budget }),
    ).resolves.toHaveLength(MEGABYTE)
  })
})

import { describe, expect, it } from 'vitest'
import { VolctlError } from '../../src/core/base/errors.ts'
import { stableRead, tableAt } from '../../src/core/linux/stable-table.ts'

describe('S27: stableRead', () => {
  const reads = (...texts: string[]) => {
    let at = 0
    return { read: () => Buffer.from(texts[Math.min(at++, texts.length - 1)] ?? ''), count: () => at }
  }
  it.each([
    { kernel: '5.8.0', texts: ['a', 'b'], want: 'a', count: 1 },
    { kernel: '6.18.44', texts: ['a', 'b'], want: 'a', count: 1 },
    { kernel: '5.7.19-x', texts: ['a', 'b', 'b'], want: 'b', count: 3 },
    { kernel: '4.18.0', texts: ['a', 'a'], want: 'a', count: 2 },
    { kernel: 'strange', texts: ['a', 'a'], want: 'a', count: 2 },
  ])('on $kernel reads $count times', ({ kernel, texts, want, count }) => {
    const source = reads(...texts)
    expect(stableRead(source.read, kernel).toString()).toBe(want)
    expect(source.count()).toBe(count)
  })

  it('gives up where the table never rests', () => {
    let n = 0
    expect(() => stableRead(() => Buffer.from(String(n++)), '4.18.0')).toThrow(VolctlError)
    expect(n).toBe(11)
  })
})

describe('S27: tableAt', () => {
  const ALL = '1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:7 / /data rw - tmpfs tmpfs rw\n'
  const LACKING = '1 0 8:1 / / rw - ext4 /dev/a rw\n'
  it.each([
    { kernel: '4.18.0', want: ['/', '/data'] },
    { kernel: '6.18.0', want: ['/'] },
  ])('a table that lacks a line at the first look, on $kernel', ({ kernel, want }) => {
    const texts = [LACKING, ALL]
    const table = tableAt('/proc/1/mountinfo', { kernel, read: () => [Buffer.from(texts.shift() ?? ALL)] })
    expect(table.under('/').map(({ mountPoint }) => mountPoint)).toEqual(want)
  })
})

import { expect, it } from 'vitest'
import { tableAt } from '../../src/core/linux/stable-table.ts'
import { VolctlError } from '../../src/core/messages/findings.ts'

const ALL = '1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:7 / /data rw - tmpfs tmpfs rw\n'
const LACKING = '1 0 8:1 / / rw - ext4 /dev/a rw\n'

it.each([
  { kernel: '5.8.0', texts: [LACKING, ALL], want: 1, count: 1 },
  { kernel: '6.18.44', texts: [LACKING, ALL], want: 1, count: 1 },
  { kernel: '6.8-rc1', texts: [LACKING, ALL], want: 1, count: 1 },
  { kernel: '5.7.19-x', texts: [LACKING, ALL, ALL], want: 2, count: 3 },
  { kernel: '4.18.0', texts: [ALL, ALL], want: 2, count: 2 },
  { kernel: 'strange', texts: [ALL, ALL], want: 2, count: 2 },
])('S27: on $kernel a table is read $count times', ({ kernel, texts, want, count }) => {
  let at = 0
  const table = tableAt('/proc/1/mountinfo', undefined, kernel, () => [Buffer.from(texts[at++] ?? '')])
  expect(table.all).toHaveLength(want)
  expect(at).toBe(count)
})

it('S27: gives up where the table never rests', () => {
  let n = 0
  expect(() => tableAt('/proc/1/mountinfo', undefined, '4.18.0', () => [Buffer.from(String(n++))])).toThrow(VolctlError)
  expect(n).toBe(11)
})

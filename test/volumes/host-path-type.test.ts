/** What real paths do not show of upstream's type checker matrix (P58): privileged/set-up/host-path.test.ts. */
import { describe, expect, it } from 'vitest'
import { parseStatLine } from '../../src/core/linux/paths.ts'
import { judgeHostPath } from '../../src/core/volumes/host-path.ts'
import type { HostPath } from '../../src/core/volumes/snapshot.ts'

const THERE = ['dir', 'file', 'socket', 'char', 'block', 'fifo', 'absent'] as const
type There = (typeof THERE)[number]

describe('what a type allows', () => {
  it.each<{ type: string; good: There[] }>([
    { type: '', good: [...THERE] },
    { type: 'BlockDevice', good: ['block'] },
    { type: 'directory', good: [] },
  ])('$type: $good', ({ type, good }) => {
    for (const there of THERE) {
      const fault = judgeHostPath('/x', type, { path: '/x', type: there })
      expect(fault?.makes, there).toBeUndefined()
      expect(fault === undefined, there).toBe(good.includes(there))
    }
  })

  it.each(['/a/../b', '..', '/a/..', '../a'])('%s is refused whatever its type is', (path) =>
    expect(judgeHostPath(path, '', undefined)?.why).toContain('..'),
  )

  it('it did not answer', () => {
    const found: HostPath = { path: '/x', error: 'Timeout' }
    expect(judgeHostPath('/x', 'Directory', found)).toMatchObject({ why: expect.stringContaining('Timeout') })
  })
})

it.each([
  ['61b0 103 1f /dev/x', { type: 'block', device: '259:31', name: '/dev/x' }],
  ['', undefined],
  ["stat: cannot stat '/x': No such file or directory", undefined],
  ['a1ff 0 0 /link', undefined],
])('lines of stat(1): %s', (line, want) => expect(parseStatLine(line)).toEqual(want))

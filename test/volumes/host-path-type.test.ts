/** Upstream's type checker matrix (P58). */
import { describe, expect, it } from 'vitest'
import type { HostPath } from '../../src/core/facts/actual/snapshot.ts'
import { parseStatLine } from '../../src/core/linux/paths.ts'
import { judgeHostPath } from '../../src/core/volumes/host-path.ts'

const THERE = ['dir', 'file', 'socket', 'char', 'block', 'fifo', 'absent'] as const
type There = (typeof THERE)[number]

describe('what a type allows', () => {
  it.each<{ type: string; good: There[]; make?: 'dir' | 'file' }>([
    { type: '', good: [...THERE] },
    { type: 'Directory', good: ['dir'] },
    { type: 'DirectoryOrCreate', good: ['dir'], make: 'dir' },
    { type: 'File', good: ['file'] },
    { type: 'FileOrCreate', good: ['file'], make: 'file' },
    { type: 'Socket', good: ['socket'] },
    { type: 'CharDevice', good: ['char'] },
    { type: 'BlockDevice', good: ['block'] },
    { type: 'directory', good: [] },
    { type: 'Fifo', good: [] },
  ])('$type: $good, made: $make', ({ type, good, make }) => {
    for (const there of THERE) {
      const verdict = judgeHostPath('/x', type, { path: '/x', type: there })
      const makes = there === 'absent' && make !== undefined
      expect(verdict.state, there).toBe(good.includes(there) ? 'good' : makes ? 'toMake' : 'bad')
      if (verdict.state === 'toMake') expect(verdict.what).toBe(make)
    }
  })

  it.each(['/a/../b', '..', '/a/..', '../a'])('%s is refused whatever its type is', (path) =>
    expect(judgeHostPath(path, '', undefined).state).toBe('bad'),
  )

  it('it did not answer', () => {
    const found: HostPath = { path: '/x', error: 'Timeout' }
    expect(judgeHostPath('/x', 'Directory', found)).toMatchObject({ why: expect.stringContaining('Timeout') })
  })
})

it.each([
  ['41ed 0 0 /a b', { type: 'dir', device: '0:0', name: '/a b' }],
  ['81a4 0 0 /f', { type: 'file', device: '0:0', name: '/f' }],
  ['61b0 103 1f /dev/x', { type: 'block', device: '259:31', name: '/dev/x' }],
  ['21b6 1 3 /dev/null', { type: 'char', device: '1:3', name: '/dev/null' }],
  ['c1ed 0 0 /s', { type: 'socket', device: '0:0', name: '/s' }],
  ['11a4 0 0 /p', { type: 'fifo', device: '0:0', name: '/p' }],
  ['', undefined],
  ["stat: cannot stat '/x': No such file or directory", undefined],
  ['a1ff 0 0 /link', undefined],
])('lines of stat(1): %s', (line, want) => expect(parseStatLine(line)).toEqual(want))

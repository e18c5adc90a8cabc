import { expect, it } from 'vitest'
import { parseMaps } from '../../src/core/holders/parse-maps.ts'

it.each([
  {
    name: 'a library, its device in hexadecimal',
    line: '7f0c8a000000-7f0c8a021000 r-xp 00001000 fd:1f 131          /usr/lib/libc.so.6',
    want: [{ dev: '253:31', inode: 131, path: '/usr/lib/libc.so.6' }],
  },
  { name: 'anonymous memory', line: '7f0c8a000000-7f0c8a021000 rw-p 00000000 00:00 0 ', want: [] },
  {
    name: "the kernel's own",
    line: '7ffd1e5c8000-7ffd1e5e9000 rw-p 00000000 00:00 0                          [stack]',
    want: [],
  },
  {
    name: 'deleted, with blanks',
    line: '7f00-7f01 rw-s 00000000 00:2a 17                         /data/a  b (deleted)',
    want: [{ dev: '0:42', inode: 17, path: '/data/a  b (deleted)' }],
  },
  {
    name: 'a newline in the name',
    line: String.raw`7f00-7f01 rw-s 00000000 08:01 17                         /data/a\012b`,
    want: [{ dev: '8:1', inode: 17, path: '/data/a\nb' }],
  },
  {
    name: 'a carriage return in the name, and what looks like a line behind it',
    line: '7f00-7f01 rw-s 00000000 08:01 17      /data/a\r7f00-7f01 rw-s 00000000 08:01 18  /other\u2028b',
    want: [{ dev: '8:1', inode: 17, path: '/data/a\r7f00-7f01 rw-s 00000000 08:01 18  /other\u2028b' }],
  },
  { name: 'shared memory without a file', line: '7f00-7f01 rw-s 00000000 00:01 1  anon_inode:[perf]', want: [] },
  { name: 'nothing', line: '', want: [] },
])('$name', ({ line, want }) => expect(parseMaps(`${line}\n`)).toEqual(want))

it('every line', () => {
  const line = (path: string): string => `7f00-7f01 r--p 00000000 08:01 17   ${path}`
  expect(parseMaps([line('/a'), '7f00-7f01 rw-p 00000000 00:00 0 ', line('/b')].join('\n'))).toHaveLength(2)
})

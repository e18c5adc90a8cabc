import { expect, it } from 'vitest'
import { isPathName, isPlainPath, isWithin } from '../../src/core/linux/paths.ts'

it.each([
  ['/good/path', '/good/path', true],
  ['/good/path/', '/good/path', true],
  ['/good/path', '/good/path/', true],
  ['/good/path', '/', true],
  ['/good/path/child', '/good/path', true],
  ['/good/a/../path/b', '/good/path', true],
  ['/good', '/good/path', false],
  ['/good/path2', '/good/path', false],
  ['/good/path/../../bad', '/good/path', false],
  ['/good/path/../other', '/good/path', false],
  ['/good/path/..2026_11_21', '/good/path', true],
  ['/', '/', true],
])('isWithin: %s within %s: %s', (path, base, want) => expect(isWithin(path, base)).toBe(want))

const names = [
  'a',
  '.',
  '..',
  '...',
  '.a',
  '..a',
  'a b',
  '\n',
  '\u007f',
  'ä',
  'x'.repeat(255),
  'x'.repeat(256),
  'ä'.repeat(128),
  '',
]
const paths = names.flatMap((name) => [`/${name}`, `/k/${name}`, `/${name}/k`, `/k/${name}/k`, name, `/k/${name}/`])

it.each(paths.map((path) => ({ path })))('S10: isPlainPath: agrees with each name of $path', ({ path }) => {
  expect(isPlainPath(path)).toBe(path.startsWith('/') && path.slice(1).split('/').every(isPathName))
})

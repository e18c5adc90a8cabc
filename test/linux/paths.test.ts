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

it.each<[string, boolean]>([
  ['a', true],
  ['...', true],
  ['.a', true],
  ['..a', true],
  ['a b', true],
  ['ä', true],
  ['x'.repeat(255), true],
  ['.', false],
  ['..', false],
  ['\n', false],
  ['\u007f', false],
  ['x'.repeat(256), false],
  ['ä'.repeat(128), false],
  ['', false],
])('S10: %j is one name: %s', (name, is) => {
  expect(isPathName(name)).toBe(is)
  for (const path of [`/${name}`, `/k/${name}`, `/${name}/k`]) expect(isPlainPath(path)).toBe(is)
  for (const path of [name, `/k/${name}/`]) expect(isPlainPath(path)).toBe(false)
})

import { expect, it } from 'vitest'
import { isWithin } from '../../src/core/linux/paths.ts'

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

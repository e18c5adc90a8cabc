import { expect, it } from 'vitest'
import { tally } from '../../src/core/base/text.ts'

it.each<[readonly string[], readonly string[] | undefined, string]>([
  [[], undefined, ''],
  [['b', 'a', 'b'], undefined, '2 b, 1 a'],
  [['b', 'a', 'b'], ['a', 'b', 'c'], '1 a, 2 b'],
  // A driver of flexVolume may have any name.
  [['constructor', '__proto__', 'constructor'], undefined, '2 constructor, 1 __proto__'],
])('%j in the order of %j: %j', (all, order, text) => expect(tally(all, order)).toBe(text))

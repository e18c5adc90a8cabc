import { expect, it } from 'vitest'
import { compareQuantities, parseQuantity } from '../../src/core/volumes/quantity.ts'

it.each([
  ['0', 0n],
  ['10Gi', 10n * 1024n ** 3n],
  ['1.5Gi', 1536n * 1024n ** 2n],
  ['64Mi', 64n * 1024n ** 2n],
  ['2k', 2000n],
  ['1E', 10n ** 18n],
  ['12Ei', 12n * 1024n ** 6n],
  ['1e3', 1000n],
  ['12e-1', 2n],
  ['100m', 1n],
  ['1500m', 2n],
  ['1n', 1n],
  ['0.1n', 1n],
  ['.5', 1n],
  ['5.', 5n],
  ['-1500m', -1n],
  ['+3', 3n],
])('R319: %s is %s', (text, want) => expect(parseQuantity(text)).toBe(want))

it.each(['', '10 Gi', 'Gi', '1KiB', '1K', '1e', '1e9999', '0x10', '1,5', undefined])('%j is no quantity', (text) => {
  expect(parseQuantity(text)).toBeUndefined()
  expect(compareQuantities(text, '1')).toBeUndefined()
})

it.each([
  ['1Gi', '1G', 1],
  ['1024Mi', '1Gi', 0],
  ['999m', '1', -1],
  ['100m', '1', -1],
])('%s against %s: %i', (a, b, want) => expect(compareQuantities(a, b)).toBe(want))

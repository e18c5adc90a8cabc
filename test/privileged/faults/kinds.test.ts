import { describe, expect, it } from 'vitest'
import { OPERATION_KINDS } from '../../../src/core/plan/plan.ts'
import { isThere } from '../../helpers/titles.ts'
import { KILLED } from './kinds.ts'

const every = Object.entries(KILLED).flatMap(([kind, list]) => list.map((shown) => ({ kind, ...shown })))

describe('kinds of operations, killed at every step', () => {
  it('are all that an apply carries out', () => {
    expect([...Object.keys(KILLED), 'AttachVolume'].toSorted()).toEqual([...OPERATION_KINDS].toSorted())
    expect(Object.values(KILLED).filter((list) => list.length === 0)).toEqual([])
  })

  it.each(every)('$kind: $file has "$title"', (each) => expect(isThere(each)).toBe(true))
})

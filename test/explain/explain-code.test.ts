import { describe, expect, it } from 'vitest'
import { explainCode } from '../../src/core/explain/explain-code.ts'
import { ALL_CODES } from '../../src/core/messages/codes.ts'

describe('a code', () => {
  it.each([
    { code: 'NotBelieved', appears: ['problem', 'outcome', 'refusal', 'error'], rules: ['S32', 'S33'] },
    { code: 'Usage', appears: ['error'], rules: [] },
  ])('$code', ({ code, appears, rules }) => {
    const answer = explainCode(code)
    expect(answer).toMatchObject({ kind: 'Code', code, rules })
    expect(answer?.appears.map((each) => each.in)).toEqual(appears)
  })

  it.each(ALL_CODES)('%s is explained', (code) => {
    const answer = explainCode(code)
    expect(answer?.meaning).not.toBe('')
    expect(answer?.next).not.toBe('')
  })
})

it.each(['driverunavailable', 'DriverUnavailabl', 'toString', ''])('"%s" is none', (word) =>
  expect(explainCode(word)).toBeUndefined(),
)

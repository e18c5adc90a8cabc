import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import schema from '../../schema/code.schema.json' with { type: 'json' }
import { PLACES } from '../../src/core/codes/code-entry.ts'
import { ALL_CODES } from '../../src/core/codes/codes.ts'
import { explainCode } from '../../src/core/explain/explain-code.ts'

const isOfTheSchema = new Ajv2020().compile(schema)

describe('a code', () => {
  it.each([
    { code: 'PodGone', appears: ['reason'], rules: ['S3', 'S9'] },
    { code: 'DriverUnavailable', appears: ['blocked', 'waiting', 'problem'], rules: ['S16', 'P87'] },
    { code: 'NotBelieved', appears: ['problem', 'outcome', 'refusal', 'error'], rules: ['S32', 'S33'] },
    { code: 'KubeletRunning', appears: ['waiting', 'outcome', 'refusal'], rules: ['S11'] },
    { code: 'Usage', appears: ['error'], rules: [] },
  ])('$code', ({ code, appears, rules }) => {
    const answer = explainCode(code)
    expect(answer).toMatchObject({ kind: 'Code', code, rules })
    expect(answer?.appears.map((each) => each.in)).toEqual(appears)
  })

  it.each(ALL_CODES)('%s is explained as the schema says', (code) => {
    const answer = explainCode(code)
    expect(isOfTheSchema(JSON.parse(JSON.stringify(answer)))).toBe(true)
    expect(answer?.meaning).not.toBe('')
    expect(answer?.next).not.toBe('')
  })

  it('the schema has every place', () =>
    expect(schema.properties.appears.items.properties.in.enum).toEqual(Object.keys(PLACES)))
})

it.each([
  'driverNotRegistered',
  'drivernotregistered',
  'DriverUnavailabl',
  'EBUSY',
  'toString',
  'constructor',
  'web-0',
  '',
])('"%s" is none', (word) => expect(explainCode(word)).toBeUndefined())

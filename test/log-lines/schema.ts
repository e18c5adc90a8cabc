/** The schemas of what is said of lines and logs, with which every answer of the tests is compared. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import explanationSchema from '../../schema/explanation.schema.json' with { type: 'json' }
import lineSchema from '../../schema/line-explanation.schema.json' with { type: 'json' }
import logSchema from '../../schema/log-explanation.schema.json' with { type: 'json' }
import planSchema from '../../schema/plan.schema.json' with { type: 'json' }
import sentenceSchema from '../../schema/sentence.schema.json' with { type: 'json' }

const ajv = new Ajv2020({ allErrors: true })
for (const schema of [planSchema, explanationSchema, lineSchema]) ajv.addSchema(closed(schema) as object)
const validators: Readonly<Record<string, ValidateFunction | undefined>> = {
  LineExplanation: ajv.getSchema(lineSchema.$id),
  Sentence: ajv.compile(closed(sentenceSchema) as object),
  LogExplanation: ajv.compile(closed(logSchema) as object),
}

/** The schemas let fields be added; for these tests nothing may be in an answer that they do not describe. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const made = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]))
  return made.type === 'object' && made.properties !== undefined ? { additionalProperties: false, ...made } : made
}

/** @returns nothing where the answer is as its schema says */
export function answerDefects(answer: { readonly kind: string }): unknown {
  const validate = validators[answer.kind]
  if (validate === undefined) return `no schema of ${answer.kind}`
  return validate(JSON.parse(JSON.stringify(answer))) === true ? [] : validate.errors
}

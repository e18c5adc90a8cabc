/** schema/status.schema.json, with which every answer of the tests is compared. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import planSchema from '../../schema/plan.schema.json' with { type: 'json' }
import schema from '../../schema/status.schema.json' with { type: 'json' }

const ajv = new Ajv2020({ allErrors: true })
ajv.addSchema(closed(planSchema) as object)
const validate = ajv.compile(closed(schema) as object)

/** The schema lets fields be added; for these tests nothing may be in an answer that it does not describe. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const made = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]))
  return made.type === 'object' && made.properties !== undefined ? { additionalProperties: false, ...made } : made
}

export function statusDefects(answer: unknown): unknown {
  return validate(JSON.parse(JSON.stringify(answer))) ? [] : validate.errors
}

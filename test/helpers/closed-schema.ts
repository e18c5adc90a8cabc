/** Schemas allow additional fields; for tests they are closed: an answer may contain only fields that they describe. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import explanation from '../../schema/explanation.schema.json' with { type: 'json' }
import plan from '../../schema/plan.schema.json' with { type: 'json' }
import status from '../../schema/status.schema.json' with { type: 'json' }

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const made = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, closed(inner)]))
  return made.type === 'object' && made.properties !== undefined ? { additionalProperties: false, ...made } : made
}

/** What is wrong with an answer; empty: nothing. @param others schemas that this one refers to */
export function schemaCheck(schema: object, ...others: readonly object[]): (answer: unknown) => readonly object[] {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true })
  for (const other of others) ajv.addSchema(closed(other) as object)
  const validate = ajv.compile(closed(schema) as object)
  return (answer) => (validate(JSON.parse(JSON.stringify(answer))) ? [] : (validate.errors ?? []))
}

/** With these every answer of the tests is compared. */
export const explanationDefects = schemaCheck(explanation, plan)
export const statusDefects = schemaCheck(status, plan)

/** The schemas of what is said of lines and logs, with which every answer of the tests is compared. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import clusterSchema from '../../schema/cluster-explanation.schema.json' with { type: 'json' }
import clusterPlanSchema from '../../schema/cluster-plan.schema.json' with { type: 'json' }
import explanationSchema from '../../schema/explanation.schema.json' with { type: 'json' }
import lineSchema from '../../schema/line-explanation.schema.json' with { type: 'json' }
import logSchema from '../../schema/log-explanation.schema.json' with { type: 'json' }
import planSchema from '../../schema/plan.schema.json' with { type: 'json' }
import sentenceSchema from '../../schema/sentence.schema.json' with { type: 'json' }
import { closed } from '../helpers/closed-schema.ts'

const ajv = new Ajv2020({ allErrors: true })
for (const schema of [planSchema, clusterPlanSchema, explanationSchema, clusterSchema, lineSchema])
  ajv.addSchema(closed(schema) as object)
const validators: Readonly<Record<string, ValidateFunction | undefined>> = {
  LineExplanation: ajv.getSchema(lineSchema.$id),
  Sentence: ajv.compile(closed(sentenceSchema) as object),
  LogExplanation: ajv.compile(closed(logSchema) as object),
}

/** @returns nothing where the answer is as its schema says */
export function answerDefects(answer: { readonly kind: string }): unknown {
  const validate = validators[answer.kind]
  if (validate === undefined) return `no schema of ${answer.kind}`
  return validate(JSON.parse(JSON.stringify(answer))) === true ? [] : validate.errors
}

/** The schemas of what is said of lines and logs, with which every answer of the tests is compared. */
import clusterSchema from '../../schema/cluster-explanation.schema.json' with { type: 'json' }
import clusterPlanSchema from '../../schema/cluster-plan.schema.json' with { type: 'json' }
import explanationSchema from '../../schema/explanation.schema.json' with { type: 'json' }
import lineSchema from '../../schema/line-explanation.schema.json' with { type: 'json' }
import logSchema from '../../schema/log-explanation.schema.json' with { type: 'json' }
import planSchema from '../../schema/plan.schema.json' with { type: 'json' }
import sentenceSchema from '../../schema/sentence.schema.json' with { type: 'json' }
import { schemaCheck } from '../helpers/closed-schema.ts'

const EMBEDDED = [planSchema, clusterPlanSchema, explanationSchema, clusterSchema]
const CHECKS: Readonly<Record<string, ReturnType<typeof schemaCheck> | undefined>> = {
  LineExplanation: schemaCheck(lineSchema, ...EMBEDDED),
  Sentence: schemaCheck(sentenceSchema, planSchema),
  LogExplanation: schemaCheck(logSchema, ...EMBEDDED, lineSchema),
}

/** @returns nothing where the answer is as its schema says */
export function answerDefects(answer: { readonly kind: string }): unknown {
  const check = CHECKS[answer.kind]
  return check === undefined ? `no schema of ${answer.kind}` : check(answer)
}

/** schema/cluster-explanation.schema.json, with which every answer of the tests is compared. */
import schema from '../../../schema/cluster-explanation.schema.json' with { type: 'json' }
import clusterPlanSchema from '../../../schema/cluster-plan.schema.json' with { type: 'json' }
import nodeSchema from '../../../schema/explanation.schema.json' with { type: 'json' }
import planSchema from '../../../schema/plan.schema.json' with { type: 'json' }
import { schemaCheck } from '../../helpers/closed-schema.ts'

export const explanationDefects = schemaCheck(schema, clusterPlanSchema, nodeSchema, planSchema)

/** schema/status.schema.json, with which every answer of the tests is compared. */
import planSchema from '../../schema/plan.schema.json' with { type: 'json' }
import schema from '../../schema/status.schema.json' with { type: 'json' }
import { schemaCheck } from '../helpers/closed-schema.ts'

export const statusDefects = schemaCheck(schema, planSchema)

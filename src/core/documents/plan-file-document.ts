/** All of a plan file, as others are told. `apply FILE` reads only a part of it (plan-shape.ts). */
import { about, named } from '../json/json-schema.ts'
import { object } from '../json/shape.ts'
import type { Plan, PlanOptions } from '../plan/plan.ts'
import { options } from '../plan/plan-shape.ts'
import { WHOLE_PLAN } from '../plan/whole-plan.ts'
import { STABLE } from './stable.ts'

export interface PlanFile extends Plan {
  readonly options: PlanOptions
}

export const planFile = about(
  `A plan and the options that it was made with: \`volctl plan --out FILE\`. ${STABLE}`,
  object<PlanFile>({ ...WHOLE_PLAN, options: named('options', options) }),
)

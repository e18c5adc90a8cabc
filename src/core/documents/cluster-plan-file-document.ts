/** All of a cluster's plan file, as others are told. `apply --cluster FILE` reads only a part of it. */
import { about, named } from '../json/json-schema.ts'
import { object } from '../json/shape.ts'
import type { ClusterOptions, ClusterPlan } from '../plan/cluster-plan.ts'
import { clusterOptionsShape, WHOLE_CLUSTER_PLAN } from '../plan/cluster-plan-shape.ts'
import { STABLE } from './stable.ts'

export interface ClusterPlanFile extends ClusterPlan {
  readonly options: ClusterOptions
}

export const clusterPlanFile = about(
  `A cluster's plan and the options that it was made with: \`volctl plan --cluster --out FILE\`. ${STABLE}`,
  object<ClusterPlanFile>({ ...WHOLE_CLUSTER_PLAN, options: named('options', clusterOptionsShape) }),
)

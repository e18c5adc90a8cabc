/** Every document that volctl writes and that a shape describes. The JSON Schemas in schema/ are made of them. */
import { about, named } from '../json/json-schema.ts'
import { object, type Shape } from '../json/shape.ts'
import { snapshotShape } from '../model/snapshot.ts'
import { clusterOptionsShape, WHOLE_CLUSTER_PLAN, wholeClusterPlan } from '../plan/cluster-plan.ts'
import { clusterStatusShape } from '../plan/cluster-status.ts'
import { options } from '../plan/plan-shape.ts'
import { WHOLE_PLAN, wholePlan } from '../plan/whole-plan.ts'
import { applyDocument, applyEvent, clusterApplyDocument } from './apply-documents.ts'
import { errorDocument } from './error-document.ts'
import { journalDocument } from './journal-document.ts'
import { STABLE } from './stable.ts'

export interface DocumentShape {
  /** Of schema/FILE.schema.json. */
  readonly file: string
  readonly title: string
  readonly shape: Shape<unknown>
}

/** All of a plan file. `apply FILE` reads only a part of it. */
const planFile = about(
  `A plan and the options that it was made with: \`volctl plan --out FILE\`. ${STABLE}`,
  object({ ...WHOLE_PLAN, options: named('options', options) }),
)

const clusterPlanFile = about(
  `A cluster's plan and the options that it was made with: \`volctl plan --cluster --out FILE\`. ${STABLE}`,
  object({ ...WHOLE_CLUSTER_PLAN, options: named('options', clusterOptionsShape) }),
)

const clusterStatus = about(
  `Each volume on each node, as the attach/detach controller knows it: \`volctl status --cluster -o json\`. ${STABLE}`,
  clusterStatusShape,
)

export const DOCUMENTS: readonly DocumentShape[] = [
  { file: 'plan', title: 'Plan', shape: wholePlan },
  { file: 'plan-file', title: 'Plan file', shape: planFile },
  { file: 'cluster-plan', title: 'Plan of a cluster', shape: wholeClusterPlan },
  { file: 'cluster-plan-file', title: 'Plan file of a cluster', shape: clusterPlanFile },
  { file: 'cluster-status', title: 'Status of a cluster', shape: clusterStatus },
  { file: 'apply-result', title: 'ApplyResult', shape: applyDocument },
  { file: 'cluster-apply-result', title: 'ApplyResult of a cluster', shape: clusterApplyDocument },
  { file: 'apply-event', title: 'Event of an apply', shape: applyEvent },
  { file: 'journal', title: 'Journal', shape: journalDocument },
  { file: 'node-snapshot', title: 'NodeSnapshot', shape: snapshotShape },
  { file: 'error', title: 'Error', shape: errorDocument },
]

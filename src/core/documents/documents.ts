/** Every document that volctl writes and that a shape describes. The JSON Schemas in schema/ are made of them. */
import { checkShape } from '../check/check-node.ts'
import { codeShape } from '../explain/explain-code.ts'
import { ruleShape } from '../explain/explain-rule.ts'
import { explanationShape } from '../explain/explanation.ts'
import { about, named } from '../json/json-schema.ts'
import { object, type Shape } from '../json/shape.ts'
import { snapshotShape } from '../model/snapshot.ts'
import { clusterOptionsShape, WHOLE_CLUSTER_PLAN, wholeClusterPlan } from '../plan/cluster-plan.ts'
import { options } from '../plan/plan-shape.ts'
import { WHOLE_PLAN, wholePlan } from '../plan/whole-plan.ts'
import { statusShape } from '../status/status.ts'
import { applyDocument, applyEvent, clusterApplyDocument } from './apply-documents.ts'
import { errorDocument } from './error-document.ts'
import { STABLE } from './stable.ts'
import { versionShape } from './version-document.ts'

export interface DocumentShape {
  /** Of schema/FILE.schema.json. */
  readonly file: string
  readonly title: string
  readonly shape: Shape<unknown>
}

/** @param words what it is, and what prints it */
function stable(words: string, shape: Shape<unknown>): Shape<unknown> {
  return about(`${words} ${STABLE}`, shape)
}

/** All of a plan file. `apply FILE` reads only a part of it. */
const planFile = stable(
  'A plan and the options that it was made with: `volctl plan --out FILE`.',
  object({ ...WHOLE_PLAN, options: named('options', options) }),
)

const clusterPlanFile = stable(
  "A cluster's plan and the options that it was made with: `volctl plan --cluster --out FILE`.",
  object({ ...WHOLE_CLUSTER_PLAN, options: named('options', clusterOptionsShape) }),
)

const status = stable(
  "Every volume of a node as the kubelet's volume manager knows it, with a verdict: `volctl status -o json`.",
  statusShape,
)

const explanation = stable(
  'One thing of a node, and why it is as it is: `volctl explain WHAT -o json`.',
  explanationShape,
)
const check = stable('A node as a monitor sees it: `volctl check -o json`.', checkShape)
const code = stable('What one code means, and what to do about it: `volctl explain CODE -o json`.', codeShape)
const rule = stable('What a rule says: `volctl explain S11 -o json`.', ruleShape)
const version = stable('The answer of `volctl version -o json`.', versionShape)

export const DOCUMENTS: readonly DocumentShape[] = [
  { file: 'plan', title: 'Plan', shape: wholePlan },
  { file: 'plan-file', title: 'Plan file', shape: planFile },
  { file: 'cluster-plan', title: 'Plan of a cluster', shape: wholeClusterPlan },
  { file: 'cluster-plan-file', title: 'Plan file of a cluster', shape: clusterPlanFile },
  { file: 'status', title: 'Status', shape: status },
  { file: 'apply-result', title: 'ApplyResult', shape: applyDocument },
  { file: 'cluster-apply-result', title: 'ApplyResult of a cluster', shape: clusterApplyDocument },
  { file: 'apply-event', title: 'Event of an apply', shape: applyEvent },
  { file: 'node-snapshot', title: 'NodeSnapshot', shape: snapshotShape },
  { file: 'error', title: 'Error', shape: errorDocument },
  { file: 'explanation', title: 'Explanation', shape: explanation },
  { file: 'check', title: 'Check', shape: check },
  { file: 'code', title: 'Code', shape: code },
  { file: 'rule', title: 'Rule', shape: rule },
  { file: 'version', title: 'Version', shape: version },
]

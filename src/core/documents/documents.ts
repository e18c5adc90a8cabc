/** The documents that scripts read, whose JSON Schemas are in schema/. */
import { checkShape } from '../check/check-node.ts'
import { explanationShape } from '../explain/explanation.ts'
import { about } from '../json/json-schema.ts'
import type { Shape } from '../json/shape.ts'
import { snapshotShape } from '../model/snapshot.ts'
import { wholePlan } from '../plan/whole-plan.ts'
import { statusShape } from '../status/status.ts'
import { applyDocument } from './apply-document.ts'
import { errorDocument } from './error-document.ts'
import { STABLE } from './stable.ts'

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

const status = stable(
  "Every volume of a node as the kubelet's volume manager knows it, with a verdict: `volctl status -o json`.",
  statusShape,
)
const explanation = stable(
  'One thing of a node, and why it is as it is: `volctl explain WHAT -o json`.',
  explanationShape,
)
const check = stable('A node as a monitor sees it: `volctl check -o json`.', checkShape)

export const DOCUMENTS: readonly DocumentShape[] = [
  { file: 'plan', title: 'Plan', shape: wholePlan },
  { file: 'status', title: 'Status', shape: status },
  { file: 'apply-result', title: 'ApplyResult', shape: applyDocument },
  { file: 'node-snapshot', title: 'NodeSnapshot', shape: snapshotShape },
  { file: 'error', title: 'Error', shape: errorDocument },
  { file: 'explanation', title: 'Explanation', shape: explanation },
  { file: 'check', title: 'Check', shape: check },
]

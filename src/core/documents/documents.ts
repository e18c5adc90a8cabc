/** Every document that volctl writes and that a shape describes. The JSON Schemas in schema/ are made of them. */
import type { Shape } from '../json/shape.ts'
import { snapshotShape } from '../model/snapshot.ts'
import { wholeClusterPlan } from '../plan/cluster-plan-shape.ts'
import { wholePlan } from '../plan/whole-plan.ts'
import { applyDocument, applyEvent, clusterApplyDocument } from './apply-documents.ts'
import { clusterPlanFile } from './cluster-plan-file-document.ts'
import { clusterStatusDocument } from './cluster-status-document.ts'
import { errorDocument } from './error-document.ts'
import { journalDocument } from './journal-document.ts'
import { planFile } from './plan-file-document.ts'

export interface DocumentShape {
  /** Of schema/FILE.schema.json. */
  readonly file: string
  readonly title: string
  readonly shape: Shape<unknown>
}

export const DOCUMENTS: readonly DocumentShape[] = [
  { file: 'plan', title: 'Plan', shape: wholePlan },
  { file: 'plan-file', title: 'Plan file', shape: planFile },
  { file: 'cluster-plan', title: 'Plan of a cluster', shape: wholeClusterPlan },
  { file: 'cluster-plan-file', title: 'Plan file of a cluster', shape: clusterPlanFile },
  { file: 'cluster-status', title: 'Status of a cluster', shape: clusterStatusDocument },
  { file: 'apply-result', title: 'ApplyResult', shape: applyDocument },
  { file: 'cluster-apply-result', title: 'ApplyResult of a cluster', shape: clusterApplyDocument },
  { file: 'apply-event', title: 'Event of an apply', shape: applyEvent },
  { file: 'journal', title: 'Journal', shape: journalDocument },
  { file: 'node-snapshot', title: 'NodeSnapshot', shape: snapshotShape },
  { file: 'error', title: 'Error', shape: errorDocument },
]

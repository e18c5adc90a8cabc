/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)").
 * Fields are stable once released; new ones may come.
 */

import type { FreedBy } from './plan-shape.ts'

export {
  OPERATION_GROUPS,
  OPERATION_KINDS,
  type OperationKind,
  type Step,
  type StepOf,
  type StepOp,
} from './kinds.ts'
export type {
  Basis,
  Blocked,
  ExpectedMount,
  FileIdentity,
  Operation,
  PodRef,
  Severity,
  VolumeRef,
} from './operation-shape.ts'
export type {
  FreedBy,
  IdentityContradiction,
  IdentityField,
  NextStep,
  Plan,
  PlanInputs,
  PlanOptions,
  PlanSummary,
  Problem,
  Refusal,
  ReviewedPlan,
  Waiting,
} from './plan-shape.ts'

/** Flags that a person gives for work that is done only on request. */
export type LiftingFlag = FreedBy['flag']

export const DEFAULT_SETTLE_MS = 120_000

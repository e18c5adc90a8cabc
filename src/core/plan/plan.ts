/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)").
 * Fields are stable once released; new ones may come.
 */

import type { FreedBy } from './whole-plan.ts'

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
export type { IdentityContradiction, IdentityField, PlanOptions, Refusal, ReviewedPlan } from './plan-shape.ts'
export type { FreedBy, NextStep, Plan, PlanInputs, PlanSummary, Problem, Waiting } from './whole-plan.ts'

/** Flags that a person gives for work that is done only on request. */
export type LiftingFlag = FreedBy['flag']

export const DEFAULT_SETTLE_MS = 120_000

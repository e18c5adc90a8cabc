/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)").
 * Fields are stable once released; new ones may come.
 */

import type { ProblemCode, WaitingCode } from '../codes/codes.ts'
import type { Insecure } from '../model/snapshot.ts'
import type { Cause } from './cause.ts'
import type { OperationKind } from './kinds.ts'
import type { Operation, VolumeRef } from './operation-shape.ts'
import type { IdentityContradiction, Refusal } from './plan-shape.ts'
import type { PodRef, Severity } from './pod-ref.ts'
import type { Subject } from './subject.ts'

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
  VolumeRef,
} from './operation-shape.ts'
export type { IdentityContradiction, IdentityField, PlanOptions, Refusal, ReviewedPlan } from './plan-shape.ts'
export type { PodRef, Severity }

/** Something desired that somebody else must act on first. */
export interface Waiting {
  readonly kind: OperationKind
  readonly code: WaitingCode
  readonly message: string
  readonly hint?: string
  readonly pod?: PodRef
  readonly volume?: VolumeRef
  readonly subject?: Subject
  readonly rule: string
  /** RFC 3339: when the wait ends at the latest, if known. */
  readonly until?: string
  /** Key of its cause in `summary.causes`. */
  readonly cause?: string
}

export interface Problem {
  readonly severity: Severity
  readonly code: ProblemCode
  readonly message: string
  readonly hint?: string
  /** `driver`: the entry concerns all volumes of that CSI driver. `podRef`: the pod with its name, if that is known. */
  readonly about: {
    readonly pod?: string
    readonly podRef?: PodRef
    readonly volume?: string
    readonly path?: string
    readonly driver?: string
  }
  readonly subject?: Subject
  /** Key of its cause in `summary.causes`. */
  readonly cause?: string
}

export interface PlanInputs {
  readonly api: {
    readonly server: string
    readonly user?: string
    readonly resourceVersion?: string
    /** S34: why anyone on the network path could answer in the server's place. */
    readonly insecure?: Insecure
    /** The same for the second look, with the kubelet's own credential (S2). */
    readonly secondLookInsecure?: Insecure
  }
  readonly kubelet: {
    readonly state: 'running' | 'mayReturn' | 'stopped' | 'unknown'
    readonly note?: string
    /** The systemd unit that runs the kubelet, or would start it. */
    readonly unit?: string
    /** Of the kubelet that runs. */
    readonly pid?: number
  }
  readonly actual: { readonly mounts: number; readonly podDirs: number }
  readonly runtime: { readonly source: string; readonly pods: number }
  /** S1: whether the Node object describes this host. */
  readonly machine: {
    /** An id agrees, and what contradicts was accepted. */
    readonly matches: boolean
    readonly contradictions?: readonly IdentityContradiction[]
    readonly machineID?: string
    readonly systemUUID?: string
    readonly bootID?: string
  }
  /** S29: how many of this node's pods are orphaned. */
  readonly pods: { readonly listed: number; readonly onDisk: number; readonly gone: number }
  /** S31: safety rules that this plan could not judge. */
  readonly unjudged: readonly { readonly rule: string; readonly message: string }[]
}

export interface PlanSummary {
  readonly operations: Readonly<Partial<Record<OperationKind, number>>>
  readonly blocked: number
  readonly waiting: number
  readonly problems: number
  /** Left out by --only, --skip, --pod, --volume or --max: operations, dependants included, waits and problems. */
  readonly filtered: number
  /** Operations that are not blocked, and whose predecessors are not blocked. */
  readonly ready?: number
  /** How many more operations would be ready with one more flag. */
  readonly freedBy?: readonly FreedBy[]
  /** Why things are blocked, wait or are wrong: those that stop most first. */
  readonly causes?: readonly Cause[]
  /** What to type on this node, in this order. */
  readonly next?: readonly NextStep[]
}

/** Flags that a person gives for work that is done only on request. */
export type LiftingFlag = '--orphans' | '--remount' | '--expand'

export interface FreedBy {
  readonly flag: LiftingFlag
  readonly operations: number
}

/** A command line, and its purpose. */
export interface NextStep {
  /** What a person does before it, in words: "end that use". */
  readonly first?: string
  readonly command: string
  readonly why: string
  /** The node to type it on; absent: here. */
  readonly node?: string
}

export interface Plan {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Plan'
  readonly scope: 'node' | 'cluster'
  readonly node: string
  readonly rootDir: string
  readonly bootID?: string
  readonly createdAt: string
  readonly volctlVersion: string
  readonly inputs: PlanInputs
  readonly operations: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  readonly summary: PlanSummary
  /** false: something that may matter could not be known; `problems` says what. */
  readonly complete: boolean
  /** Set when a safety rule refuses the plan as a whole (exit status 4); its operations are blocked. */
  readonly refused?: Refusal
}

export const DEFAULT_SETTLE_MS = 120_000

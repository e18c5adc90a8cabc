/**
 * What the kubelet's volume manager would answer about each volume of a node, with a verdict: data, drawn by a view
 * (contract, `volctl status`). Fields are stable once released; new ones may come.
 */
import type { Code } from '../codes/codes.ts'
import type { AttachmentView } from '../explain/explanation.ts'
import type { Cause } from '../plan/cause.ts'
import type { NextStep, Plan, PlanInputs, PodRef, Problem, VolumeRef } from '../plan/plan.ts'

/**
 * wanted: a pod that is meant to run has the volume, and a container uses it. unused: in the pod's spec, but no container uses it, so
 * that the kubelet ignores the volume while the attach/detach controller attaches it (R105, R708). unresolved: wanted, but the claim or
 * PersistentVolume could not be resolved (S4). ended: of a pod in the API that has ended. unknown: of no pod as far as could be read,
 * and not everything could be (S3). notWanted: no pod in the API has it.
 */
export const DESIRES = ['wanted', 'unused', 'unresolved', 'ended', 'unknown', 'notWanted'] as const
export type Desire = (typeof DESIRES)[number]

/** The kubelet's VolumeMountState (R314). */
export type VolumeMountState = 'VolumeMounted' | 'VolumeMountUncertain' | 'VolumeNotMounted'

/** The kubelet's DeviceMountState (R314). */
export type DeviceMountState = 'DeviceGloballyMounted' | 'DeviceMountUncertain' | 'DeviceNotMounted'

/** What the plan says, the worst first: rows are sorted in this order. */
export const VERDICT_STATES = [
  'error',
  'blocked',
  'unknown',
  'waiting',
  'operation',
  'notAsked',
  'warning',
  'kept',
  'good',
] as const

/**
 * error, warning: the plan reports a problem. blocked: something has to be done, and an obstacle stands in the way. notAsked: the same,
 * and the obstacle is only a flag that was not given. waiting: somebody else acts first. operation: volctl would act. unknown: it
 * could not be judged. kept: the pod is left alone, because it ends or may still run. good: as it should be.
 */
export type VerdictState = (typeof VERDICT_STATES)[number]

export interface RowVerdict {
  readonly state: VerdictState
  /** Of the problem, obstacle or wait; of an operation its reason. */
  readonly code?: Code
  readonly message: string
  readonly hint?: string
  readonly rule?: string
  /** Codes of what else the plan says about it, less bad than `code`. */
  readonly also: readonly Code[]
}

export interface AttachState {
  /** Does the volume have to be attached (R011); unknown: the CSIDriver could not be read (R816). */
  readonly needed: 'attachable' | 'notAttachable' | 'unknown'
  /** R814: status and VolumeAttachment agree that it is attached here. The kubelet's VolumeIsAttached. */
  readonly attached: boolean
  /** node.status.volumesAttached lists it. */
  readonly nodeStatus: boolean
  /** Of this node. */
  readonly attachment?: AttachmentView
  /** Other nodes that have it attached. */
  readonly elsewhere: readonly string[]
}

/** One volume of one pod; or, without a pod, what of a volume is staged, mapped or attached on the node. */
export interface StatusRow {
  readonly pod?: PodRef
  readonly volume: VolumeRef
  /** pod.spec.volumes[].name: several, where the pod has one volume under several names (R004). */
  readonly podVolumeNames: readonly string[]
  readonly desired: Desire
  /** Absent: nothing of the volume is ever attached. */
  readonly attach?: AttachState
  /** R330. Computed: what the kubelet's GetVolumesInUse would return; reported: node.status.volumesInUse lists it. */
  readonly inUse?: { readonly computed: boolean; readonly reported: boolean }
  /** Absent: the volume has no mount or map of the node's own. */
  readonly staged?: DeviceMountState
  /** Absent on a row without a pod. */
  readonly mounted?: VolumeMountState
  /** The kubelet mounts nothing for such a volume: hostPath, image. */
  readonly mountsNothing?: true
  /** What a probe of a mount of it answered, where that is dead. */
  readonly dead?: string
  /** What the volume waits for though it is mounted: other content (R320), or a larger file system (R319). */
  readonly due: readonly ('remount' | 'expand')[]
  readonly verdict: RowVerdict
  /** Ids in the plan. */
  readonly operations: readonly string[]
  /** Keys of `causes` of the status, the worst first. */
  readonly causes: readonly string[]
}

export interface Status {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Status'
  readonly node: string
  readonly rootDir: string
  readonly bootID?: string
  /** RFC 3339: when the node was looked at. */
  readonly createdAt: string
  readonly volctlVersion: string
  readonly kubelet: PlanInputs['kubelet']
  /** Worst first. */
  readonly rows: readonly StatusRow[]
  /** What the plan reports that is about none of these volumes. */
  readonly problems: readonly Problem[]
  readonly summary: {
    readonly volumes: number
    readonly verdicts: Readonly<Partial<Record<VerdictState, number>>>
    /** Orphaned pods of which something is left on the node. */
    readonly orphanedPods: number
    /** Rows left out by names of pods, namespaces and volumes. */
    readonly filtered: number
  }
  /** false: something that may matter could not be known. */
  readonly complete: boolean
  /** Of these rows and problems, as in the plan. */
  readonly causes?: readonly Cause[]
  /** What to type on this node, as in the plan; absent: nothing is left to do. */
  readonly next?: readonly NextStep[]
  readonly refused?: NonNullable<Plan['refused']>
}

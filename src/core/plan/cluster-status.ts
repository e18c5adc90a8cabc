/** The status of a cluster as data: each volume on each node, with the verdict of the plan. */

import type { BlockCode, ProblemCode, Reason, WaitingCode } from '../codes/codes.ts'
import type { ClusterPlan, ClusterVolumeRef, ControllerState, FleetRow, PlanFleet } from './cluster-plan.ts'
import type { PodRef } from './plan.ts'

/** The worst first: rows are sorted in this order. */
export const CLUSTER_VERDICTS = ['error', 'blocked', 'unknown', 'waiting', 'operation', 'warning', 'good'] as const
export type ClusterVerdictState = (typeof CLUSTER_VERDICTS)[number]

export interface ClusterVerdict {
  readonly state: ClusterVerdictState
  /** Of the problem, obstacle or wait; of an operation its reason. */
  readonly code?: Reason | BlockCode | WaitingCode | ProblemCode
  readonly message: string
  readonly hint?: string
  readonly rule?: string
}

/** A volume on a node: wanted there, attached, or reported by the Node. */
export interface ClusterStatusRow {
  readonly node: string
  readonly volume: ClusterVolumeRef
  /**
   * wanted: it is to be attached for `pods`. held: `pods` have it, and are no reason to attach it. ended: of pods that have ended.
   * notWanted: no pod of the node is known to have it.
   */
  readonly desired: 'wanted' | 'held' | 'ended' | 'notWanted'
  readonly pods: readonly PodRef[]
  /** VolumeAttachments: normally one at most. */
  readonly attachments: readonly { readonly name: string; readonly attached: boolean; readonly deleting: boolean }[]
  /** R714: volumesAttached of the Node lists it. */
  readonly confirmed: boolean
  /** R716: volumesInUse of the Node lists it. */
  readonly inUse: boolean
  /** With --nodes: what the snapshot of the node shows of it. */
  readonly onNode?: OnNode
  readonly verdict: ClusterVerdict
}

/** `found` is absent where the node has no snapshot. */
export type OnNode = Pick<FleetRow, 'says' | 'found'>

/** What snapshots of nodes (--nodes) add: how many there are, and what they say of the rows. */
export interface StatusFleet extends Pick<PlanFleet, 'nodes' | 'without' | 'unusable'> {
  /** Rows by what the snapshot of their node says. */
  readonly says: Readonly<Partial<Record<FleetRow['says'], number>>>
  /** Volumes on nodes where the snapshot, the API and the pods do not agree; those left out by names as well. */
  readonly disagreements: number
}

export interface ClusterStatus {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Status'
  readonly scope: 'cluster'
  readonly cluster: ClusterPlan['cluster']
  readonly createdAt: string
  readonly volctlVersion: string
  readonly controller: ControllerState
  /** Worst first. */
  readonly rows: readonly ClusterStatusRow[]
  readonly summary: {
    readonly volumes: number
    readonly verdicts: Readonly<Partial<Record<ClusterVerdictState, number>>>
    /** Rows left out by names of nodes, pods, namespaces and volumes. */
    readonly filtered: number
    /** Everything that the plan reports, of these volumes or of others. */
    readonly problems: number
  }
  /** false: something that may matter could not be known. */
  readonly complete: boolean
  /** Absent: no snapshots of nodes were given. */
  readonly fleet?: StatusFleet
  readonly refused?: NonNullable<ClusterPlan['refused']>
}

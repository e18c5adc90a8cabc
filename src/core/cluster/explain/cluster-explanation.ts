/**
 * All that is known about one object of a cluster: data, drawn by a view. The same manner as an explanation of a node's things; what
 * only a node shows (mounts, directories, who holds them) is left out. Fields are stable once released; new ones may come.
 */

import type { Advice, Fact, Link, SubjectKind, Verdict } from '../../explain/explanation.ts'
import type {
  ClusterOperation,
  ClusterPlan,
  ClusterProblem,
  ClusterVolumeRef,
  ClusterWaiting,
  ControllerState,
  FleetRow,
} from '../../plan/cluster-plan.ts'

/** Devices, mounts and paths are a node's alone. */
export type ClusterSubjectKind = Exclude<SubjectKind, 'Device' | 'Mount' | 'Path'>

export const CLUSTER_LINK_KINDS = [
  'Pod',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeAttachment',
  'Node',
  'Driver',
] as const

/** One link of the chain from a pod to who attaches its volume. */
export interface ClusterLink {
  readonly kind: (typeof CLUSTER_LINK_KINDS)[number]
  /** Empty: there is no such object. */
  readonly name: string
  readonly state: Link['state']
  /** Why. */
  readonly says: string
}

/** What the attach/detach controller's pass makes of a volume on a node. */
export interface ClusterDecision {
  readonly why: string
  readonly rule: string
}

/** A volume on a node: who wants it there, and what stands between. */
export interface ClusterChain {
  /** Absent: of pods without a node, or attached nowhere. */
  readonly node?: string
  /** Absent: it is not known which volume it is. */
  readonly volume?: ClusterVolumeRef
  readonly links: readonly ClusterLink[]
  readonly decision: ClusterDecision
  readonly verdict: Verdict
}

export interface ClusterExplanation {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Explanation'
  readonly scope: 'cluster'
  /** As it was asked. */
  readonly what: string
  readonly cluster: ClusterPlan['cluster']
  /** RFC 3339: when the reading of the cluster began. */
  readonly createdAt: string
  readonly volctlVersion: string
  /** Who else acts. */
  readonly controller: ControllerState
  readonly subject: { readonly kind: ClusterSubjectKind; readonly name: string }
  readonly identity: readonly Fact[]
  /** The worst first. */
  readonly chains: readonly ClusterChain[]
  readonly verdict: Verdict
  /** Those that concern it, and what has to come before them, in the order of the plan. */
  readonly operations: readonly ClusterOperation[]
  readonly waiting: readonly ClusterWaiting[]
  readonly problems: readonly ClusterProblem[]
  readonly advice: readonly Advice[]
  /** What snapshots of nodes (--nodes) show of its volumes; absent: none were given. */
  readonly fleet?: readonly FleetRow[]
  /** false: something that may matter could not be known. */
  readonly complete: boolean
  /** A safety rule refuses the plan as a whole (exit status 4). */
  readonly refused?: NonNullable<ClusterPlan['refused']>
}

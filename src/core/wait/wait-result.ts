/** The answer of `volctl wait`, as data. */
import type { PodRef } from '../plan/plan.ts'

export const WAIT_CONDITIONS = ['mounted', 'unmounted', 'detached', 'in-sync'] as const
export type WaitCondition = (typeof WAIT_CONDITIONS)[number]

/** One pod, volume or node that is waited for, at one look. Volumes go by the names that the pod gives them. */
export interface WaitedTarget {
  /** `pod/shop/web-0`, `pvc/shop/data`, `node/worker-1`: what `volctl explain` takes, but for the node. */
  readonly name: string
  readonly pod?: PodRef
  /** Unique name of the volume, if it is known. */
  readonly volume?: string
  /** `impossible`: the condition cannot be reached any more. */
  readonly state: 'reached' | 'pending' | 'impossible'
  /** What holds, or what is missing, in the kubelet's words where it has some. */
  readonly message: string
  /** Of what is missing, the first reason that is known. */
  readonly why?: string
  /** `mounted`: volumes that containers use and that are not mounted. */
  readonly unmounted?: readonly string[]
  /** `mounted`: of these, volumes that are not attached to this node. */
  readonly unattached?: readonly string[]
  /** `mounted`: of these, volumes whose claim or PersistentVolume cannot be used. */
  readonly failedToProcess?: readonly string[]
  /** `unmounted`: volumes that are mounted or set up. */
  readonly mounted?: readonly string[]
  /** `detached`: volumes that are attached, or for which that is not known. */
  readonly attached?: readonly string[]
}

export type WaitOutcome = 'reached' | 'timedOut' | 'impossible' | 'interrupted'

export interface WaitResult {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Wait'
  readonly node: string
  readonly for: WaitCondition
  readonly outcome: WaitOutcome
  readonly waitedMs: number
  readonly timeoutMs: number
  /** How often the API server was asked, and how often the node's mount table and directories were read. */
  readonly looks: { readonly api: number; readonly node: number }
  readonly targets: readonly WaitedTarget[]
  /** Why the last look failed; absent: it did not. */
  readonly problem?: string
}

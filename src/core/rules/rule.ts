/** A reason not to carry out an operation, and the facts that it is judged by. */

import type { Identified } from '../facts/row.ts'
import type { VolumeAttachment } from '../kube/api/objects.ts'
import type { MountInfo } from '../linux/mount-table.ts'
import type { Draft } from '../plan/draft.ts'
import type { OperationKind } from '../plan/plan.ts'
import type { UnresolvedVolume, VolumeToMount } from '../volumes/desired-state.ts'
import type { Obstacle } from '../volumes/finding.ts'
import type { TreeEntry } from '../volumes/snapshot.ts'
import type { PlanContext, Stack } from './context.ts'
import type { DriverCall } from './driver-call.ts'
import type { MachineFacts, Verdict } from './machine-facts.ts'

export type Rule = { readonly id: string; readonly about: ReadonlySet<OperationKind> } & (
  | { readonly asked?: undefined; readonly judge: Judge }
  | { readonly asked: readonly When[]; readonly judge: MachineJudge }
)

/**
 * When a rule is judged on the machine; absent: by the pass, on what the look has read.
 * - `plan`: by a live plan. Where that is all, the step itself shows it at apply, and changes nothing where it does not hold.
 * - `apply`: right before the operation. Where that is all, the look that a plan is made of has just shown it, or a person has just
 *   asked for it.
 * - `again`: once more where judging the others took long (S26).
 * - `force`: once more right before each forced or lazy umount.
 * - `call`: right before each call of a driver that sets the volume up.
 * - `device`: right before a device is mounted or mapped, while no other operation of this apply is on it.
 * - `mount`: right before mount(8), or before a driver publishes: an earlier step may have made the place.
 * - `release`: right before each change to a LUN or its session: which LUN it is, the mount hides until then.
 * - `delete`: then once more, right before a disk is deleted: its flush may have taken minutes, and its map is gone by now.
 */
export type When = 'plan' | 'apply' | 'again' | 'force' | 'call' | 'device' | 'mount' | 'release' | 'delete'

export type MachineJudge = (facts: MachineFacts) => Verdict | undefined | Promise<Verdict | undefined>

/** Of an operation that is not yet judged. */
export type Judge = (
  facts: Facts & { readonly operation: Draft; readonly context: PlanContext },
) => Obstacle | undefined

/** What a phase has found out for an operation, beside the operation itself. What is absent holds nothing back. */
export interface Facts {
  /** Mounts that are to be removed. */
  readonly mounts?: readonly Stack[]
  /** File systems that may be mounted there; absent: any. */
  readonly allowed?: readonly string[]
  /** Mounts in its directories that are not its own. */
  readonly foreign?: readonly MountInfo[]
  readonly subPaths?: Pick<Facts, 'mounts' | 'foreign'>
  /** A kubelet that starts deletes all that it finds there, in such a mount too (O40). */
  readonly emptiedByKubelet?: boolean
  /** An emptyDir, on which a mount is that does not answer. */
  readonly covered?: { readonly name: string; readonly dir: string }
  /** A file that the kubelet did not make. */
  readonly stray?: Stray
  /** Data that would be lost: in memory, in files, in what may hold more than was seen. */
  readonly data?: {
    readonly name: string
    readonly memory: readonly MountInfo[]
    readonly files?: readonly TreeEntry[]
    readonly unread?: TreeEntry
  }
  /** Files on or below a target where nothing is mounted. */
  readonly uncovered?: { readonly target: string; readonly files: readonly TreeEntry[] }
  /** What could not be read, or not all of it. */
  readonly unread?: Obstacle | TreeEntry
  readonly identified?: Identified
  /** The volume is unstaged, unmapped or detached. @property names under which it may be mounted outside the root directory; CSI only */
  readonly device?: { readonly names?: readonly string[] }
  /** With what the controller's rule could not resolve, and a place where traces may be that was not read. */
  readonly attachment?: {
    readonly object: VolumeAttachment
    readonly unresolved: readonly UnresolvedVolume[]
    readonly unread: Obstacle | undefined
  }
  /** A mount that stays, and shows the same file system as the one at the target. */
  readonly held?: { readonly by: MountInfo; readonly target: string }
  /** Finds the operation on an unidentified volume that may be this one. */
  readonly unidentified?: () => Draft | undefined
  readonly call?: DriverCall
  /** A directory whose content is deleted, or ends with its mounts. */
  readonly content?: string
  readonly wanted?: VolumeToMount
  /** What the volume's plugin, and the pod's spec, say against setting it up as it is. */
  readonly setUp?: () => Obstacle | undefined
}

/** Under the target a file lies below the volume's mount. @property why absent: it was not made by the kubelet */
export interface Stray {
  readonly entry: TreeEntry
  readonly target?: string
  readonly why?: string
  /** A kubelet that starts deletes it. */
  readonly isLost?: boolean
}

export function strayOf([entry]: readonly TreeEntry[], more: Omit<Stray, 'entry'> = {}): Stray | undefined {
  return entry && { entry, ...more }
}

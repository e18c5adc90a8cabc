/** What apply needs from outside. Each port is so small that its fake is a short class. */

import type { Undo } from '../../base/undo.ts'
import type { KubeletSnapshot } from '../../facts/actual/snapshot.ts'
import type { CsiDriver } from '../../kube/api/objects.ts'
import type { Cluster } from '../../kube/node-cluster.ts'
import type { Host } from '../../node/host.ts'
import type { Journal } from '../../plan/documents/write-journal.ts'
import type { ApplyEvent, KubeletDowntime } from '../../plan/events.ts'
import type { Operation, Plan } from '../../plan/plan.ts'
import type { csiNodeClient } from '../../rpc/csi-node-client.ts'
import type { MachineFacts, Questions, Witness } from '../../rules/machine-facts.ts'
import type { Lookup } from '../../volumes/api-lookup.ts'
import type { VolumeToMount } from '../../volumes/desired-state.ts'

/** A CSI driver's node service; a rejection carries the driver's gRPC status. */
export type CsiNode = ReturnType<typeof csiNodeClient>

/** Until when operations may run, where the kubelet has to run again then (S35). */
export interface TimeLimit {
  /** Milliseconds until then. */
  leftMs(): number
  /** Aborted then. */
  readonly over: AbortSignal
}

/** How a kubelet that was stopped is looked at. */
export interface StoppedLooks {
  /** A whole look, and its plan. */
  look(): Promise<Plan>
  /** Asks this machine alone. */
  kubeletIsBack(): Promise<boolean>
}

/** Stops the kubelet before the operations of an apply, and starts it again after them, however they end (S35). */
export interface KubeletStop {
  readonly limit: TimeLimit
  /**
   * Stops it, and waits until its last calls have ended.
   *
   * @returns the plan of the last look
   * @param journal in which its start is recorded as well
   * @throws VolctlError; `end` is to be called all the same
   */
  begin(journal: Journal, looks: StoppedLooks, onEvent: (event: ApplyEvent) => void): Promise<Plan>
  /** Starts it, if it may have been stopped. Does so once, and never throws. */
  end(): Promise<void>
  /** Once it has ended; undefined: it was not stopped. */
  readonly downtime: KubeletDowntime | undefined
}

export interface ApplyContext extends Questions {
  readonly cluster: Cluster
  /** A whole fresh look at the node, and its plan, with the options of the plan that is carried out. */
  look(): Promise<Plan>
  /** The plan that was made just now, which a saved one is compared with: the node is not read again before the start. */
  readonly freshPlan?: Plan
  /** True if the look showed the node as the operation would make it: for a plan file that was carried out before. */
  readonly isDone?: (operation: Operation) => boolean
  kubeletState(): KubeletSnapshot | Promise<KubeletSnapshot>
  /** By the node's lease, why a kubelet of this node's name must have run since the last look; undefined: nothing shows that (S11). */
  renewedLease?(): Promise<string | undefined>
  /** Rejects where the pods cannot be listed: then nothing is touched (S3). */
  witness(): Promise<Witness>
  /** Undefined: the driver is not registered here. */
  csi(driver: string): CsiNode | undefined | Promise<CsiNode | undefined>
  /** The CSIDriver of this name, by the last look. */
  csiDriver(name: string): Lookup<CsiDriver>
  /** Command line that starts the walker (src/child.ts); default: this program itself. */
  readonly walker?: readonly string[]
  /** The kernel and the disk; default: this host's. */
  readonly host?: Host
  /** Operations in flight at once (default 8). */
  readonly parallel?: number
  /** How long one operation may wait for all calls that may hang together (default two minutes). */
  readonly timeoutMs?: number
  /** How long a detach waits for the attacher (default 30 s). */
  readonly detachWaitMs?: number
  /** Safety overrides as they were given: they are written to the journal (S31). */
  readonly guards?: unknown
  /** Default: below /run/volctl, one file for a root directory. */
  readonly lockFile?: string
  openJournal(): Journal
  /** The file that the plan was read from, for the journal. */
  readonly planFile?: string
  /** --stop-kubelet was given, and something needs it. */
  readonly kubeletStop?: KubeletStop
  /** Once aborted, apply returns at once and names what is unfinished. */
  readonly abandon?: AbortSignal
}

// What a step works with.

interface BringUp {
  /** The volume, as the pod wants it now. */
  wanted?: VolumeToMount
  /** Absolute path of the device node that an earlier step has mounted or mapped. */
  device?: string
  /** The source of a bind mount if its step names none: a device's global mount, or a directory that needs no mount. */
  source?: string
  /** A CSI volume's driver, and its capabilities. */
  csi?: { readonly node: CsiNode; readonly capabilities: readonly string[] }
}

/** What a step of one operation works with; always passed as `run` (an ApplyRun is `apply`). */
export interface StepContext extends MachineFacts {
  readonly context: ApplyContext
  readonly journal: Journal
  /** Reports progress. */
  readonly say: (message: string) => void
  /** What an operation that sets up a volume has found out so far. */
  readonly bringUp: BringUp
  /** What its steps have made so far, the oldest first: undone where one of them fails. */
  readonly made: Undo[]
  /** So far. */
  readonly deleted: { files: number; bytes: number }
}

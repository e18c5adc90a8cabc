/**
 * What the rules of the machine are judged by: fresh right before an operation (apply), or as it will be once the operations that
 * come first have run (in-use.ts, for a plan). What costs is read when a rule asks for it.
 */

import { once } from '../base/collections.ts'
import type { Node, Pod, VolumeAttachment } from '../kube/api/objects.ts'
import type { IscsiSession } from '../linux/block/sysfs-block-tree.ts'
import { withDeadline } from '../linux/deadline.ts'
import type { FailureCode } from '../messages/codes.ts'
import { StepTimedOut, said } from '../messages/findings.ts'
import type { Cluster } from '../node/api/node-objects.ts'
import type { Operation, Plan } from '../plan/plan.ts'
import type { ContentLook } from '../users/content-look.ts'
import type { NameOf } from '../users/find-holders.ts'
import type { VolumeToMount } from '../volumes/desired-state.ts'
import type { Blocked } from '../volumes/finding.ts'
import type { IscsiDisk } from '../volumes/iscsi.ts'
import type { ControllerWanted } from '../volumes/populate.ts'
import type { ExpectedMount } from '../volumes/steps.ts'
import type { Host } from './host.ts'
import type { MachineReading, Surroundings } from './surroundings.ts'

/** Why an operation is not carried out. */
export interface Verdict extends Omit<Blocked, 'code'> {
  readonly code: FailureCode
}

export interface MachineFacts {
  readonly operation: Operation
  /** The plan that was made right before the start. */
  readonly plan: Plan
  readonly context: Questions
  readonly host: Host
  /** Of a detach, and between steps, not asked: what is judged then asks the API itself. */
  readonly witness: Witness
  readonly around: Surroundings
  readonly waiting: WaitingBudget
  readonly signal: AbortSignal | undefined
  /** A recent look for users of directory content. @param since it began no earlier */
  readonly users: (since?: number) => Promise<ContentLook>
  /** Devices seen so far in this apply, by volume. */
  readonly record: VolumeRecord
  /** Operations that come first and have yet to run: the volume is still mounted or mapped. Absent: none. */
  readonly before?: readonly Operation[]
  /** As the API has just said: of a detach (S21), or of what a driver is about to set up (S22). */
  readonly attachment?: VolumeAttachment
  /** Absent: the API was not asked. */
  readonly api?: ApiNow
  /** What a step is about to release. */
  readonly lun?: Lun
  /** What a step is about to mount or map. */
  readonly device?: FoundDevice
  /** Where a step is about to mount. @property isDriversOwn a driver does it, and may make the place itself (C53) */
  readonly target?: { readonly path: string; readonly isDriversOwn?: true }
}

export interface FoundDevice {
  /** A device node, links resolved. */
  readonly path: string
  /** "major:minor" */
  readonly number: string
}

/** What the API has said of an attachment that is to be deleted, or of a volume that a driver is to set up. */
interface ApiNow {
  readonly node: Node | undefined
  /** Of a detach: whether a pod of this node wants the volume, by the controller's rule. */
  readonly isWanted?: boolean
  /** Of what a driver sets up. */
  readonly toSetUp?: {
    readonly volume: VolumeToMount
    /** Of its VolumeAttachment. */
    readonly attachmentName: string
    /** Other nodes that have it attached, which its access mode does not allow; a text: why they are not known. */
    readonly elsewhere: readonly string[] | string
  }
}

/** What a step of iSCSI or Fibre Channel is about to take away. */
export interface Lun {
  /** Those that are to be removed. */
  readonly disks: readonly SeenDisk[]
  /** Whose session is to be ended. */
  readonly ended?: IscsiVolume
  /** Whose session is to be kept. @property wantedBy why it will be needed again: a pod wants a LUN of it. @throws StepFailed if that is not known */
  readonly kept?: IscsiVolume & { readonly wantedBy: () => Promise<string | undefined> }
}

/** A disk as it was when found: names, numbers and addresses may be reused for other disks (S26). */
export interface SeenDisk {
  readonly name: string
  /** Number, address, disk sequence and session: another device of the same name differs in one of these. */
  readonly identity: string
}

export interface IscsiVolume {
  readonly directory: string
  /** With the interface in its directory's name. @property byNameOnly the kubelet's record is lost: of several portals only the first is known */
  readonly disk: IscsiDisk & { readonly iface: string; readonly byNameOnly: boolean }
  /** Sessions of exactly this target, through one of its portals and its interface: what a log-out ends (P76). */
  readonly sessions: readonly IscsiSession[]
  /** Disks of this LUN. */
  readonly disks: readonly SeenDisk[]
  /** Disks of the other LUNs, which disappear when the sessions are ended. */
  readonly otherDisks: readonly SeenDisk[]
  /** Why session and devices must be kept: somebody uses another LUN of the session. */
  readonly sharedWith: string | undefined
}

type Attachments = Pick<Cluster, 'getVolumeAttachment' | 'listVolumeAttachments'>

/** What is asked of the API server, and of the last look. */
export interface Questions extends MachineReading {
  readonly cluster: Attachments
  /** What these pods want on this node, by the attach/detach controller's rule (S21); undefined: not known. */
  wantedOf(pods: readonly Pod[]): ControllerWanted | undefined | Promise<ControllerWanted | undefined>
  /** The volume of this unique name as the pod wants it, by the last look; undefined: the pod does not want it. */
  wanted(pod: Pod, uniqueName: string): VolumeToMount | undefined
  /** Names of the pod and container of a process, by the last look. */
  readonly nameOf?: NameOf
}

/** Which pods are in the API, and which still run, at this moment (S3, S9). */
export interface Witness {
  /** UIDs on disk of every pod of a complete list, mirror and static UIDs included. */
  readonly listed: ReadonlySet<string>
  /** UIDs of pods with a sandbox, a container or a process that counts as alive. */
  readonly alive: ReadonlySet<string>
  /** Why a pod without signs of life may still run (S9). Absent: the witnesses see every pod. */
  readonly blindFor?: (uid: string) => string | undefined
  readonly apiPods: readonly Pod[]
}

/** Where the API's word is asked for by itself: in the second of a deletion, or of a driver's call. Who reads it gets no "nobody". */
export const NOT_ASKED = new Proxy({} as Witness, {
  get: () => {
    throw new Error('nobody was asked which pods are there')
  },
})

/** Within the time that the operation may still wait. */
export function askCluster<C extends Attachments, T>(
  { context, waiting }: { readonly context: { readonly cluster: C }; readonly waiting: WaitingBudget },
  ask: (cluster: C) => Promise<T>,
): Promise<T> {
  return waiting.spend((ms) => withDeadline(ask(context.cluster), ms, 'the API server'))
}

/** @throws the error, unless it says that the credential may not ask for this */
export function unlessForbidden(error: unknown): undefined {
  if ((error as { status?: unknown }).status !== 403) throw error
}

// What one apply has found out about a volume, for a later detach (S21).

/** A mount of the volume, as the plan saw it. */
export interface SeenLayer extends Omit<ExpectedMount['layers'][number], 'id'> {
  /** "major:minor" of the block devices below the file system, if its own number is not one of theirs (btrfs). */
  readonly behind: readonly string[]
  /** This is only a directory of a file system, and somebody else has mounted all of it. */
  readonly isKept?: boolean
}

/** A device as this apply first saw it: by now its number may belong to another disk (loop devices). */
export interface SeenDevice {
  /** The sequence number of its disk; undefined: the kernel has none. */
  readonly sequence: string | undefined
  /** What it is built on: an unstage may close the mapping that leads to the disk. */
  readonly below: ReadonlyMap<string, string | undefined>
}

export class VolumeRecord {
  /** Every device on which the volume was seen, by "major:minor". */
  readonly devices = new Map<string, SeenDevice>()
  /** The devices among them that no mount or map showed, and that were found by name (find-volume-device.ts). */
  readonly found = new Set<string>()
  /** The devices among them whose mounts an operation of this apply found and is about to unmount. */
  readonly mounted = new Set<string>()
  /** "major:minor" of overlays with a layer in the volume (file-system-users.ts). */
  readonly overlays = new Set<string>()
  /** Mounts on which the volume was seen; each file system and directory once. */
  readonly layers = new Map<string, SeenLayer>()
  readonly #seen: (dev: string) => SeenDevice

  constructor(seen: (dev: string) => SeenDevice) {
    this.#seen = seen
  }

  /** Records a device that a mount, a map or --device shows. */
  note(dev: string): void {
    once(this.devices, dev, () => this.#seen(dev))
  }

  noteFound(dev: string): void {
    if (!this.devices.has(dev)) this.found.add(dev)
    this.note(dev)
  }

  /** Forgets devices that were found by name: --device says which device it is, or that there is none. */
  forgetFound(): void {
    for (const dev of this.found) this.devices.delete(dev)
    this.found.clear()
  }

  noteLayer(layer: SeenLayer): void {
    once(this.layers, JSON.stringify([layer.dev, layer.root, layer.source]), () => layer)
    for (const dev of layer.behind.length === 0 ? [layer.dev] : layer.behind) this.note(dev)
  }
}

// How long one operation may wait for others (--timeout): the kernel, drivers, the API.

/** All waiting of an operation together counts; volctl's own work on many files does not. */
export class WaitingBudget {
  readonly limitMs: number
  #leftMs: number

  constructor(limitMs: number) {
    this.limitMs = limitMs
    this.#leftMs = limitMs
  }

  get isSpent(): boolean {
    return Math.round(this.#leftMs) <= 0
  }

  /**
   * Calls with the milliseconds that are left.
   *
   * @throws StepFailed TimedOut, without calling, if no time is left
   */
  async spend<T>(call: (ms: number) => Promise<T>): Promise<T> {
    if (this.isSpent) {
      throw new StepTimedOut(said('TimedOut.spent', { seconds: this.limitMs / 1000 }))
    }
    const began = performance.now()
    try {
      return await call(Math.round(this.#leftMs))
    } finally {
      this.#leftMs -= performance.now() - began
    }
  }

  /** Grants this much more time: for undoing half-made work, regardless of the time spent. */
  leaveAtLeast(ms: number): void {
    this.#leftMs = Math.max(this.#leftMs, Math.min(ms, this.limitMs))
  }
}

/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)").
 * Fields are stable once released; new ones may come.
 */

import type { BlockCode, ProblemCode, Reason, RefusalCode, WaitingCode } from '../codes/codes.ts'
import type { Ownership } from '../files/ownership-bits.ts'
import type { Insecure } from '../model/snapshot.ts'
import type { VolumeMode } from '../names/volume-names.ts'
import type { Cause } from './cause.ts'
import type { PodRef, Severity } from './pod-ref.ts'
import type { Subject } from './subject.ts'

export type { PodRef, Severity }

export const OPERATION_KINDS = [
  'UnmountVolume',
  'UnmapVolume',
  'CleanOrphanVolume',
  'MountVolume',
  'MapVolume',
  'RemountVolume',
  'ExpandVolume',
  'AttachVolume',
  'UnmountDevice',
  'UnmapDevice',
  'DetachVolume',
  'RemoveOrphanPodDir',
] as const

export type OperationKind = (typeof OPERATION_KINDS)[number]

/** The contract's groups for --only and --skip. */
export const OPERATION_GROUPS = {
  unmount: ['UnmountVolume', 'UnmapVolume', 'CleanOrphanVolume'],
  mount: ['MountVolume', 'MapVolume'],
  remount: ['RemountVolume'],
  expand: ['ExpandVolume'],
  device: ['UnmountDevice', 'UnmapDevice'],
  attach: ['AttachVolume'],
  detach: ['DetachVolume'],
  orphans: ['RemoveOrphanPodDir'],
} as const satisfies Record<string, readonly OperationKind[]>

export interface VolumeRef {
  /** The spec name, as on disk. */
  readonly name: string
  /** pod.spec.volumes[].name, where the pod is known. */
  readonly podVolumeName?: string
  readonly uniqueName?: string
  /** e.g. kubernetes.io/csi */
  readonly plugin: string
  readonly driver?: string
  readonly handle?: string
  readonly mode: VolumeMode
  /** S31: where driver and handle came from, e.g. "vol_data.json", "the global mount's vol_data.json (same device)". */
  readonly handleFrom?: string
  /** namespace/name */
  readonly claim?: string
  readonly persistentVolume?: string
  readonly accessModes?: readonly string[]
  /** Names of other nodes with an attachment of this volume. */
  readonly attachedElsewhere?: readonly string[]
  readonly attached?: boolean
  readonly inUse?: boolean
  /** "major:minor source" of the mount. */
  readonly device?: string
  /** UnmapVolume, UnmountDevice, UnmapDevice, DetachVolume: the value of --device, a device file or "none". */
  readonly givenDevice?: string
}

/** Fields of a step beside `op` and `target`; STEP_FIELDS says which op has which. */
export interface StepFields {
  /** How, or by what. */
  readonly detail: string
  /** What is mounted, or linked to; absent: the device that an earlier step has found. */
  readonly source: string
  /** Absent: a bind mount, or ext4 on a device. */
  readonly fsType: string
  /** Mount options, in the order in which they are given. */
  readonly options: readonly string[]
  /** Octal, e.g. "0750". */
  readonly mode: string
  readonly ownership: Ownership
  /** SELinux label of the files (C68); absent: none. */
  readonly label: string
}

export type StepField = keyof StepFields

/**
 * What each op does to the step's `target`, the one absolute path or object acted on, and which other fields it can have. An
 * op means one thing: `apply/step-table.ts` has one function for each.
 */
export const STEP_FIELDS = {
  /** Takes one layer off what is mounted on `target`. detail: how, e.g. "force", "lazy". */
  umount: ['detail'],
  /** Removes the empty directory. */
  rmdir: [],
  /** Removes the file or link. */
  unlink: [],
  /** Deletes everything below `target`, by descriptors (S12); `target` itself stays. */
  deleteContent: [],
  /** The CSI driver's call. */
  NodeUnpublishVolume: [],
  /** The CSI driver's call. */
  NodeUnstageVolume: [],
  /** Releases the loop device `target`. */
  'losetup -d': [],
  /** The flexVolume driver's call "unmount" (P87). detail: its executable. */
  flexUnmount: ['detail'],
  /** The flexVolume driver's call "unmountdevice" (P87). detail: its executable. */
  flexUnmountDevice: ['detail'],
  /**
   * Flushes and removes the SCSI disks of the FC volume whose global directory `target` is, if nothing uses the disks (P81,
   * S25).
   */
  removeFcDisks: [],
  /** The same for an iSCSI volume (P76, S25). */
  removeIscsiDisks: [],
  /**
   * Ends the sessions of the iSCSI volume whose global directory `target` is, if no other LUN of these sessions is in use
   * (P76, S25).
   */
  iscsiLogout: ['detail'],
  /** DELETE of `volumeattachments/NAME` in the API, with uid and resourceVersion as preconditions. */
  deleteVolumeAttachment: [],
  /**
   * Makes `target` and its missing parents. detail "exact": sets the mode even if `target` exists, and whatever the umask.
   */
  mkdir: ['mode', 'detail'],
  /** mount(8) on the directory or file `target`; a bind mount with options takes two calls. */
  mount: ['source', 'fsType', 'options'],
  /**
   * Looks at the device, checks its file system and mounts it, never formats (S15, P128); does nothing if `source` is a
   * directory.
   */
  mountDevice: ['detail', 'source', 'fsType', 'options'],
  /** Binds the device on the pod's file in the volume's map directory, so that the pod gets it as a device (P98). */
  mapDevice: ['source'],
  /** The pod's link to a device. */
  symlink: ['source'],
  /** A loop device on the mapped device `target` holds it open (P99). */
  'losetup -f': [],
  /**
   * Writes the content of a configMap, secret, downwardAPI or projected volume, as a new generation behind the link `target`
   * (..data).
   */
  writeContent: [],
  /** Writes the empty file that marks an emptyDir as set up (P21). */
  writeMarker: [],
  /** Writes vol_data.json, which a kubelet later needs to call the CSI driver (C13). */
  writeVolumeData: ['label'],
  /** Writes iscsi.json, which a kubelet later needs to log out (P73). */
  writeIscsiRecord: [],
  /** Applies fsGroup (P31). */
  setOwnership: ['ownership'],
  /** Checks the type of a hostPath (detail), and creates the path if it is missing and the type says so. */
  checkPath: ['detail'],
  /** Brings the LUN's device to this node, for the mountDevice, mapDevice and symlink that follow (P74). */
  iscsiLogin: [],
  /** Finds the LUN's device on this node, for the mountDevice, mapDevice and symlink that follow (P80). */
  fcFind: [],
  /** The CSI driver's call. */
  NodeStageVolume: ['label'],
  /** The CSI driver's call. */
  NodePublishVolume: ['label'],
  /** The CSI driver's call, and the claim's status before and after it (R458, R459). */
  NodeExpandVolume: [],
  /** Grows the file system on a local volume's device (P131), and writes the claim's status before and after it. */
  growFileSystem: [],
  /** The flexVolume driver's call "mountdevice" (P87). detail: its executable; source: the node's path of the device. */
  flexMountDevice: ['detail', 'source', 'fsType', 'options'],
  /** The flexVolume driver's call "mount" (P87). detail: its executable; source: the global mount, bound where the driver does not mount. */
  flexMount: ['detail', 'source'],
} as const satisfies Readonly<Record<string, readonly StepField[]>>

export type StepOp = keyof typeof STEP_FIELDS

/** A step of one op: a field that the op does not have cannot be given. */
export type StepOf<Op extends StepOp> = {
  readonly op: Op
  readonly target: string
} & {
  readonly [Field in StepField]?: Field extends (typeof STEP_FIELDS)[Op][number] ? StepFields[Field] : never
}

export type Step = { readonly [Op in StepOp]: StepOf<Op> }[StepOp]

export interface Blocked {
  readonly code: BlockCode
  readonly message: string
  readonly hint?: string
  /** Key of its cause in `summary.causes`. */
  readonly cause?: string
}

/** The mounts that a mount step was decided on; apply compares them with a fresh table (S26, S27). */
export interface ExpectedMount {
  readonly path: string
  /** Oldest first: every layer on the path. */
  readonly layers: readonly {
    readonly id: number
    readonly dev: string
    readonly root: string
    readonly fsType: string
    readonly source?: string
  }[]
}

/** Identity of a file or directory: another one under the same name differs. */
export interface FileIdentity {
  readonly path: string
  readonly dev: number
  readonly ino: number
  /** Bytes; for files only. */
  readonly size?: number
  /** Seconds since the epoch; absent for a directory that is removed when empty, since emptying it changes the time. */
  readonly mtime?: number
}

/** The other facts that an operation was decided on, beside its mounts; apply compares them with a fresh look (S26). */
export interface Basis {
  /** The pod's object in the API, if there was one; its uid may differ from the one on disk (S10). */
  readonly pod?: { readonly listed: boolean; readonly uid?: string; readonly resourceVersion?: string }
  /** State files, and files that are removed or deleted; content below a mount is not known. */
  readonly files?: readonly FileIdentity[]
}

/** A mount whose server or daemon does not answer. */
export interface DeadMount {
  readonly path: string
  readonly error: string
}

export interface Operation {
  /** Stable for the same state. */
  readonly id: string
  readonly kind: OperationKind
  readonly reason: Reason
  readonly message: string
  /** The beginning of `message` if the reason is the pod: the same for all operations of the pod. */
  readonly podMessage?: string
  /** The rest of `message`: what is true of this operation alone. */
  readonly ownMessage?: string
  /** `podMessage` without the pod's name: "was deleted from the API; …". */
  readonly podState?: string
  readonly pod?: PodRef
  readonly volume?: VolumeRef
  /** Whose it is; absent in a plan of an earlier volctl. */
  readonly subject?: Subject
  /** Every absolute path that is mounted, unmounted, created or removed, by the driver as well. */
  readonly paths: readonly string[]
  readonly steps: readonly Step[]
  /** Ids of the operations that must succeed first. */
  readonly after: readonly string[]
  readonly blocked?: Blocked
  /** `counted: false`: content that cannot be counted without entering a mount; files and bytes are then 0. */
  readonly deletes?: { readonly files: number; readonly bytes: number; readonly counted?: false }
  readonly rule: string
  /** S31: what the kubelet would have done instead, where it differs. */
  readonly kubeletWould?: string
  /** The operation's dead mounts, with the error in words: "transport endpoint is not connected (ENOTCONN)". */
  readonly dead?: readonly DeadMount[]
  /** The mounts this operation was decided on. */
  readonly expects?: readonly ExpectedMount[]
  readonly basis?: Basis
  /** DetachVolume: the preconditions of the deletion. */
  readonly attachment?: { readonly name: string; readonly uid: string; readonly resourceVersion?: string }
}

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

export type IdentityField = 'machineID' | 'systemUUID' | 'bootID'

/** An id of the Node object that differs from this host's (S1). */
export interface IdentityContradiction {
  readonly field: IdentityField
  readonly node: string
  readonly host: string
  /** By --accept-identity. */
  readonly accepted?: boolean
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
  /** Operations left out by --only, --skip, --pod, --volume or --max, dependants included. */
  readonly filtered: number
  /** Operations that are not blocked, and whose predecessors are not blocked. */
  readonly ready?: number
  /** How many more operations would be ready with one more flag. */
  readonly freedBy?: readonly FreedBy[]
  /** Why things are blocked, wait or are wrong: those that stop most first. */
  readonly causes?: readonly Cause[]
  /** What a kubelet that runs, or may come back, does about the plan. */
  readonly kubelet?: KubeletOutlook
  /** What to type on this node, in this order. */
  readonly next?: readonly NextStep[]
}

/** Flags that a person gives for work that is done only on request. */
export type LiftingFlag = '--orphans' | '--remount' | '--expand'

export interface FreedBy {
  readonly flag: LiftingFlag
  readonly operations: number
}

/** One thing that the kubelet does by itself, or never does. */
export interface KubeletShare {
  readonly message: string
  /** The subject: "shop/web-0: data". */
  readonly about?: readonly string[]
  /** Ids of operations of this plan. */
  readonly operations?: readonly string[]
  /** Until when, in words or as RFC 3339. */
  readonly until?: string
}

export interface KubeletOutlook {
  readonly does: readonly KubeletShare[]
  readonly never: readonly KubeletShare[]
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

/** Why the pass as a whole must not be carried out. */
export interface Refusal {
  readonly rule: string
  readonly code: RefusalCode
  readonly message: string
  readonly hint?: string
}

/** What apply needs from the plan that was reviewed: only the choice of operations. */
export interface ReviewedPlan
  extends Pick<
    Plan,
    'scope' | 'node' | 'rootDir' | 'bootID' | 'createdAt' | 'volctlVersion' | 'operations' | 'refused'
  > {
  readonly inputs: Pick<PlanInputs, 'machine'>
}

export interface PlanOptions {
  readonly orphans: boolean
  readonly remount: boolean
  readonly expand: boolean
  /** Milliseconds (S11). */
  readonly settleMs: number
  readonly driverGone: readonly string[]
  /** Volume (spec name) to handle (S17). */
  readonly handles: Readonly<Record<string, string>>
  /** Volume to its device file, or to "none" if it has none on this node (S21). */
  readonly devices?: Readonly<Record<string, string>>
  readonly acceptOutage?: number
  /** UIDs of pods of another kubelet on this machine, which nothing on this node knows (S9). */
  readonly foreignPods?: readonly string[]
  /** S1: ids of the Node object that are not this host's. */
  readonly acceptIdentity?: readonly string[]
  /** S34: act on the answers of a server that could not be verified. */
  readonly acceptInsecureApi?: boolean
  readonly forceUnmount: readonly string[]
  readonly lazy: readonly string[]
  readonly only?: readonly OperationKind[]
  readonly skip?: readonly OperationKind[]
  /** UID or its unique beginning, namespace/name, name; a plan's context has UIDs in their place. */
  readonly pods?: readonly string[]
  readonly namespaces?: readonly string[]
  readonly volumes?: readonly string[]
  readonly max?: number
  readonly volctlVersion: string
}

export const DEFAULT_SETTLE_MS = 120_000

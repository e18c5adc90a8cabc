/**
 * The plan: data, drawn by views and carried out by apply (contract, "Plan (JSON)").
 * Fields are stable once released; new ones may come.
 */

import type { BlockCode, ProblemCode, Reason, RefusalCode, WaitingCode } from '../codes/codes.ts'
import type { Ownership } from '../files/ownership-bits.ts'
import type { Insecure } from '../model/snapshot.ts'
import type { VolumeMode } from '../names/volume-names.ts'

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

export interface PodRef {
  readonly namespace?: string
  readonly name?: string
  readonly uid: string
}

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
  /** DetachVolume: what --device says, a device file or "none". */
  readonly givenDevice?: string
}

/** What a step can say beside `op` and `target`; which op has which of them stands in STEP_FIELDS. */
export interface StepFields {
  /** How, or by what. */
  readonly detail: string
  /** What is mounted, or linked to; absent: the device that a step before has found. */
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
 * What each op does to the step's `target`, the one absolute path or object acted on, and which other fields it can have.
 * An op means one thing: `apply/step-table.ts` has one function for each, and a plan file says nothing else.
 */
export const STEP_FIELDS = {
  /** Takes one layer off what is mounted on `target`. detail: how, e.g. "force", "lazy". */
  umount: ['detail'],
  /** The empty directory goes. */
  rmdir: [],
  /** The file or link goes. */
  unlink: [],
  /** All below `target` goes, by descriptors (S12); `target` itself stays. */
  deleteContent: [],
  /** The CSI driver's call. */
  NodeUnpublishVolume: [],
  /** The CSI driver's call. */
  NodeUnstageVolume: [],
  /** The loop device `target` is released. */
  'losetup -d': [],
  /** The flexVolume driver's call "unmount" (P87). detail: its executable. */
  flexUnmount: ['detail'],
  /** The flexVolume driver's call "unmountdevice" (P87). detail: its executable. */
  flexUnmountDevice: ['detail'],
  /** Flushes and removes the SCSI disks of the FC volume whose global directory `target` is, if nothing uses them (P81, S25). */
  removeFcDisks: [],
  /** The same for an iSCSI volume (P76, S25). */
  removeIscsiDisks: [],
  /** Ends the sessions of the iSCSI volume whose global directory `target` is, if nothing uses another LUN of them (P76, S25). */
  iscsiLogout: ['detail'],
  /** DELETE of `volumeattachments/NAME` in the API, with uid and resourceVersion as preconditions. */
  deleteVolumeAttachment: [],
  /** Makes `target` and what is missing above it. detail: "exact": the mode, whatever is there and whatever the umask. */
  mkdir: ['mode', 'detail'],
  /** mount(8) on the directory or file `target`; a bind mount with options takes two calls. */
  mount: ['source', 'fsType', 'options'],
  /** Looks at the device, checks its file system and mounts it, never formats (S15, P128); nothing where `source` is a directory. */
  mountDevice: ['detail', 'source', 'fsType', 'options'],
  /** Binds the device on the pod's file in the volume's map directory, for the pod to have as a device (P98). */
  mapDevice: ['source'],
  /** The pod's link to a device. */
  symlink: ['source'],
  /** A loop device on the mapped device `target` holds it open (P99). */
  'losetup -f': [],
  /** What a configMap, secret, downwardAPI or projected volume shows, as a new generation behind the link `target` (..data). */
  writeContent: [],
  /** The empty file that says that an emptyDir is set up (P21). */
  writeMarker: [],
  /** vol_data.json, by which a kubelet asks the CSI driver later (C13). */
  writeVolumeData: ['label'],
  /** iscsi.json, by which a kubelet logs out later (P73). */
  writeIscsiRecord: [],
  /** fsGroup (P31). */
  setOwnership: ['ownership'],
  /** The type of a hostPath (detail); it is made where the type says so and nothing is there. */
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
}

/** What a mount step was decided on; apply compares it with a fresh table (S26, S27). */
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

/** A file or directory as it was: what takes its place under the same name is another. */
export interface FileIdentity {
  readonly path: string
  readonly dev: number
  readonly ino: number
  /** Bytes; of files only. */
  readonly size?: number
  /** Seconds since the epoch; not of a directory that is removed when empty: who empties it first changes it. */
  readonly mtime?: number
}

/** What an operation was decided on, beside its mounts; apply compares it with a fresh look (S26). */
export interface Basis {
  /** The pod's object in the API, if there was one; its uid may differ from the one on disk (S10). */
  readonly pod?: { readonly listed: boolean; readonly uid?: string; readonly resourceVersion?: string }
  /** State files, and what is removed or deleted; what lies below a mount is not known. */
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
  /** How `message` begins where the pod is why: the same for all operations of the pod. */
  readonly podMessage?: string
  /** How `message` goes on: what holds of this operation alone. */
  readonly ownMessage?: string
  /** What `podMessage` says, without the pod's name: "was deleted from the API; …". */
  readonly podState?: string
  readonly pod?: PodRef
  readonly volume?: VolumeRef
  /** Every absolute path that is mounted, unmounted, created or removed, the driver's doing included. */
  readonly paths: readonly string[]
  readonly steps: readonly Step[]
  /** Ids of the operations that must have succeeded before. */
  readonly after: readonly string[]
  readonly blocked?: Blocked
  /** `counted: false`: content that cannot be counted without entering a mount; files and bytes are then 0. */
  readonly deletes?: { readonly files: number; readonly bytes: number; readonly counted?: false }
  readonly rule: string
  /** S31: what the kubelet would have done instead, where it differs. */
  readonly kubeletWould?: string
  /** Of its mounts those that are dead, in words that a person has seen: "transport endpoint is not connected (ENOTCONN)". */
  readonly dead?: readonly DeadMount[]
  /** The mounts this operation was decided on. */
  readonly expects?: readonly ExpectedMount[]
  readonly basis?: Basis
  /** DetachVolume: what the deletion is bound to. */
  readonly attachment?: { readonly name: string; readonly uid: string; readonly resourceVersion?: string }
}

/** Desired, and someone else has to act first. */
export interface Waiting {
  readonly kind: OperationKind
  readonly code: WaitingCode
  readonly message: string
  readonly hint?: string
  readonly pod?: PodRef
  readonly volume?: VolumeRef
  readonly rule: string
  /** RFC 3339: when it is over at the latest, where that is known. */
  readonly until?: string
}

export type Severity = 'error' | 'warning' | 'info'

export interface Problem {
  readonly severity: Severity
  readonly code: ProblemCode
  readonly message: string
  readonly hint?: string
  /** `driver`: it concerns all volumes of that CSI driver. */
  readonly about: { readonly pod?: string; readonly volume?: string; readonly path?: string; readonly driver?: string }
}

export type IdentityField = 'machineID' | 'systemUUID' | 'bootID'

/** An id of the Node object that is another than this host's (S1). */
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
    /** The same of the second look, with the kubelet's own credential (S2). */
    readonly secondLookInsecure?: Insecure
  }
  readonly kubelet: {
    readonly state: 'running' | 'mayReturn' | 'stopped' | 'unknown'
    readonly note?: string
    /** The systemd unit that runs the kubelet, or would start it. */
    readonly unit?: string
  }
  readonly actual: { readonly mounts: number; readonly podDirs: number }
  readonly runtime: { readonly source: string; readonly pods: number }
  /** S1: does the Node object describe this host. */
  readonly machine: {
    /** An id agrees, and what contradicts was accepted. */
    readonly matches: boolean
    readonly contradictions?: readonly IdentityContradiction[]
    readonly machineID?: string
    readonly systemUUID?: string
    readonly bootID?: string
  }
  /** S29: how many of this node's pods are gone. */
  readonly pods: { readonly listed: number; readonly onDisk: number; readonly gone: number }
  /** S31: guards that this plan could not judge, by rule. */
  readonly unjudged: readonly { readonly rule: string; readonly message: string }[]
}

export interface PlanSummary {
  readonly operations: Readonly<Partial<Record<OperationKind, number>>>
  readonly blocked: number
  readonly waiting: number
  readonly problems: number
  /** Operations left out by --only, --skip, --pod, --volume or --max, dependants included. */
  readonly filtered: number
  /** Operations that nothing blocks, themselves or what comes before them. */
  readonly ready?: number
  /** How many more would be ready with one flag more. */
  readonly freedBy?: readonly FreedBy[]
  /** What a kubelet that runs, or may come back, has to do with it. */
  readonly kubelet?: KubeletOutlook
  /** What to type on this node, in this order. */
  readonly next?: readonly NextStep[]
}

/** Flags that a person gives to have what is done only on request. */
export type LiftingFlag = '--orphans' | '--remount' | '--expand'

export interface FreedBy {
  readonly flag: LiftingFlag
  readonly operations: number
}

/** One thing that the kubelet does by itself, or never does. */
export interface KubeletShare {
  readonly message: string
  /** "shop/web-0: data": what it is about. */
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

/** A command line, and what it is for. */
export interface NextStep {
  readonly command: string
  readonly why: string
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

/** Why the pass as a whole is not to be carried out. */
export interface Refusal {
  readonly rule: string
  readonly code: RefusalCode
  readonly message: string
  readonly hint?: string
}

/** What apply needs of the plan that was reviewed: of what is carried out, only the choice. */
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
  /** Volume to the device file that is its own, or to "none" where it has none on this node (S21). */
  readonly devices?: Readonly<Record<string, string>>
  readonly acceptOutage?: number
  /** UIDs of pods of another kubelet on this machine, which nothing on this node knows (S9). */
  readonly foreignPods?: readonly string[]
  /** S1: ids of the Node object that are not this host's. */
  readonly acceptIdentity?: readonly string[]
  /** S34: act on what a server says that is not shown to be the right one. */
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

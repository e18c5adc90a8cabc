/**
 * All that is known about one thing of a node: data, drawn by a view (contract, `volctl explain`).
 * Fields are stable once released; new ones may come.
 */

import type { Code } from '../codes/codes.ts'
import type { Operation, Plan, PodRef, Problem, VolumeRef, Waiting } from '../plan/plan.ts'
import type { Decision } from '../reconcile/decisions.ts'

export const SUBJECT_KINDS = [
  'Pod',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeAttachment',
  'Volume',
  'Driver',
  'Node',
  'Device',
  'Mount',
  'Path',
] as const

export type SubjectKind = (typeof SUBJECT_KINDS)[number]

export interface Subject {
  readonly kind: SubjectKind
  /** namespace/name, a name, a unique name, "major:minor" or an absolute path. */
  readonly name: string
}

/** One thing that is known, and where it was learned. */
export interface Fact {
  readonly label: string
  readonly value: string
  /** e.g. "API", "vol_data.json", "mount table" */
  readonly from: string
}

export interface PodView {
  readonly pod: PodRef
  readonly class: 'Desired' | 'Frozen' | 'Finished' | 'Gone'
  readonly rule: string
  /** Why volctl takes it for this. */
  readonly why: string
  /** In the API. */
  readonly listed: boolean
  readonly phase?: string
  /** RFC 3339. */
  readonly deletedAt?: string
  /** What shows that it runs; empty: nothing does. */
  readonly signsOfLife: readonly string[]
}

export interface MountView {
  readonly id: number
  /** "major:minor" */
  readonly dev: string
  readonly root: string
  readonly fsType: string
  readonly source: string
  readonly readOnly: boolean
}

export const PLACE_ROLES = [
  'target',
  'stateFile',
  'marker',
  'subPath',
  'link',
  'staged',
  'global',
  'map',
  'published',
  'foreign',
  'path',
] as const

/** One path on this node that belongs to a volume, or was asked about, and what is there. */
export interface Place {
  readonly role: (typeof PLACE_ROLES)[number]
  readonly path: string
  /** In words: "mounted", "an empty directory", what a state file says. */
  readonly state: string
  /** Is anything mounted or on disk there. */
  readonly exists: boolean
  /** Whose it is; absent: the node's own. */
  readonly pod?: PodRef
  /** Oldest first. */
  readonly mounts: readonly MountView[]
  /** Loop devices that hold it. */
  readonly loops?: readonly string[]
  /** What a probe of the mount answered, where it is dead. */
  readonly dead?: string
}

export interface AttachmentView {
  readonly name: string
  readonly attached: boolean
  readonly deleting: boolean
  /** The last attempt to attach or detach. */
  readonly error?: string
}

export const LINK_KINDS = [
  'PersistentVolumeClaim',
  'PersistentVolume',
  'VolumeAttachment',
  'StagedMount',
  'BlockMap',
  'PodMount',
  'SubPath',
  'NodePluginPod',
  'Socket',
  'Registration',
  'CSINode',
  'CSIDriver',
] as const

/** absent: not there, and not needed. */
export const LINK_STATES = ['good', 'bad', 'unknown', 'absent'] as const

/** One link of the chain from a claim to what a container sees, or of that from a driver's pod to its objects. */
export interface Link {
  readonly kind: (typeof LINK_KINDS)[number]
  /** Of the object, or an absolute path. */
  readonly name: string
  readonly state: (typeof LINK_STATES)[number]
  /** Why. */
  readonly says: string
  /** Whose mount, map or sub-path it is. */
  readonly pod?: PodRef
}

export interface VolumeView {
  readonly volume: VolumeRef
  readonly wantedBy: readonly { readonly pod: PodRef; readonly as: readonly string[]; readonly readOnly: boolean }[]
  /** Pods that do not want it, and have something of it on disk. */
  readonly hadBy: readonly PodRef[]
  /** Why it is wanted, or why by nobody. */
  readonly desired: string
  /** From the claim to the pods' sub-paths; of a volume without a claim the part that it has. */
  readonly chain: readonly Link[]
  readonly places: readonly Place[]
  readonly attachment?: AttachmentView
  readonly verdict: Verdict
}

export const VERDICT_STATES = ['operation', 'blocked', 'waiting', 'problem', 'nothing'] as const

/** In one line what becomes of it, by which rule. */
export interface Verdict {
  /** operation: volctl would act; nothing: it is as it should be, or not volctl's to change. */
  readonly state: (typeof VERDICT_STATES)[number]
  readonly message: string
  /** Reason of the operation, or code of the obstacle. */
  readonly code?: Code
  readonly rule?: string
}

export interface ProcessView {
  readonly pid: number
  readonly command: string
  /** cwd, root, file, map or device: how, and on which path as the process sees it. */
  readonly holds: readonly { readonly what: string; readonly path: string }[]
  readonly container?: string
  readonly pod?: PodRef
}

export interface NamespaceView {
  readonly pid: number
  readonly command: string
  readonly mountPoints: readonly string[]
  readonly container?: string
  readonly pod?: PodRef
}

/** One socket of a CSI driver, and what it answered. */
export interface DriverSocket {
  /** Absolute. */
  readonly path: string
  /** Absolute: where the driver says that it can be called. */
  readonly endpoint?: string
  readonly answers: boolean
  readonly versions?: readonly string[]
  readonly capabilities?: readonly string[]
  readonly error?: string
}

/** A pod of this node that has the directory of the driver's socket, or of all drivers, from the host. */
export interface DriverPod {
  readonly pod: PodRef
  readonly phase?: string
  /** Each with its state, as the container runtime has it. */
  readonly containers: readonly { readonly name: string; readonly state: string }[]
  /** hostPath by which it is known. */
  readonly directory: string
}

/** What of this node depends on a CSI driver. */
export interface DriverDependents {
  readonly staged: readonly string[]
  readonly published: readonly { readonly volume: string; readonly pod: PodRef }[]
  readonly attachments: readonly string[]
  /** Pods that cannot have a volume of the driver yet. */
  readonly waiting: readonly { readonly volume: string; readonly pod?: PodRef; readonly code: Code }[]
}

export interface DriverView {
  readonly name: string
  readonly sockets: readonly DriverSocket[]
  /** Does this node's CSINode list it; absent: there is no CSINode, or it is not known. */
  readonly csiNode?: { readonly listed: boolean; readonly nodeID?: string }
  /** Its CSIDriver object; absent: there is none, or it is not known. */
  readonly csiDriver?: { readonly attachRequired: boolean }
  readonly pods: readonly DriverPod[]
  readonly dependents: DriverDependents
}

export interface HoldersView {
  /** false: nobody looked; `notes` says why. */
  readonly known: boolean
  readonly processes: readonly ProcessView[]
  /** Other mount namespaces that still have something of it mounted. */
  readonly namespaces: readonly NamespaceView[]
  readonly loops: readonly { readonly device: string; readonly backingFile: string }[]
  /** What the kernel has on its devices, in words. */
  readonly kernel: readonly string[]
  /** What could not be seen. */
  readonly notes: readonly string[]
}

export interface Advice {
  readonly text: string
  readonly code?: Code
  /** Of the code, by the catalogue. */
  readonly meaning?: string
}

export interface Explanation {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Explanation'
  /** As it was asked. */
  readonly what: string
  readonly node: string
  readonly rootDir: string
  readonly bootID?: string
  /** RFC 3339: when the node was looked at. */
  readonly createdAt: string
  readonly volctlVersion: string
  readonly subject: Subject
  readonly identity: readonly Fact[]
  readonly pods: readonly PodView[]
  readonly volumes: readonly VolumeView[]
  /** Of the volume that matters most, or of the driver; empty: there is none. */
  readonly chain: readonly Link[]
  /** Where a CSI driver was asked about. */
  readonly driver?: DriverView
  /** What lies at the path, or on the device, that was asked about. */
  readonly places: readonly Place[]
  readonly verdict: Verdict
  /** Those that concern it, and what has to come before them, in the order of the plan. */
  readonly operations: readonly Operation[]
  readonly waiting: readonly Waiting[]
  readonly problems: readonly Problem[]
  /** The planner's own word on each thing that it left or acted on. */
  readonly decisions: readonly Decision[]
  readonly holders: HoldersView
  readonly advice: readonly Advice[]
  /** false: something that may matter could not be known. */
  readonly complete: boolean
  /** A safety rule refuses the plan as a whole (exit status 4). */
  readonly refused?: NonNullable<Plan['refused']>
}

/**
 * Everything a plan is computed from, as one JSON document (contract, "Snapshot").
 *
 * Live and offline use this same shape: the live source collects a NodeSnapshot, `volctl snapshot` writes it down,
 * `--snapshot` reads it back. Optional sections are sections that a snapshot may lack: the plan then says what it
 * cannot know and stays as cautious as if the source had failed.
 */
import type { PathType } from '../files/path-type.ts'
import type {
  ConfigMap,
  CsiDriver,
  CsiNode,
  Lease,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  SecretDigest,
  VolumeAttachment,
} from './objects.ts'

/** An object or list that the API refused or could not give. `absent`: the API showed that it does not exist (S3). */
export interface ApiReadError {
  /** Plural resource name: pods, persistentvolumeclaims, persistentvolumes, volumeattachments, csidrivers, csinodes, nodes, configmaps, secrets. */
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  /** HTTP status, or 0 when no answer came. */
  readonly status: number
  /** Kubernetes reason (Forbidden, NotFound, Timeout …) or a transport error's code. */
  readonly reason: string
  readonly message: string
}

/**
 * TlsNotVerified: insecure-skip-tls-verify. Either way, anyone on the network path could answer in the server's place (S34).
 */
export type Insecure = 'TlsNotVerified' | 'PlainHttp'

/** A pod of another node that refers to claims which pods here have or want (R743). */
export interface PodElsewhere {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly phase?: string
  /** RFC 3339. */
  readonly deletionTimestamp?: string
  /** Names of claims in its namespace; only those that pods here have or want. */
  readonly claims: readonly string[]
}

/** Another node that has a volume which a pod here has or wants, and which only one node may have (S30). */
export interface NodeElsewhere {
  readonly name: string
  /** Unique names of such volumes in its node.status, for plugins that have no VolumeAttachment. */
  readonly attached?: readonly string[]
  /** Absent: not asked, or `problem` says why they are unknown. */
  readonly pods?: readonly PodElsewhere[]
  readonly problem?: string
}

/** What other nodes were asked, because a pod here waits for, or has, a volume that may be theirs. */
export interface Elsewhere {
  readonly nodes: readonly NodeElsewhere[]
  /** Why the status of other nodes could not be read, which lists attachments without a VolumeAttachment. */
  readonly problem?: string
}

export interface ApiSnapshot {
  readonly server: string
  /** Absent: the server was verified. */
  readonly insecure?: Insecure
  /** `kubelet` for a node identity (Node authorizer), otherwise a word of the source's own, e.g. `admin`. */
  readonly credential: string
  /** The authenticated user's name, if the server gave it. */
  readonly user?: string
  /** resourceVersion of the pod list. */
  readonly resourceVersion?: string
  readonly node: Node | null
  readonly pods: readonly Pod[]
  readonly persistentVolumeClaims: readonly PersistentVolumeClaim[]
  readonly persistentVolumes: readonly PersistentVolume[]
  readonly volumeAttachments: readonly VolumeAttachment[]
  readonly csiDrivers: readonly CsiDriver[]
  readonly csiNode: CsiNode | null
  readonly configMaps: readonly ConfigMap[]
  readonly secrets: readonly SecretDigest[]
  readonly errors: readonly ApiReadError[]
  /** The node's lease; absent: there is none, or it was not readable (S11). */
  readonly lease?: Lease
  /** RFC 3339: renewTime of the node's lease, where it was readable (S29). */
  readonly leaseRenewTime?: string
  /** The API server's Date header minus the host's clock, in milliseconds (S28). */
  readonly clockSkewMs?: number
  /** The second look at the pod list with the kubelet's own credential (S2); `problem`: it could not be taken. */
  readonly podListCheck?: { readonly source: string; readonly problem?: string; readonly insecure?: Insecure }
  /** What the API server answered when asked whether this identity may delete VolumeAttachments. */
  readonly mayDeleteVolumeAttachments?: boolean
  /** Absent: there was nothing to ask. */
  readonly elsewhere?: Elsewhere
}

export type FileType = 'dir' | 'file' | 'link' | 'block' | 'char' | 'fifo' | 'socket'

/**
 * One directory entry below the root directory. Of a mount point only path and type are known. The live source may leave
 * attributes out for entries that no decision looks at (pods that still run).
 */
export interface TreeEntry {
  /** Relative to the root directory; `.` is the root itself. */
  readonly path: string
  readonly type: FileType
  /** Octal text, e.g. "750". */
  readonly mode?: string
  readonly uid?: number
  readonly gid?: number
  /** Bytes. */
  readonly size?: number
  readonly dev?: number
  readonly ino?: number
  /** Seconds since the epoch. */
  readonly mtime?: number
  readonly target?: string
  /**
   * For a link in the kubelet's structure that volctl follows as the kubelet does: the target, absolute and without links.
   * Entries behind the link have paths below the link's own.
   */
  readonly realPath?: string
  /** Text of a small state file (vol_data.json, iscsi.json). */
  readonly content?: string
  /** HMAC of a file that an atomic writer wrote. */
  readonly digest?: string
  /** Why this entry, or what is below it, could not be read. */
  readonly error?: string
}

export interface SandboxState {
  readonly uid: string
  readonly namespace?: string
  readonly name?: string
  /** CRI name: SANDBOX_READY, SANDBOX_NOTREADY; anything else counts as alive. */
  readonly state: string
  /** CRI names: CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_EXITED, CONTAINER_UNKNOWN. */
  readonly containers: readonly { readonly name: string; readonly state: string; readonly id?: string }[]
}

export interface RuntimeSnapshot {
  readonly source: 'cri' | 'none'
  readonly endpoint?: string
  /** Set when a runtime should be there and did not answer (S9). */
  readonly error?: string
  readonly pods: readonly SandboxState[]
}

export interface StaticPodsSnapshot {
  /** The kubelet's staticPodPath; absent or empty: none configured. */
  readonly path?: string
  readonly readable: boolean
  readonly manifests: readonly {
    readonly file: string
    readonly namespace: string
    readonly name: string
    readonly uid?: string
  }[]
}

export type NodeNameFrom = 'flag' | 'credential' | 'hostname'

export type StopShownBy = 'unit' | 'lease' | 'heartbeat' | 'nothing'

export interface KubeletSnapshot {
  readonly running: boolean
  /** A unit that is active, activating or restarting, or anything else that may start the kubelet again (S11). */
  readonly mayReturn: boolean
  /** RFC 3339; absent: long enough ago. */
  readonly stoppedAt?: string
  /** What shows when it stopped; `nothing`: it counts as stopped just now (S11). */
  readonly stopShownBy?: StopShownBy
  /** The kubelet's own node name, and what shows it; absent: not known, or as its flags say (S1). */
  readonly nodeName?: string
  readonly nodeNameFrom?: NodeNameFrom
  readonly pid?: number
  /** The systemd unit that runs the kubelet, or would start it: `kubelet.service`, `k3s.service`; absent: not known. */
  readonly unit?: string
  readonly args?: readonly string[]
  readonly config?: Readonly<Record<string, unknown>>
  /** Why the kubelet stays stopped, or what may start it again, in words (S31). */
  readonly note?: string
}

export interface BlockDevice {
  readonly name: string
  /** "/" or a text ending in " (deleted)" is unknown. */
  readonly backingFile?: string
  readonly readOnly?: boolean
}

/** A file system that volctl detached lazily in this boot, and that is not shown to be gone (S20). */
export interface LazilyDetached {
  /** Where it was mounted. */
  readonly path: string
  /** "major:minor" */
  readonly dev: string
  /** Unique name of its volume, otherwise its name. */
  readonly volume?: string
}

/** Why it is unknown what was detached lazily (S20). */
export interface LazyMemoryDefect {
  /** The file that would show it. */
  readonly path: string
  readonly why: string
}

export interface CsiSocket {
  /** Relative to the root directory if below it, otherwise absolute. */
  readonly path: string
  readonly driver?: string
  readonly endpoint?: string
  readonly versions?: readonly string[]
  readonly capabilities?: readonly string[]
  /** The driver answered just now. */
  readonly registered: boolean
  readonly error?: string
}

/** A flexVolume driver that is installed where this node's kubelet looks (P85). */
export interface FlexDriver {
  /** vendor/driver, or the directory's name where it has no vendor. */
  readonly name: string
  /** Absolute. */
  readonly executable: string
  /** Why it cannot be run. */
  readonly error?: string
}

/** The path of a hostPath volume that has a type to be checked, of a pod that has nothing running (P58). */
export interface HostPath {
  readonly path: string
  /** Links followed; absent: it could not be looked at. */
  readonly type?: PathType | 'absent'
  /** Why not; "Timeout" where it did not answer. */
  readonly error?: string
}

/** SELinux of the host (C68). */
export interface Selinux {
  readonly enabled: boolean
  /**
   * The label that its policy gives a container's files, e.g. `system_u:object_r:container_file_t:s0`; absent: it says
   * nothing.
   */
  readonly fileLabel?: string
  /** Why the policy could not be read. */
  readonly error?: string
}

/** A process or a file that somebody other than root may control: volctl went on as if it did not exist. */
export interface NotBelieved {
  /** `process 812 (kubelet)`, or a path. */
  readonly what: string
  readonly why: string
  readonly hint: string
  /** The kubelet would use this file: what it says, and what it protects, is unknown (S8, S10). */
  readonly unknown?: true
}

export interface NodeSnapshot {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'NodeSnapshot'
  readonly capturedAt: string
  readonly nodeName: string
  readonly rootDir: string
  readonly bootID?: string
  /** RFC 3339. */
  readonly bootTime?: string
  readonly machineID?: string
  readonly systemUUID?: string
  readonly kernelVersion?: string
  /** The look was taken from within a user namespace; absent: it was not. */
  readonly userNamespace?: boolean
  readonly api?: ApiSnapshot
  readonly mountinfo?: string
  readonly tree?: readonly TreeEntry[]
  readonly runtime?: RuntimeSnapshot
  /** UIDs of this node's pods that have a process. */
  readonly processes?: readonly string[]
  /** The same of kubelets that run in a pod or a container of this node (S9); absent: none. */
  readonly nestedProcesses?: readonly string[]
  readonly deadMounts?: readonly { readonly path: string; readonly error: string }[]
  readonly staticPods?: StaticPodsSnapshot
  readonly kubelet?: KubeletSnapshot
  readonly blockDevices?: readonly BlockDevice[]
  readonly csiSockets?: readonly CsiSocket[]
  /** Absent: the drivers' directory was not read. */
  readonly flexDrivers?: readonly FlexDriver[]
  /** Absent: there was none to look at, or it was not read. */
  readonly hostPaths?: readonly HostPath[]
  /** Absent: not read. */
  readonly selinux?: Selinux
  /** What was found and ignored (S32, S33); absent: nothing. */
  readonly notBelieved?: readonly NotBelieved[]
  /** Absent: there is none. */
  readonly lazilyDetached?: readonly LazilyDetached[]
  /** Absent: `lazilyDetached` is complete. */
  readonly lazyMemory?: LazyMemoryDefect
}

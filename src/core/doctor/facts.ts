/** What checks are made from. Whatever could not be read is a fact as well: why. */
import type { ResourceAttributes } from '../api/access-reviews.ts'
import type { NodeState } from '../model/node-state.ts'
import type { Insecure } from '../model/snapshot.ts'

/** Why something could not be read, as an error of volctl says it. */
export interface Failure {
  readonly code?: string
  readonly message: string
  readonly hint?: string
  /** What of it a check asks for. */
  readonly is?: 'silence' | 'tls' | 'unauthorized' | 'podListsDisagree'
}

/** Parts that can fail one by one. */
export type Source =
  | 'node'
  | 'credential'
  | 'server'
  | 'api'
  | 'pods'
  | 'kubeletPods'
  | 'nodeObject'
  | 'mountinfo'
  | 'tree'
  | 'runtime'
  | 'csiSockets'
  | 'kubelet'

export interface DoctorFacts {
  readonly source: 'node' | 'snapshot'
  /** With every section that could be read. Absent: it is not known which node this is. */
  readonly state?: NodeState
  readonly failures: Readonly<Partial<Record<Source, Failure>>>
  /** Of the live node only. */
  readonly api?: ApiFacts
  /** Of the live node only. */
  readonly host?: HostFacts
}

export type Purpose = 'plan' | 'DetachVolume' | 'MountVolume' | 'ExpandVolume'

/** One thing that a credential may or may not do. */
export interface Right extends ResourceAttributes {
  readonly purpose: Purpose
  /** Without it there is no plan. */
  readonly required?: true
}

export interface RightAnswer {
  readonly right: Right
  /** Undefined: the API server did not say. */
  readonly allowed?: boolean
}

export interface ApiFacts {
  /** The credential that volctl uses; absent: none was found. */
  readonly credential?: { readonly source: string; readonly server: string; readonly insecure?: Insecure }
  /** Who the API server says that this is. */
  readonly user?: string
  /** The kubelet's own credential, for the second list; `problem`: why it is not used. */
  readonly kubelet?: { readonly source: string; readonly problem?: string }
  readonly rights: readonly RightAnswer[]
}

export interface Room {
  /** What is kept there: "the root directory". */
  readonly what: string
  readonly path: string
  /** Bytes. */
  readonly free: number
  readonly size: number
  /** 0 and 0: the file system has no fixed number. */
  readonly freeInodes: number
  readonly inodes: number
}

/** As sysctl and systemd name them. */
export type LimitName = 'fs.file-max' | 'LimitNOFILE' | 'user.max_mnt_namespaces'

export interface KernelLimit {
  readonly name: LimitName
  readonly used: number
  readonly most: number
}

export interface HostFacts {
  readonly uid: number
  readonly missingCapabilities: readonly { readonly name: string; readonly use: string }[]
  /** Why volctl may only read here. */
  readonly standing: readonly { readonly message: string; readonly hint: string }[]
  /** What is wrong with a program; absent: it is there. */
  readonly programs: Readonly<Record<string, Failure | undefined>>
  readonly hasSystemd: boolean
  /** fs.mount-max, and how many mounts this namespace has. */
  readonly mountMax?: number
  readonly mounts?: number
  /** Those that could be read. */
  readonly limits: readonly KernelLimit[]
  readonly kernel: string
  readonly rooms: readonly Room[]
}

/** The answer of `volctl doctor`, as data: checks, and whether volctl can work. */

/** The worst first. */
export const CHECK_STATES = ['failed', 'unknown', 'warning', 'ok'] as const
export type CheckState = (typeof CHECK_STATES)[number]

/** Every check, and what it is called. A check of a driver or a file comes once for each. */
export const CHECKS = {
  Root: 'privileges',
  Namespaces: 'namespaces',
  NodeFound: 'node and root directory',
  NodeRead: 'this node',
  ApiServer: 'API server',
  ApiVerified: 'API server verified',
  PlanRights: 'rights for plan',
  ApplyRights: 'rights for apply',
  Clock: 'clock',
  PlanRefused: 'safety rules',
  KubeletState: 'kubelet',
  Runtime: 'container runtime',
  CsiDriver: 'CSI driver',
  CsiSocket: 'CSI socket',
  Ignored: 'trusted files',
} as const

export type CheckId = keyof typeof CHECKS

/** What was found beside the state and its message. */
export interface Advice {
  /** What to do. */
  readonly next?: string
  /** What cannot work meanwhile; without plan there is no apply either. */
  readonly prevents?: 'plan' | 'apply'
  /** The driver, path or rule. */
  readonly about?: string
}

export interface Check extends Advice {
  readonly id: CheckId
  readonly title: string
  readonly state: CheckState
  readonly message: string
}

export interface Doctor {
  readonly apiVersion: 'volctl.io/v1'
  readonly kind: 'Doctor'
  /** Absent: it could not be found out which node this is. */
  readonly node?: string
  readonly rootDir?: string
  /** RFC 3339; of a snapshot when it was taken. */
  readonly createdAt: string
  readonly volctlVersion: string
  readonly source: 'node' | 'snapshot'
  /** Whether plan and apply can work here; `apply` is absent of a snapshot, which does not show it. */
  readonly works: { readonly plan: boolean; readonly apply?: boolean }
  /** The worst first. */
  readonly checks: readonly Check[]
  /** How many checks have each state; a state without any is absent. */
  readonly summary: Readonly<Partial<Record<CheckState, number>>>
}

/** The answer of `volctl doctor`, as data: checks in groups, and whether volctl can work. */

/** The worst first; so are the groups, and the checks of a group. */
export const CHECK_STATES = ['failed', 'unknown', 'warning', 'ok', 'notApplicable'] as const
export type CheckState = (typeof CHECK_STATES)[number]

/** Of groups that are equally bad, what everything else rests on is shown first. */
export const CHECK_GROUPS = {
  api: 'API server',
  node: 'This node',
  kubelet: 'Kubelet',
  pods: 'Pods and container runtime',
  drivers: 'Volume drivers',
  volctl: 'volctl on this host',
} as const

export type CheckGroup = keyof typeof CHECK_GROUPS

/** Every check, and what it is called. A check of a driver or a file comes once for each. */
export const CHECKS = {
  ApiServer: { group: 'api', title: 'API server' },
  ApiVerified: { group: 'api', title: 'verified' },
  KubeletPodList: { group: 'api', title: "kubelet's own list" },
  PlanRights: { group: 'api', title: 'rights for plan' },
  ApplyRights: { group: 'api', title: 'rights for apply' },
  Clock: { group: 'api', title: 'clock' },
  NodeFound: { group: 'node', title: 'node and root directory' },
  Machine: { group: 'node', title: 'machine identity' },
  PlanRefused: { group: 'node', title: 'safety rules' },
  MountTable: { group: 'node', title: 'mount table' },
  RootDirectory: { group: 'node', title: 'root directory' },
  KubeletState: { group: 'kubelet', title: 'state' },
  StaticPods: { group: 'pods', title: 'static pods' },
  Runtime: { group: 'pods', title: 'container runtime' },
  Processes: { group: 'pods', title: 'processes of pods' },
  CsiDriver: { group: 'drivers', title: 'CSI driver' },
  CsiSocket: { group: 'drivers', title: 'CSI socket' },
  FlexVolume: { group: 'drivers', title: 'flexVolume' },
  Root: { group: 'volctl', title: 'privileges' },
  Namespaces: { group: 'volctl', title: 'namespaces' },
  Ignored: { group: 'volctl', title: 'trusted files' },
} as const satisfies Readonly<Record<string, { readonly group: CheckGroup; readonly title: string }>>

export type CheckId = keyof typeof CHECKS

/** What a check found; `check` gives it a name. */
export interface Finding {
  readonly state: CheckState
  readonly message: string
  /** What to do. */
  readonly next?: string
  /** What cannot work meanwhile; without plan there is no apply either. */
  readonly prevents?: 'plan' | 'apply'
  /** The driver, path or rule. */
  readonly about?: string
}

export interface Check extends Finding {
  readonly id: CheckId
  readonly group: CheckGroup
  readonly title: string
}

export function ok(message: string): Finding {
  return { state: 'ok', message }
}

export function notApplicable(message: string): Finding {
  return { state: 'notApplicable', message }
}

export function unknown(message: string, next?: string): Finding {
  return { state: 'unknown', message, ...(next !== undefined && { next }) }
}

export function warning(message: string, next: string, prevents?: Check['prevents']): Finding {
  return { state: 'warning', message, next, ...(prevents !== undefined && { prevents }) }
}

export function failed(message: string, next: string, prevents?: Check['prevents']): Finding {
  return { state: 'failed', message, next, ...(prevents !== undefined && { prevents }) }
}

export function check(id: CheckId, finding: Finding): Check {
  return { id, ...CHECKS[id], ...finding }
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
  /** By group, the group with the worst check first; in each group the worst first. */
  readonly checks: readonly Check[]
  /** How many checks have each state. */
  readonly summary: Readonly<Record<CheckState, number>>
}

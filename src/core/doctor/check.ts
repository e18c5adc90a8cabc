/** The answer of `volctl doctor`, as data: checks in groups, and whether volctl can work. */
import { about, named } from '../json/json-schema.ts'
import { code, count, flag, list, object, oneOf, optional, path, type ShapeOf, text } from '../json/shape.ts'

/** The worst first; so are the groups, and the checks of a group. */
export const CHECK_STATES = ['failed', 'unknown', 'warning', 'ok', 'notApplicable'] as const
export type CheckState = (typeof CHECK_STATES)[number]

/** Of groups that are equally bad, what everything else rests on is shown first. */
export const CHECK_GROUPS = {
  api: 'API server',
  rights: 'Rights of the credential',
  node: 'This node',
  kubelet: 'Kubelet',
  pods: 'Pods and container runtime',
  drivers: 'Volume drivers',
  volctl: 'volctl on this host',
  host: 'Host',
} as const

export type CheckGroup = keyof typeof CHECK_GROUPS

/** Every check, and what it is called. A check of a driver, a program or a file comes once for each. */
export const CHECKS = {
  Credential: { group: 'api', title: 'credential' },
  ApiReachable: { group: 'api', title: 'reachable' },
  ApiVerified: { group: 'api', title: 'verified' },
  PodList: { group: 'api', title: 'list of pods' },
  KubeletPodList: { group: 'api', title: "kubelet's own list" },
  PlanRights: { group: 'rights', title: 'plan' },
  DetachRights: { group: 'rights', title: 'DetachVolume' },
  MountRights: { group: 'rights', title: 'MountVolume, RemountVolume' },
  ExpandRights: { group: 'rights', title: 'ExpandVolume' },
  NodeFound: { group: 'node', title: 'node and root directory' },
  NodeObject: { group: 'node', title: 'Node object' },
  Machine: { group: 'node', title: 'machine identity' },
  PlanRefused: { group: 'node', title: 'safety rules' },
  MountTable: { group: 'node', title: 'mount table' },
  RootDirectory: { group: 'node', title: 'root directory' },
  KubeletState: { group: 'kubelet', title: 'state' },
  KubeletVersion: { group: 'kubelet', title: 'version' },
  Attaching: { group: 'kubelet', title: 'who attaches' },
  Migration: { group: 'kubelet', title: 'CSI migration' },
  StaticPods: { group: 'pods', title: 'static pods' },
  Runtime: { group: 'pods', title: 'container runtime' },
  Processes: { group: 'pods', title: 'processes of pods' },
  CsiDriver: { group: 'drivers', title: 'CSI driver' },
  CsiDriverObject: { group: 'drivers', title: 'CSIDriver objects' },
  CsiSocket: { group: 'drivers', title: 'CSI socket' },
  FlexVolume: { group: 'drivers', title: 'flexVolume' },
  Root: { group: 'volctl', title: 'privileges' },
  Namespaces: { group: 'volctl', title: 'namespaces' },
  Programs: { group: 'volctl', title: 'programs' },
  Ignored: { group: 'volctl', title: 'trusted files' },
  MountLimit: { group: 'host', title: 'mounts' },
  KernelLimits: { group: 'host', title: 'kernel limits' },
  Kernel: { group: 'host', title: 'kernel' },
  Space: { group: 'host', title: 'free space' },
  Clock: { group: 'host', title: 'clock' },
} as const satisfies Readonly<Record<string, { readonly group: CheckGroup; readonly title: string }>>

export type CheckId = keyof typeof CHECKS

const checkShape = object({
  id: about(
    'Stable. A check of a driver, program or file comes once for each.',
    code(Object.keys(CHECKS) as readonly CheckId[]),
  ),
  group: oneOf(...(Object.keys(CHECK_GROUPS) as readonly CheckGroup[])),
  title: text,
  about: optional(about('The driver, program, path or rule.', text)),
  state: oneOf(...CHECK_STATES),
  message: text,
  next: optional(about('What to do.', text)),
  prevents: optional(
    about('What cannot work meanwhile; without plan there is no apply either.', oneOf('plan', 'apply')),
  ),
})

export interface Check extends ShapeOf<typeof checkShape> {}

/** What a check found; `check` gives it a name. */
export type Finding = Pick<Check, 'state' | 'message' | 'next' | 'prevents' | 'about'>

export function ok(message: string): Finding {
  return { state: 'ok', message }
}

export function notApplicable(message: string): Finding {
  return { state: 'notApplicable', message }
}

/** Of the host, beside a snapshot. */
export const OF_NODE = notApplicable('a snapshot does not show this')

/** Why nothing is known of what can only be read on the node. */
export const NO_NODE: Finding = { state: 'unknown', message: 'not read, since the node was not found' }

export function unknown(message: string, next?: string): Finding {
  return { state: 'unknown', message, ...(next !== undefined && { next }) }
}

export function warning(message: string, next: string, prevents?: Check['prevents']): Finding {
  return { state: 'warning', message, next, ...(prevents !== undefined && { prevents }) }
}

export function failed(message: string, next: string, prevents?: Check['prevents']): Finding {
  return { state: 'failed', message, next, ...(prevents !== undefined && { prevents }) }
}

export function check(id: CheckId, { about, ...finding }: Finding): Check {
  const { group, title } = CHECKS[id]
  return { id, group, title, ...(about !== undefined && { about }), ...finding }
}

export const doctorShape = object({
  apiVersion: oneOf('volctl.io/v1'),
  kind: oneOf('Doctor'),
  node: optional(about('Absent: it could not be found out which node this is.', text)),
  rootDir: optional(path),
  createdAt: about('RFC 3339; of a snapshot when it was taken.', text),
  volctlVersion: text,
  source: oneOf('node', 'snapshot'),
  /** Whether plan and apply can work here. */
  works: object({
    plan: about('Exit status 1 if false.', flag),
    apply: optional(about('Absent: a snapshot does not show this.', flag)),
  }),
  /** By group, the group with the worst check first; in each group the worst first. */
  checks: list<Check>(named('check', checkShape)),
  summary: about(
    'How many checks have each state.',
    object({ failed: count, unknown: count, warning: count, ok: count, notApplicable: count }),
  ),
})

export interface Doctor extends ShapeOf<typeof doctorShape> {}

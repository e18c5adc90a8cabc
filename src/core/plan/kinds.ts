/** Which operations there are. */

/** By kind: its group for --only and --skip (contract), what it comes to, and the verb for that. */
export const OPERATIONS = {
  UnmountVolume: { group: 'unmount', work: 'down', verb: 'unmount' },
  UnmapVolume: { group: 'unmount', work: 'down', verb: 'unmap' },
  CleanOrphanVolume: { group: 'unmount', work: 'down', verb: 'clean up' },
  MountVolume: { group: 'mount', work: 'up', verb: 'set up' },
  MapVolume: { group: 'mount', work: 'up', verb: 'set up' },
  RemountVolume: { group: 'remount', work: 'refresh', verb: 'write again' },
  ExpandVolume: { group: 'expand', work: 'grow', verb: 'grow' },
  AttachVolume: { group: 'attach', work: 'up', verb: 'attach' },
  UnmountDevice: { group: 'device', work: 'down', verb: 'unstage' },
  UnmapDevice: { group: 'device', work: 'down', verb: 'unmap' },
  DetachVolume: { group: 'detach', work: 'down', verb: 'detach' },
  RemoveOrphanPodDir: { group: 'orphans', work: 'directories', verb: 'remove' },
} as const

export type OperationKind = keyof typeof OPERATIONS

export const OPERATION_KINDS = Object.keys(OPERATIONS) as readonly OperationKind[]

/** Kinds that take something away: a mount, a map, a device, an attachment, content, a directory. */
export const TAKING_AWAY: ReadonlySet<OperationKind> = new Set(
  OPERATION_KINDS.filter((kind) => ['down', 'directories'].includes(OPERATIONS[kind].work)),
)

/** Kinds that give a pod a volume that it lacks. */
export const SETTING_UP: ReadonlySet<OperationKind> = new Set(['MountVolume', 'MapVolume'])

export const OPERATION_GROUPS: ReadonlyMap<string, readonly OperationKind[]> = Map.groupBy(
  OPERATION_KINDS,
  (kind) => OPERATIONS[kind].group,
)

/** States of the verdicts on the rows of a status, the worst first: they are sorted in this order. */
export const VERDICT_STATES = [
  'error',
  'blocked',
  'unknown',
  'waiting',
  'operation',
  'notAsked',
  'warning',
  'kept',
  'good',
] as const

/** States of the verdicts of explain. */
export const EXPLAINED_STATES = ['problem', 'blocked', 'waiting', 'operation', 'nothing'] as const

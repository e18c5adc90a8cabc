import type { MountTable } from '../linux/mount-table.ts'
import type { NodeSnapshot } from './snapshot.ts'

/**
 * One look at a node: what every plan is computed from. Live or from a file, it is the same value
 * (`snapshot.mountinfo` may be made on demand from `mounts.text`).
 */
export interface NodeState {
  readonly snapshot: NodeSnapshot
  readonly mounts: MountTable
}

/** What snapshots of nodes show of a cluster's volumes (--cluster with --nodes). */
import type { CodeEntry } from './code-entry.ts'

export const FLEET_CODES = {
  MountedNotAttached: {
    in: ['problem'],
    cause: 'elsewhere',
    means: 'a node has a volume mounted or staged, and the API shows the volume neither attached nor in use there',
    next: 'Take the snapshot of the node again. If it still shows the volume: kubectl volctl on NODE plan',
    rules: ['R731', 'S30'],
  },
  MountedOnSeveral: {
    in: ['problem'],
    cause: 'elsewhere',
    means: 'a volume that only one node may have is mounted or staged on several',
    next: 'Before anything else, find out which node may have the volume, and end its pods on the other nodes.',
    rules: ['R740', 'S30'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

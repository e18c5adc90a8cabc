/** What snapshots of nodes show of a cluster's volumes (--cluster with --nodes). */
import type { CodeEntry } from './code-entry.ts'

export const FLEET_CODES = {
  MountedOnNode: {
    in: ['blocked'],
    cause: 'in-use',
    means: 'a snapshot of a node shows the volume staged, mounted, mapped or open there, whatever the API says',
    next: 'See what keeps the volume there: kubectl volctl on NODE plan; then take the snapshot of the node again.',
    rules: ['R731', 'S21'],
  },
  UnidentifiedOnNode: {
    in: ['blocked'],
    cause: 'in-use',
    means: 'the snapshot of the node shows something set up, and nothing proves whose it is: it may be this volume',
    next: 'Find out which volume it is: kubectl volctl on NODE plan; then take the snapshot of the node again.',
    rules: ['S17', 'S21'],
  },
  ProvenFree: {
    in: ['problem'],
    cause: 'controller',
    means: 'the API keeps a volume attached as in use, and the snapshot of its node shows that nothing of it is there',
    next: 'Start or restart the kubelet of that node: it reports its volumes again, and the controller detaches.',
    rules: ['R739', 'N62'],
  },
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
  SnapshotProvesNothing: {
    in: ['problem'],
    cause: 'unread',
    means: 'the snapshot of a node is too old, of another boot or not whole, so that it does not show a volume to be free',
    next: 'With a longer --settle an older snapshot counts. Take a new one: kubectl volctl on NODE snapshot -o FILE',
    rules: ['S26', 'S28'],
  },
  SnapshotElsewhere: {
    in: ['problem'],
    cause: 'unread',
    means: 'the snapshot is of a machine that is no node of this cluster, or not the node of its name: it was left out',
    next: 'Check that the snapshots and --context are of the same cluster.',
    rules: ['S1'],
  },
  NodeSnapshotUnreadable: {
    in: ['problem'],
    cause: 'unread',
    means: 'a file or document given with --nodes could not be read: its node counts as one without a snapshot',
    next: 'Take the snapshot again: kubectl volctl on NODE snapshot -o FILE',
    rules: ['S34', 'S3'],
  },
  NodesWithoutSnapshot: {
    in: ['problem'],
    cause: 'unread',
    means: 'there is no snapshot of some nodes: their volumes are judged by the API alone',
    next: 'Take the missing ones: kubectl volctl on NODE snapshot -o FILE',
    rules: ['S3'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

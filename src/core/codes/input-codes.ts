/** What a person gives to volctl: flags, names, files; and where the answer goes. */
import type { CodeEntry } from './code-entry.ts'

export const INPUT_CODES = {
  Usage: {
    in: ['error'],
    means: 'the command line is not understood',
    next: 'See volctl COMMAND --help.',
  },
  NothingNamed: {
    in: ['problem', 'error'],
    cause: 'asked',
    means:
      'a flag gives a name (--pod, --namespace, --volume, --device, --foreign-pod; with --cluster also --node, --node-gone) that nothing on this node, or in this cluster, has',
    next: 'Give the name as the plan shows it, or --ignore-not-found.',
  },
  AmbiguousName: {
    in: ['problem', 'error'],
    cause: 'asked',
    means: 'several things on this node have the name that explain or --pod was given',
    next: 'Name one of those that the message lists: for explain with pod/, pvc/, pv/, va/, volume/, device/ or path/ before the name, for --pod as NAMESPACE/NAME or as a whole UID.',
  },
  BadDevice: {
    in: ['error'],
    means: 'the value of --device is neither VOLUME=/dev/NAME nor VOLUME=none',
    next: 'Take VOLUME from the VOLUME column of the plan, and the device from lsblk.',
  },
  BadDuration: {
    in: ['error'],
    means: 'a flag needs a duration',
    next: 'Write it like 90s, 2m or 1h30m.',
  },
  BadHandle: {
    in: ['error'],
    means: 'the value of --handle is not VOLUME=HANDLE',
    next: 'Take VOLUME from the VOLUME column of the plan, and HANDLE from the storage system.',
  },
  BadNumber: {
    in: ['error'],
    means: 'a flag needs a whole number',
    next: 'Write it like 8.',
  },
  BadOperationKind: {
    in: ['error'],
    means: '--only or --skip names no kind and no group of operations',
    next: 'Give one of those that the hint lists.',
  },
  BadPath: {
    in: ['error'],
    means: 'a flag needs an absolute path',
    next: 'Begin it with a /, as the plan shows it.',
  },
  BadPod: {
    in: ['error'],
    means: 'a flag needs a pod as NAMESPACE/NAME, or a UID',
    next: 'Give it as volctl status shows it.',
  },
  OutputFailed: {
    in: ['error'],
    means: 'the output could not be written',
    next: 'Check the room and the rights where the output goes.',
  },
  NotInSnapshot: {
    in: ['error'],
    means: 'a flag names another node or root directory than the snapshot has',
    next: 'Leave the flag out, or give the snapshot of that node.',
  },
  NotASnapshot: {
    in: ['error'],
    means: 'the file is not a snapshot',
    next: 'Write one: volctl snapshot -o FILE',
  },
  SnapshotUnreadable: {
    in: ['error'],
    means: 'the snapshot cannot be read',
    next: 'Check the path; save what comes through a pipe to a file first.',
  },
  SnapshotNotJson: {
    in: ['error'],
    means: 'the snapshot is not JSON',
    next: 'Take the snapshot again: volctl snapshot -o FILE',
  },
  SnapshotTruncated: {
    in: ['error'],
    means: 'the snapshot is cut off',
    next: 'Take the snapshot again: volctl snapshot -o FILE',
  },
  SnapshotDamaged: {
    in: ['error'],
    means: 'a field of the snapshot is missing, or is not what volctl writes',
    next: 'Take the snapshot again: volctl snapshot -o FILE',
  },
  SnapshotTooLarge: {
    in: ['error'],
    means: 'the snapshot is larger than that of any node',
    next: 'Take the snapshot again: volctl snapshot -o FILE',
    rules: ['S34'],
  },
  SnapshotVersion: {
    in: ['error'],
    means: 'the snapshot was written by another version of volctl',
    next: 'Use the volctl that wrote it, or take the snapshot again.',
  },
  SnapshotNotWritten: {
    in: ['error'],
    means: 'the snapshot could not be written',
    next: 'Name a plain file in a directory that exists, that you may write, and that has room.',
  },
  LogUnreadable: {
    in: ['error'],
    means: 'the log that explain --log was given cannot be read',
    next: 'Check the path, or pipe the log: journalctl -u kubelet | volctl explain --log -',
  },
  NotAPlan: {
    in: ['error'],
    means: 'the file is not a plan that volctl plan --out has saved',
    next: 'Make it: volctl plan --out FILE',
  },
  PlanFileUnreadable: {
    in: ['error'],
    means: 'the plan file cannot be read',
    next: 'Check the path. From a pipe: volctl apply - < FILE',
  },
  PlanFileTooLarge: {
    in: ['error'],
    means: 'the plan file is larger than any plan',
    next: 'Make it again: volctl plan --out FILE',
    rules: ['S34'],
  },
  PlanFileUnsafe: {
    in: ['error'],
    means: 'somebody else owns the plan file, or may write to it, and could have overridden safety checks in it',
    next: 'Make the plan again, in a directory where only root may write.',
    rules: ['S33'],
  },
  PlanFileDamaged: {
    in: ['error'],
    means: 'the plan file is cut off, or not what volctl writes',
    next: 'Make it again: volctl plan --out FILE',
  },
  PlanFileVersion: {
    in: ['error'],
    means: 'the plan file was written by another version of volctl',
    next: 'Make it again: volctl plan --out FILE',
  },
  PlanFileScope: {
    in: ['error'],
    means: 'the plan file is of another scope',
    next: 'Make it again: volctl plan --out FILE',
  },
  PlanNotWritten: {
    in: ['error'],
    means: 'the plan file could not be written',
    next: 'Name a plain file in a directory that exists, that you may write, and that has room.',
  },
  PlanTooOld: {
    in: ['error'],
    means: 'the node was booted after the plan was made',
    next: 'Plan again.',
    rules: ['S26'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

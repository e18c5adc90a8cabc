/** What lies on the node: mounts, files and directories, and who uses them. */
import type { CodeEntry } from './code-entry.ts'

export const PATH_CODES = {
  DeletesData: {
    in: ['blocked'],
    means: 'the operation would delete data of a pod that is gone',
    next: 'Look at what would be deleted; to delete it: volctl apply --orphans',
    rules: ['S13'],
  },
  ForeignMount: {
    in: ['blocked', 'problem'],
    means: "a mount that is not this volume's is in the way",
    next: 'Find out who mounted it (findmnt PATH); unmount it if nothing needs it, then plan again.',
    rules: ['S18'],
  },
  UnexpectedFile: {
    in: ['blocked', 'problem'],
    means: 'a file that the kubelet did not make is in the way',
    next: 'Look at the file; move it away or delete it yourself, then plan again.',
    rules: ['S13'],
  },
  DataUnderMountPoint: {
    in: ['blocked', 'problem'],
    means: 'files lie in a directory that should be empty while nothing is mounted on it',
    next: 'Look at the files; move them away or delete them yourself, then plan again.',
    rules: ['S13', 'S22'],
  },
  TreeUnreadable: {
    in: ['blocked'],
    means: 'a directory could not be read whole, so that what lies there is not known',
    next: 'Look into the directory, and repair its file system where it fails (dmesg); then plan again.',
    rules: ['S12', 'S13'],
  },
  LinkInPlace: {
    in: ['blocked', 'problem'],
    means: 'a symbolic link stands where the kubelet has a directory; what is behind it counts as in use',
    next: 'Put a directory or a bind mount in its place, or repair what it leads to; then plan again.',
    rules: ['S8'],
  },
  HeldBy: {
    in: ['blocked'],
    means: 'something else uses the mount, the device or the data',
    next: 'As root, see who holds it (volctl explain PATH); end that use, then plan again.',
    rules: ['S12', 'S21', 'S24', 'S25'],
  },
  UsersUnknown: {
    in: ['outcome'],
    means: 'volctl could not find out who uses the device or the data',
    next: 'Run it as root of the host, with CAP_SYS_PTRACE and a /proc that shows every process; then plan again.',
    rules: ['S12', 'S21'],
  },
  InvalidPath: {
    in: ['blocked'],
    means: 'a path or name of the volume is empty, not absolute, or would lead elsewhere',
    next: 'Correct the path in the PersistentVolume, or the names in the pod; then plan again.',
    rules: ['S10'],
  },
  PathUnusable: {
    in: ['outcome'],
    means: 'the path or device of a volume does not exist, or is not of a kind that can be mounted',
    next: 'Bring the disk or directory back, or correct the PersistentVolume; then plan again.',
  },
  SectionMissing: {
    in: ['problem'],
    means: 'a section of the snapshot is missing, so that what it would show is not known',
    next: 'Take a new snapshot as root: volctl snapshot -o FILE',
    rules: ['S3'],
  },
  ReadOnlyFileSystem: {
    in: ['problem'],
    means: 'a file system is read-only although a pod mounts it to write, or the root directory lies on one',
    next: 'Look for the error (dmesg); end what uses the file system, check it (fsck), and mount it again.',
  },
  DeadMount: {
    in: ['blocked', 'waiting', 'problem'],
    means: 'a mount does not answer: its server or daemon is gone',
    next: 'Restart what serves the file system, then the containers that use it; of a deleted pod: volctl plan --lazy PATH',
  },
  MountStorm: {
    in: ['problem'],
    means: 'mount propagation has copied one mount thousands of times',
    next: 'End what mounts it into itself (mostly a container with Bidirectional propagation); then umount -R the path.',
  },
  NotDead: {
    in: ['blocked'],
    means: '--lazy names a mount that is not shown to be dead',
    next: 'Unmount it without --lazy.',
    rules: ['S20'],
  },
  DetachedLazily: {
    in: ['blocked'],
    means: "the volume's file system was detached lazily, and may still be in use without a mount",
    next: 'End what still uses it, or reboot; then plan again.',
    rules: ['S20'],
  },
  LazyMemoryUnusable: {
    in: ['blocked', 'problem'],
    means: 'the record of what earlier applies detached lazily cannot be read, and this volume may be in it',
    next: 'Repair the record that the message names, or reboot; then plan again.',
    rules: ['S20', 'S33'],
  },
  SharedConnection: {
    in: ['outcome'],
    means: 'a forced unmount would cut off other mounts of the same connection',
    next: 'Force it only when nothing else uses the same connection.',
    rules: ['S19'],
  },
  MayHang: {
    in: ['outcome'],
    means: 'what would be touched lies in a file system that may not answer',
    next: 'Unmount that file system, or bring its server back; then plan again.',
  },
  MountFailed: {
    in: ['outcome'],
    means: 'mount failed, and left nothing behind',
    next: 'Look at the source, its options and the kernel log (dmesg); then plan again.',
  },
  UnmountFailed: {
    in: ['outcome'],
    means: 'umount failed for another reason than being busy',
    next: 'Look at the mount (findmnt PATH) and the kernel log (dmesg); then plan again.',
  },
  StillMounted: {
    in: ['outcome'],
    means: 'something is still mounted there, so that nothing was removed',
    next: 'See what is mounted (findmnt PATH), and unmount what covers it; then plan again.',
    rules: ['S27'],
  },
  DirectoryNotEmpty: {
    in: ['outcome'],
    means: 'a directory is not empty, and was kept',
    next: 'Look at what is in it; move it away or delete it yourself, then plan again.',
    rules: ['S12'],
  },
  WriteFailed: {
    in: ['outcome'],
    means: 'a file, link or directory could not be written',
    next: 'Look at what is in its place and at the room left (df, df -i); then plan again.',
  },
  RemoveFailed: {
    in: ['outcome'],
    means: 'a file or directory could not be removed',
    next: 'Look at the path and its file system (dmesg); then plan again.',
  },
  DeleteFailed: {
    in: ['outcome'],
    means: 'content could not be deleted',
    next: 'Look at what is there, and at who still writes there; then plan again.',
    rules: ['S12'],
  },
  Swapped: {
    in: ['outcome'],
    means: 'a directory changed while it was deleted or given to a group; nothing outside of the volume was touched',
    next: 'Find out what still writes there; then plan again.',
    rules: ['S12'],
  },
  OwnershipFailed: {
    in: ['outcome'],
    means: "the volume could not be given to the pod's fsGroup",
    next: 'Look at the file system and its server (dmesg); then plan again: the walk is repeated.',
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

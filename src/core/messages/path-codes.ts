/** What lies on the node: mounts, files, directories and disks, and who uses them. */
import { codes } from './code-entry.ts'

/** For a file that volctl never deletes; nor does anybody, while a process may be writing it (S37). */
export const CLEAR_AWAY = 'Have its owner move the file away once nothing writes it; then plan again.'

const FOREIGN = codes({ cause: 'foreign' })({
  ForeignMount: {
    in: ['blocked', 'problem'],
    means: "a mount that is not this volume's is in the way",
    many: (n) => `Mounts that the kubelet did not make are in the way of ${n} volumes`,
    remedy: 'Find out who mounted it (findmnt), and have it taken off there; then plan again.',
    rules: ['S18'],
  },
  UnexpectedFile: {
    in: ['blocked', 'problem'],
    means: 'a file that the kubelet did not make is in the way, or in a directory that was to be removed',
    many: (n) => `Files that the kubelet did not make are in the way of ${n} volumes`,
    remedy: CLEAR_AWAY,
    rules: ['S13', 'S12'],
  },
  DataUnderMountPoint: {
    in: ['blocked', 'problem'],
    // A kubelet mounts over it.
    lasts: 'never',
    means: 'files lie in a directory that should be empty while nothing is mounted on it',
    remedy: 'Have their owner move the files away once nothing writes them; then plan again.',
    rules: ['S13', 'S22'],
  },
  LinkInPlace: {
    in: ['blocked', 'problem'],
    means: 'a symbolic link stands where the kubelet has a directory; what is behind it counts as in use',
    remedy: 'Put a directory or a bind mount in its place, or repair what it leads to; then plan again.',
    rules: ['S8'],
  },
  InvalidPath: {
    in: ['blocked'],
    means:
      'a path or name of the volume is empty, not absolute, does not exist, leads elsewhere, or is not of a kind that can be mounted',
    remedy:
      'Bring the disk or directory back, or correct the path in the PersistentVolume or the names in the pod; then plan again.',
    rules: ['S10'],
  },
  MountStorm: {
    in: ['problem'],
    means: 'mount propagation has copied one mount tens or thousands of times',
    remedy:
      'Stop what mounts it at each start, or into itself (most often a container with mountPropagation: Bidirectional). The copies go with their pod, or with a reboot.',
  },
  Swapped: {
    in: ['outcome'],
    means: 'a directory changed while it was deleted or given to a group; nothing outside of the volume was touched',
    remedy: 'Find out what still writes there; then plan again.',
    rules: ['S12'],
  },
  ForeignDevice: {
    in: ['outcome'],
    means: "a device is not this volume's, or not of the kind that the kubelet makes",
    remedy: 'Find out what it is (ls -l /dev/disk/by-path; lsblk), release it yourself if need be, and plan again.',
    rules: ['S21', 'S25'],
  },
  StagedAtOldPath: {
    in: ['problem'],
    means: 'a volume is staged where kubelets before 1.24 staged, and no kubelet of today unstages it there',
    next: 'Once no pod of the node uses the volume: volctl apply with the kubelet stopped unstages it at both paths.',
    rules: ['C11'],
  },
})

const DATA = codes({ cause: 'data' })({
  DeletesData: {
    in: ['blocked'],
    onRequest: true,
    means: 'the operation would delete data of a pod that is gone',
    remedy: 'To delete the data as well: volctl apply --orphans',
    rules: ['S13'],
  },
  OrphanDirKept: {
    in: ['problem'],
    means: 'the directory of a pod that is gone is kept, because it holds something that volctl does not remove',
    many: (n) => `The directories of ${n} deleted pods are kept: files that the kubelet did not make lie there`,
    next: 'Look at the path; move away or delete what is yours, then plan again.',
    rules: ['S13'],
  },
  OrphanPodDir: {
    in: ['reason', 'problem'],
    means: 'a pod that is gone left only empty directories and files that the kubelet made',
    remedy: 'To remove what is left of deleted pods: volctl apply --orphans',
    rules: ['S13'],
  },
})

const DEAD_MOUNT = codes({ cause: 'dead-mount' })({
  DeadMount: {
    in: ['blocked', 'waiting', 'problem'],
    means: 'a mount does not answer, or may not: its server, daemon or device is gone',
    many: (n) => `${n} mounts do not answer: what is behind them is gone`,
    next: 'Restart the server or daemon of the file system, or bring its disk back; then restart the containers that use it. Of a deleted pod: volctl plan --lazy PATH',
  },
  DetachedLazily: {
    in: ['blocked'],
    means: "the volume's file system was detached lazily, and may still be in use without a mount",
    remedy: 'Stop what still uses the file system, or reboot; then plan again.',
    rules: ['S20'],
  },
  SharedConnection: {
    in: ['outcome'],
    means: 'a forced unmount would cut off other mounts of the same connection',
    remedy: 'Force it only when nothing else uses the same connection.',
    rules: ['S19'],
  },
})

const IN_USE = codes({ cause: 'in-use' })({
  HeldBy: {
    in: ['blocked'],
    // What holds a device may be a pod's mount that a kubelet still unmounts.
    lasts: 'in-set-up',
    means: 'something else uses the mount, the device or the data, or is still mounted there',
    many: (n, users) => users && `${n} volumes are in use by ${users}`,
    next: 'As root, see what uses it (volctl explain PATH; findmnt PATH); end that use, then plan again.',
    remedy: 'Stop that use; then plan again.',
    rules: ['S12', 'S21', 'S24', 'S25', 'S27'],
  },
  UsersUnknown: {
    in: ['blocked'],
    means: 'volctl could not find out who uses the device or the data',
    next: 'Run it as root of the host, with CAP_SYS_PTRACE and a /proc that shows every process; then plan again.',
    rules: ['S12', 'S21'],
  },
  MayBeInUse: {
    in: ['blocked', 'problem'],
    means: 'a volume of a pod could not be resolved or identified; what is to be undone may be that volume',
    remedy:
      'Use a credential that may read its claim and PersistentVolume, or repair them; or stop the containers of that pod; then plan again.',
    rules: ['S9', 'S21', 'S4'],
  },
  UseNotReported: {
    in: ['blocked'],
    means: 'no node reports volumes of a driver without attachments in use: whether the volume is free cannot be known',
    next: 'See on the node that the volume is not mounted there: volctl status; then: kubectl delete volumeattachment NAME',
    rules: ['N62', 'S3'],
  },
  StillInUse: {
    in: ['waiting'],
    means: 'no pod wants the volume, and the node still reports it in use: the kubelet has to unmount it first',
    next: 'See on the node what keeps the volume there: volctl plan',
    rules: ['R731', 'R739', 'S21'],
  },
})

const DEVICE = codes({ cause: 'device' })({
  ReadOnlyFileSystem: {
    in: ['blocked', 'problem'],
    means: 'a file system is read-only although a pod mounts it to write, or the root directory lies on one',
    next: 'Look for the error (dmesg); end what uses the file system, check it (fsck), and mount it again.',
  },
  DeviceUnknown: {
    in: ['blocked'],
    means: "the volume's device could not be found: whether it is free cannot be known",
    next: 'Find out which device it was (lsblk): volctl apply --device VOLUME=/dev/NAME or volctl apply --device VOLUME=none',
    rules: ['S21'],
  },
  IscsiFailed: {
    in: ['outcome'],
    means: 'an iSCSI log-out failed, or which session belongs to the volume is unknown',
    next: 'Check that iscsid runs; compare iscsiadm -m session -P 3; end a session that is left by hand (iscsiadm -m session -r NUMBER -u). Then plan again.',
    rules: ['S25'],
  },
  FilesystemUnfit: {
    in: ['outcome'],
    means:
      'what is on the device cannot be mounted for the volume: nothing that is known, a partition table, errors, or another type of file system',
    next: 'Look at the device (lsblk, blkid), and make sure that it is the right one. volctl makes and repairs no file system: run mkfs or fsck yourself, or correct the PersistentVolume; then plan again.',
    rules: ['S15'],
  },
  ExpandFailed: {
    in: ['outcome'],
    means: 'the file system could not be grown to the size of its device',
    remedy: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },
  RunsWithoutVolume: {
    in: ['problem'],
    means: "a container runs, and nothing is mounted where its volume should be: it writes to the node's own disk",
    remedy: 'Stop the pod, save what it has written there, and delete the pod: only a new one gets its volume.',
    rules: ['S38'],
  },
})

export const PATH_CODES = { ...FOREIGN, ...DATA, ...DEAD_MOUNT, ...IN_USE, ...DEVICE }

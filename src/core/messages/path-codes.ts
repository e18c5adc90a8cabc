/** What lies on the node: mounts, files, directories and disks, and who uses them. */
import type { CodeEntry } from './code-entry.ts'

/** For a file that volctl never deletes; nor does anybody, while a process may be writing it (S37). */
export const CLEAR_AWAY = 'Have its owner move the file away once nothing writes it; then plan again.'

export const PATH_CODES = {
  DeletesData: {
    in: ['blocked'],
    cause: 'data',
    onRequest: true,
    means: 'the operation would delete data of a pod that is gone',
    remedy: 'To delete the data as well: volctl apply --orphans',
    rules: ['S13'],
  },
  ForeignMount: {
    in: ['blocked', 'problem'],
    cause: 'foreign',
    means: "a mount that is not this volume's is in the way",
    many: (n) => `Mounts that the kubelet did not make are in the way of ${n} volumes`,
    remedy: 'Find out who mounted it (findmnt), and have it taken off there; then plan again.',
    rules: ['S18'],
  },
  UnexpectedFile: {
    in: ['blocked', 'problem'],
    cause: 'foreign',
    means: 'a file that the kubelet did not make is in the way, or in a directory that was to be removed',
    many: (n) => `Files that the kubelet did not make are in the way of ${n} volumes`,
    remedy: CLEAR_AWAY,
    rules: ['S13', 'S12'],
  },
  DataUnderMountPoint: {
    in: ['blocked', 'problem'],
    cause: 'foreign',
    // A kubelet mounts over it.
    lasts: 'never',
    means: 'files lie in a directory that should be empty while nothing is mounted on it',
    remedy: 'Have their owner move the files away once nothing writes them; then plan again.',
    rules: ['S13', 'S22'],
  },
  LinkInPlace: {
    in: ['blocked', 'problem'],
    cause: 'foreign',
    means: 'a symbolic link stands where the kubelet has a directory; what is behind it counts as in use',
    remedy: 'Put a directory or a bind mount in its place, or repair what it leads to; then plan again.',
    rules: ['S8'],
  },
  HeldBy: {
    in: ['blocked'],
    cause: 'in-use',
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
    cause: 'in-use',
    means: 'volctl could not find out who uses the device or the data',
    next: 'Run it as root of the host, with CAP_SYS_PTRACE and a /proc that shows every process; then plan again.',
    rules: ['S12', 'S21'],
  },
  InvalidPath: {
    in: ['blocked'],
    cause: 'foreign',
    means:
      'a path or name of the volume is empty, not absolute, does not exist, leads elsewhere, or is not of a kind that can be mounted',
    remedy:
      'Bring the disk or directory back, or correct the path in the PersistentVolume or the names in the pod; then plan again.',
    rules: ['S10'],
  },
  ReadOnlyFileSystem: {
    in: ['blocked', 'problem'],
    cause: 'device',
    means: 'a file system is read-only although a pod mounts it to write, or the root directory lies on one',
    next: 'Look for the error (dmesg); end what uses the file system, check it (fsck), and mount it again.',
  },
  DeadMount: {
    in: ['blocked', 'waiting', 'problem'],
    cause: 'dead-mount',
    means: 'a mount does not answer, or may not: its server, daemon or device is gone',
    many: (n) => `${n} mounts do not answer: what is behind them is gone`,
    next: 'Restart the server or daemon of the file system, or bring its disk back; then restart the containers that use it. Of a deleted pod: volctl plan --lazy PATH',
  },
  MountStorm: {
    in: ['problem'],
    cause: 'foreign',
    means: 'mount propagation has copied one mount tens or thousands of times',
    remedy:
      'Stop what mounts it at each start, or into itself (most often a container with mountPropagation: Bidirectional). The copies go with their pod, or with a reboot.',
  },
  DetachedLazily: {
    in: ['blocked'],
    cause: 'dead-mount',
    means: "the volume's file system was detached lazily, and may still be in use without a mount",
    remedy: 'Stop what still uses the file system, or reboot; then plan again.',
    rules: ['S20'],
  },
  LazyMemoryUnusable: {
    in: ['blocked', 'problem'],
    cause: 'identity',
    means: 'the record of what earlier applies detached lazily cannot be read, and this volume may be in it',
    next: 'Repair the record that the message names, or reboot; then plan again.',
    rules: ['S20', 'S33'],
  },
  SharedConnection: {
    in: ['outcome'],
    cause: 'dead-mount',
    means: 'a forced unmount would cut off other mounts of the same connection',
    remedy: 'Force it only when nothing else uses the same connection.',
    rules: ['S19'],
  },
  MountFailed: {
    in: ['outcome'],
    cause: 'failed',
    means: 'mount failed, and left nothing behind',
    remedy: 'Look at the source, its options and the kernel log (dmesg); then plan again.',
  },
  UnmountFailed: {
    in: ['outcome'],
    cause: 'failed',
    means: 'umount failed for another reason than being busy',
    remedy: 'Look at the mount (findmnt) and the kernel log (dmesg); then plan again.',
  },
  WriteFailed: {
    in: ['outcome'],
    cause: 'failed',
    means: "a file, link or directory could not be written, removed, or given to the pod's fsGroup",
    remedy:
      'Look at what is in its place, at the room left (df, df -i) and at the file system (dmesg); then plan again.',
    rules: ['S12'],
  },
  Swapped: {
    in: ['outcome'],
    cause: 'foreign',
    means: 'a directory changed while it was deleted or given to a group; nothing outside of the volume was touched',
    remedy: 'Find out what still writes there; then plan again.',
    rules: ['S12'],
  },

  // Disks and sessions.
  DeviceUnknown: {
    in: ['blocked'],
    cause: 'device',
    means: "the volume's device could not be found: whether it is free cannot be known",
    next: 'Find out which device it was (lsblk): volctl apply --device VOLUME=/dev/NAME or volctl apply --device VOLUME=none',
    rules: ['S21'],
  },
  ForeignDevice: {
    in: ['outcome'],
    cause: 'foreign',
    means: "a device is not this volume's, or not of the kind that the kubelet makes",
    remedy: 'Find out what it is (ls -l /dev/disk/by-path; lsblk), release it yourself if need be, and plan again.',
    rules: ['S21', 'S25'],
  },
  IscsiFailed: {
    in: ['outcome'],
    cause: 'device',
    means: 'an iSCSI log-out failed, or which session belongs to the volume is unknown',
    next: 'Check that iscsid runs; compare iscsiadm -m session -P 3; end a session that is left by hand (iscsiadm -m session -r NUMBER -u). Then plan again.',
    rules: ['S25'],
  },
  FilesystemUnfit: {
    in: ['outcome'],
    cause: 'device',
    means:
      'what is on the device cannot be mounted for the volume: nothing that is known, a partition table, errors, or another type of file system',
    next: 'Look at the device (lsblk, blkid), and make sure that it is the right one. volctl makes and repairs no file system: run mkfs or fsck yourself, or correct the PersistentVolume; then plan again.',
    rules: ['S15'],
  },
  ExpandFailed: {
    in: ['outcome'],
    cause: 'device',
    means: 'the file system could not be grown to the size of its device',
    remedy: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },

  // The node: its kubelet, its machine, and what volctl may do there.
  NodeUnreadable: {
    in: ['blocked', 'problem', 'error'],
    cause: 'unread',
    means:
      "/proc, the mount table, the kubelet's root directory, something in it or its configuration is missing, cannot be read whole, or is not what it should be",
    remedy: 'Run volctl as root of the host, with /proc mounted; check --root-dir and its file system (dmesg).',
    rules: ['S6', 'S9', 'S27', 'S8', 'S33', 'S12', 'S13'],
  },
  KubeletRunning: {
    in: ['waiting', 'outcome', 'refusal'],
    cause: 'kubelet',
    byKubelet: true,
    means: 'a kubelet runs, runs again, or may start at any moment, and does this itself',
    remedy:
      'Let the kubelet do it. If it cannot, stop its unit so that it stays down, wait for --settle, and plan again.',
    rules: ['S11'],
  },
  Settling: {
    in: ['waiting'],
    cause: 'kubelet',
    means:
      'the kubelet stopped, or something of the pod changed, less than the settle time ago: the kubelet or a call that it made may still be at work',
    next: 'Plan again after the settle time, or give a shorter --settle.',
    rules: ['S11'],
  },
  KubeletUnclear: {
    in: ['refusal'],
    cause: 'kubelet',
    means: 'this host has several kubelets that could be meant, or one that has no API server',
    next: 'Name one with --root-dir and --node; start a kubelet without API server with --kubeconfig: until then volctl can only report here.',
    rules: ['S8'],
  },
  KubeletNotStopped: {
    in: ['refusal'],
    cause: 'kubelet',
    means:
      '--stop-kubelet is refused: the kubelet has no unit, the unit would not stay stopped or runs more than the kubelet, or systemd set no timer that starts the kubelet again',
    next: 'See what the message says, or stop and start the kubelet yourself, around: volctl apply',
    rules: ['S35'],
  },
  NoTimeLeft: {
    in: ['outcome'],
    cause: 'kubelet',
    means: 'the operation was not begun: it could not end before the kubelet has to run again',
    remedy: 'Run the same command again, or with a longer --max-downtime.',
    rules: ['S35'],
  },
  KubeletNotStarted: {
    in: ['error'],
    means: "the kubelet's unit did not start again after the apply",
    next: 'See why (journalctl -u UNIT). systemd tries once more when --max-downtime is over.',
    rules: ['S35'],
  },
  VersionUntested: {
    in: ['problem'],
    cause: 'kubelet',
    means: 'volctl was not tried with the version of the kubelet on this node',
    remedy: 'Compare the plan with findmnt, and apply one pod or volume at a time (--pod, --volume).',
  },
  WrongMachine: {
    in: ['refusal'],
    cause: 'machine',
    means: 'the Node object does not exist, or is not shown to describe this machine',
    next: 'Check --context, --kubeconfig and --node: another cluster may have a node of the same name. If this is the machine all the same, repeat the id that the message names with --accept-identity.',
    rules: ['S1'],
  },
  IdentityAccepted: {
    in: ['problem'],
    cause: 'machine',
    means: "an id of the Node object is not this host's, and was accepted with --accept-identity",
    next: 'Nothing, if the plan is about the right machine.',
    rules: ['S1', 'S31'],
  },
  OtherNode: {
    in: ['refusal', 'error'],
    cause: 'machine',
    means: '--node is not what the kubelet here calls itself, or the plan was made on another node or machine',
    next: 'Check --node, or apply the plan on the node that it was made on.',
    rules: ['S1'],
  },
  OtherCluster: {
    in: ['outcome', 'error'],
    cause: 'unread',
    means: 'another API server answers than when the plan was made, or the command began',
    remedy: 'Give the kubeconfig and context of the cluster that the plan was made for.',
    rules: ['S1'],
  },
  NodeMissing: {
    in: ['problem', 'outcome'],
    cause: 'missing',
    means: 'the Node object does not exist: it was deleted, or a pod is scheduled to one that is not there',
    many: (n) => `${n} pods are scheduled to nodes that do not exist: their volumes stay attached there`,
    next: 'Plan again. What a pod of that node has is not detached before the pod is deleted: once the machine is off: kubectl delete pod -n NAMESPACE NAME --force',
    rules: ['S21', 'S22', 'N55'],
  },
  NodeNotReady: {
    in: ['waiting', 'problem', 'outcome'],
    cause: 'machine',
    ofNode: true,
    means:
      'the node is not ready, or is tainted out-of-service, and then the controller detaches what is mounted there',
    many: (n) => `${n} nodes are not ready, or are tainted out-of-service`,
    next: 'Stop what uses the volumes; once the node can be trusted again: kubectl taint node NAME node.kubernetes.io/out-of-service-',
    rules: ['S22'],
  },
  WrongNamespace: {
    in: ['outcome', 'refusal', 'error'],
    cause: 'machine',
    means:
      'volctl does not stand where the kubelet does: another user, PID, mount or network namespace, a chroot, or a --host-root that is not the whole node',
    next: 'Run volctl as root of the host itself, or in a Pod as deploy/node-pod.yaml has it (hostPID, hostNetwork, privileged, --host-root).',
    rules: ['S7', 'S6'],
  },
  NoNodeHere: {
    in: ['error'],
    means: 'this machine is no node: there is no kubelet here',
    remedy:
      'Run volctl on the node, or give a snapshot of the node with --snapshot; --cluster reads the API server alone.',
  },
  NotBelieved: {
    in: ['problem', 'outcome', 'refusal', 'error'],
    cause: 'unread',
    means:
      'someone other than root could have changed a file, a program or a process, so that it is not believed, run or obeyed',
    next: 'Let root own it, and let nobody else write to it or to a directory above it; then plan again.',
    rules: ['S32', 'S33'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

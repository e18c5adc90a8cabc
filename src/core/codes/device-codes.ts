/** Disks, sessions and attachments. */
import type { CodeEntry } from './code-entry.ts'

export const DEVICE_CODES = {
  NotAttached: {
    in: ['waiting', 'outcome'],
    means: 'the volume has to be attached to this node first, and is not',
    next: "The attach/detach controller attaches it. See the pod's events: kubectl describe pod -n NAMESPACE NAME",
    rules: ['S22'],
  },
  NotReportedInUse: {
    in: ['waiting', 'outcome'],
    means: 'the volume is attached, and node.status.volumesInUse, which only the kubelet writes, does not list it',
    next: 'Start the kubelet: the controller may detach a volume that is not reported in use.',
    rules: ['S22'],
  },
  AttachmentDeleting: {
    in: ['waiting', 'problem', 'outcome'],
    means: 'the VolumeAttachment is being deleted',
    next: "If the volume is mounted here, stop what uses it. The driver's external attacher ends the deletion: see its log.",
    rules: ['S22'],
  },
  AttachmentChanged: {
    in: ['outcome'],
    means: 'the VolumeAttachment is not the one that the plan was made on, or was changed since',
    next: 'Plan again.',
    rules: ['S26'],
  },
  AttachabilityUnknown: {
    in: ['waiting'],
    means: 'the CSIDriver object could not be read, so that nobody knows whether the volume has to be attached',
    next: 'Use a credential that may read csidrivers (--kubeconfig).',
    rules: ['S3', 'S22'],
  },
  ControllerActs: {
    in: ['waiting'],
    means: 'the attach/detach controller acts next',
    next: 'Wait for the controller; if nothing happens, look at its log and at the VolumeAttachment.',
    rules: ['S21'],
  },
  StillOnRecord: {
    in: ['waiting'],
    means: 'something of the volume is still on this node, and no operation of the plan takes it away',
    next: 'Find out what it is (findmnt) and who needs it; undo it, then plan again.',
    rules: ['S21'],
  },
  NotManaged: {
    in: ['blocked', 'waiting', 'problem'],
    means: "the attach/detach controller does not manage this node's attachments",
    next: "For CSI volumes set enableControllerAttachDetach: true in the kubelet's configuration, and start the kubelet.",
    rules: ['N9', 'S21'],
  },
  SecondVolume: {
    in: ['blocked'],
    means: 'another PersistentVolume is behind the same VolumeAttachment, or may be',
    next: 'Remove the second PersistentVolume, or use a credential that may list persistentvolumes (--kubeconfig).',
    rules: ['S21'],
  },
  MountedButNotAttached: {
    in: ['problem'],
    means: 'a volume is mounted here and not attached to this node: another node may write to it',
    next: 'Stop what uses the volume here before anything else; then let the controller attach it again.',
  },
  MountedButNotInUse: {
    in: ['problem'],
    means: 'a volume is mounted here and not reported in use: the controller may detach it under the mount',
    next: 'Start the kubelet, which reports it, or unmount the volume.',
  },
  MultiAttach: {
    in: ['problem'],
    means: 'a pod waits for a volume that is attached to another node (Multi-Attach error)',
    next: 'End the pod on the other node, or detach the volume there; the hint of the problem names that node.',
    rules: ['S30'],
  },
  TwoWriters: {
    in: ['blocked', 'problem'],
    means: 'the volume is in use here and attached elsewhere, or two pods have it, against its access mode',
    next: 'Decide which node or pod may have the volume, and end the pods of the other.',
    rules: ['S30'],
  },
  AccessMode: {
    in: ['waiting', 'outcome'],
    means: 'the access mode does not allow the volume for a second pod or node',
    next: 'End the pod that has the volume, here or on the other node; then plan again.',
    rules: ['S22', 'S30'],
  },
  NameWithoutVolume: {
    in: ['problem'],
    means: "the node's status names a volume, and nothing on this node belongs to that volume",
    next: 'If a kubelet runs, restart it: it looks at the node again. Else the controller removes the name.',
  },
  DeviceUnknown: {
    in: ['outcome'],
    means: "the volume's device could not be found, so that nobody can say that the device is free",
    next: 'Find out which device it was (lsblk): volctl apply --device VOLUME=/dev/NAME or volctl apply --device VOLUME=none',
    rules: ['S21'],
  },
  DeviceMissing: {
    in: ['outcome'],
    means: 'a disk of the volume did not appear on this node',
    next: 'Check that the storage exports it to this host (lsscsi -t; iscsiadm -m session -P 3); then plan again.',
    rules: ['S25'],
  },
  ForeignDevice: {
    in: ['outcome'],
    means: "a device is not this volume's, or not of the kind that the kubelet makes",
    next: 'Find out what it is (ls -l /dev/disk/by-path; lsblk), release it yourself if need be, and plan again.',
    rules: ['S21', 'S25'],
  },
  SessionUnknown: {
    in: ['outcome'],
    means: 'which iSCSI session belongs to the volume is unknown',
    next: 'Compare iscsiadm -m session -P 3; log out by hand, then remove the directory.',
    rules: ['S25'],
  },
  SessionLeft: {
    in: ['outcome'],
    means: 'an iSCSI session is still there after the log-out',
    next: 'End the session by hand (iscsiadm -m session -r NUMBER -u); then plan again.',
    rules: ['S25'],
  },
  LoginFailed: {
    in: ['outcome'],
    means: 'the iSCSI log-in failed',
    next: 'Check that iscsid runs, and that the portal answers and admits this initiator; then plan again.',
    rules: ['S25'],
  },
  NoFileSystem: {
    in: ['outcome'],
    means: 'nothing recognisable is on the device, and volctl makes no file system',
    next: 'Make sure that it is the right device and that nothing on it is needed; then run mkfs yourself.',
    rules: ['S15'],
  },
  PartitionTable: {
    in: ['outcome'],
    means: 'the device has a partition table where a file system is wanted',
    next: 'Look at the device (lsblk); let the PersistentVolume name the partition, then plan again.',
    rules: ['S15'],
  },
  HasFilesystemErrors: {
    in: ['outcome'],
    means: 'fsck left errors on the device',
    next: 'Make a copy of the device, then repair it yourself (fsck).',
    rules: ['S15'],
  },
  FilesystemMismatch: {
    in: ['outcome'],
    means: 'the file system on the device is of another type than the volume says',
    next: "If the data is the volume's, correct fsType in the PersistentVolume; then plan again.",
    rules: ['S15'],
  },
  ExpandFailed: {
    in: ['outcome'],
    means: 'the file system could not be grown to the size of its device',
    next: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

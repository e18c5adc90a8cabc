/** Disks, sessions and attachments. */
import type { CodeEntry } from './code-entry.ts'

export const DEVICE_CODES = {
  DeviceUnknown: {
    in: ['outcome'],
    cause: 'device',
    means: "the volume's device could not be found, so that nobody can say that the device is free",
    next: 'Find out which device it was (lsblk): volctl apply --device VOLUME=/dev/NAME or volctl apply --device VOLUME=none',
    rules: ['S21'],
  },
  DeviceMissing: {
    in: ['outcome'],
    cause: 'device',
    means: 'a disk of the volume did not appear on this node',
    next: 'Check that the storage exports it to this host (lsscsi -t; iscsiadm -m session -P 3); then plan again.',
    rules: ['S25'],
  },
  ForeignDevice: {
    in: ['outcome'],
    cause: 'foreign',
    means: "a device is not this volume's, or not of the kind that the kubelet makes",
    next: 'Find out what it is (ls -l /dev/disk/by-path; lsblk), release it yourself if need be, and plan again.',
    rules: ['S21', 'S25'],
  },
  SessionUnknown: {
    in: ['outcome'],
    cause: 'device',
    means: 'which iSCSI session belongs to the volume is unknown',
    next: 'Compare iscsiadm -m session -P 3; log out by hand, then remove the directory.',
    rules: ['S25'],
  },
  SessionLeft: {
    in: ['outcome'],
    cause: 'in-use',
    means: 'an iSCSI session is still there after the log-out',
    next: 'End the session by hand (iscsiadm -m session -r NUMBER -u); then plan again.',
    rules: ['S25'],
  },
  LoginFailed: {
    in: ['outcome'],
    cause: 'device',
    means: 'the iSCSI log-in failed',
    next: 'Check that iscsid runs, and that the portal answers and admits this initiator; then plan again.',
    rules: ['S25'],
  },
  NoFileSystem: {
    in: ['outcome'],
    cause: 'device',
    means: 'nothing recognisable is on the device, and volctl makes no file system',
    next: 'Make sure that it is the right device and that nothing on it is needed; then run mkfs yourself.',
    rules: ['S15'],
  },
  PartitionTable: {
    in: ['outcome'],
    cause: 'device',
    means: 'the device has a partition table where a file system is wanted',
    next: 'Look at the device (lsblk); let the PersistentVolume name the partition, then plan again.',
    rules: ['S15'],
  },
  HasFilesystemErrors: {
    in: ['outcome'],
    cause: 'device',
    means: 'fsck left errors on the device',
    next: 'Make a copy of the device, then repair it yourself (fsck).',
    rules: ['S15'],
  },
  FilesystemMismatch: {
    in: ['outcome'],
    cause: 'device',
    means: 'the file system on the device is of another type than the volume says',
    next: "If the data is the volume's, correct fsType in the PersistentVolume; then plan again.",
    rules: ['S15'],
  },
  ExpandFailed: {
    in: ['outcome'],
    cause: 'device',
    means: 'the file system could not be grown to the size of its device',
    next: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

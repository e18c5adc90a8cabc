/** Disks and sessions. */
import type { CodeEntry } from './code-entry.ts'

export const DEVICE_CODES = {
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
    next: 'Find out what it is (ls -l /dev/disk/by-path; lsblk), release it yourself if need be, and plan again.',
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
    next: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

/** CSI and flexVolume drivers, and which volume a directory is of. */
import type { CodeEntry } from './code-entry.ts'

export const DRIVER_CODES = {
  DriverUnavailable: {
    in: ['blocked', 'waiting', 'problem'],
    cause: 'driver',
    means: 'a driver is not registered or not installed here, or its socket does not answer',
    next: "Bring the driver's node plugin back (its DaemonSet; a flexVolume's program), and look at its log. If it is gone for good: volctl plan --driver-gone NAME",
    rules: ['S16', 'P87'],
  },
  DriverRegistration: {
    in: ['problem'],
    cause: 'driver',
    means: "a driver's registration is not what it should be: in the CSINode, at one socket, in its own directory",
    next: "Look at the driver's registrar and at its sockets in plugins_registry: the message says what does not fit.",
  },
  DriverGone: {
    in: ['problem'],
    cause: 'driver',
    means: 'a driver was declared gone (--driver-gone), so that its calls are not made',
    next: 'Close by hand what the driver would close: LUKS mappings, sessions, multipath maps.',
    rules: ['S16'],
  },
  DriverRefused: {
    in: ['outcome'],
    cause: 'driver',
    means: 'the driver refused the call',
    next: 'Look at the words of the driver and at its log; correct what it names, then plan again.',
    rules: ['C3'],
  },
  DriverFailed: {
    in: ['outcome'],
    cause: 'driver',
    means: 'a driver failed, or did not do what it answered',
    next: "Look at the driver's log; then plan again.",
    rules: ['C3', 'S16', 'C17'],
  },
  OperationPending: {
    in: ['outcome'],
    cause: 'driver',
    means: 'the driver has another call for the same volume at work',
    next: 'Apply again in a while.',
    rules: ['C3', 'C119'],
  },
  VolumeNotFound: {
    in: ['outcome'],
    cause: 'driver',
    means: 'the driver does not know the volume',
    next: "Compare the PersistentVolume's volumeHandle with the storage system.",
    rules: ['C3'],
  },
  CsiDriverUnknown: {
    in: ['blocked', 'waiting'],
    cause: 'unread',
    means: 'the CSIDriver object could not be read',
    next: 'Use a credential that may read csidrivers (--kubeconfig); then plan again.',
    rules: ['S3', 'S22'],
  },
  OtherVolume: {
    in: ['blocked', 'problem'],
    cause: 'identity',
    means: 'another volume is in the place of this one, by its state file or by what is mounted',
    next: 'Take the other volume down first: end the pods that use it, plan again, and apply.',
    rules: ['S5', 'S17'],
  },
  IdentityUnconfirmed: {
    in: ['blocked'],
    cause: 'identity',
    means: 'which volume this is could not be confirmed: driver, handle or disk is not proven',
    next: 'Check the handle in the storage system; then: volctl plan --handle VOLUME=HANDLE; for disks compare lsblk and /dev/disk.',
    rules: ['S17', 'S25'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

/** CSI and flexVolume drivers, and which volume a directory is of. */
import type { CodeEntry } from './code-entry.ts'

export const DRIVER_CODES = {
  DriverNotRegistered: {
    in: ['blocked', 'waiting'],
    means: 'the CSI driver does not answer on this node',
    next: "Bring the driver's node pod back (its DaemonSet). If it is gone for good: volctl plan --driver-gone NAME",
    rules: ['S16'],
  },
  DriverMissing: {
    in: ['problem'],
    means: 'the CSI driver of a mounted volume is not registered on this node',
    next: "Bring the driver's node pod back: see whether its DaemonSet runs on this node.",
    rules: ['S16'],
  },
  DriverNotInCsiNode: {
    in: ['problem'],
    means: 'the CSI driver answers, and the CSINode object of this node does not list it',
    next: "Look at the registrar container of the driver's node pod, and restart it.",
  },
  DriverGone: {
    in: ['problem'],
    means: 'a driver was declared gone (--driver-gone), so that its calls are not made',
    next: 'Close by hand what the driver would close: LUKS mappings, sessions, multipath maps.',
    rules: ['S16'],
  },
  DriverDead: {
    in: ['problem'],
    means: 'a CSI driver is registered and cannot be called',
    next: "Bring the driver's node pod back; look at the log of its driver container.",
  },
  DriverSocketSilent: {
    in: ['problem'],
    means: 'nobody answers behind a socket where a CSI driver would listen',
    next: "Bring the driver's node pod back, or remove the socket if the driver is gone.",
  },
  DriverSocketTwice: {
    in: ['problem'],
    means: 'one CSI driver has two sockets, and this is not the one that is called',
    next: "Remove the socket of the driver's former installation.",
  },
  DriverNotKnown: {
    in: ['problem'],
    means: 'a CSI driver answers, and is not registered with the kubelet',
    next: "Look at the registrar container of the driver's node pod.",
  },
  DriverEndpointOutside: {
    in: ['problem'],
    means: "a CSI driver listens outside the kubelet's root directory",
    next: 'Nothing, if the driver is installed like that on purpose.',
  },
  DriverLeftMount: {
    in: ['outcome'],
    means: 'the driver answered OK and left the mount in place',
    next: "Look at the driver's log; nothing was removed.",
    rules: ['S16'],
  },
  DriverRefused: {
    in: ['outcome'],
    means: 'the driver refused the call',
    next: 'Look at the words of the driver and at its log; correct what it names, then plan again.',
    rules: ['C3'],
  },
  DriverFailed: {
    in: ['outcome'],
    means: 'the driver failed',
    next: "Look at the driver's log; then plan again.",
    rules: ['C3'],
  },
  VolumeNotFound: {
    in: ['outcome'],
    means: 'the driver does not know the volume',
    next: "Compare the PersistentVolume's volumeHandle with the storage system.",
    rules: ['C3'],
  },
  OperationPending: {
    in: ['outcome'],
    means: 'the driver has another call for the same volume at work',
    next: 'Apply again in a while.',
    rules: ['C3', 'C119'],
  },
  NothingMounted: {
    in: ['outcome'],
    means: 'the driver answered OK and mounted nothing',
    next: "Look at the driver's log, and whether its pod mounts the kubelet's directory with Bidirectional propagation.",
    rules: ['C17'],
  },
  MissingField: {
    in: ['error'],
    means: 'a call to a CSI driver lacks a field that CSI requires; nothing was sent',
    next: 'Look at the PersistentVolume for an empty field; else report it as a defect of volctl.',
  },
  CsiDriverUnknown: {
    in: ['blocked'],
    means: 'the CSIDriver object could not be read',
    next: 'Use a credential that may read csidrivers (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
  LifecycleMode: {
    in: ['blocked'],
    means: 'the CSIDriver object does not allow volumes of this kind',
    next: "Install the driver's CSIDriver object as its maker provides it.",
  },
  FlexDriverMissing: {
    in: ['blocked'],
    means: 'the driver of a flexVolume is not installed on this node',
    next: "Install it in the kubelet's volumePluginDir. If it is gone for good: volctl plan --driver-gone NAME",
    rules: ['S16', 'P87'],
  },
  SecretOnCommandLine: {
    in: ['blocked'],
    means: 'the flexVolume driver takes secrets on its command line, where every process can read them',
    next: 'Start the kubelet: it mounts the volume.',
  },
  OtherVolume: {
    in: ['blocked', 'problem'],
    means: 'another volume is in the place of this one, by its state file or by what is mounted',
    next: 'Take the other volume down first: end the pods that use it, plan again, and apply.',
    rules: ['S5', 'S17'],
  },
  IdentityUnconfirmed: {
    in: ['blocked'],
    means: 'which volume this is could not be confirmed: driver, handle or disk is not proven',
    next: 'Check the handle in the storage system; then: volctl plan --handle VOLUME=HANDLE; for disks compare lsblk and /dev/disk.',
    rules: ['S17', 'S25'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

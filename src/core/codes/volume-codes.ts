/** What a pod or a PersistentVolume asks for, and what stands in the way of that. */
import type { CodeEntry } from './code-entry.ts'

export const VOLUME_CODES = {
  NotAsked: {
    in: ['blocked'],
    means: 'the operation is done only when it is asked for',
    next: 'To ask for it: volctl apply --remount or volctl apply --expand',
    rules: ['S23'],
  },
  UnresolvedVolume: {
    in: ['blocked', 'problem'],
    means: 'a volume of an existing pod could not be resolved; what is to be undone may be that volume',
    next: 'Use a credential that may read its claim and PersistentVolume, or repair them; then plan again.',
    rules: ['S4'],
  },
  VolumeUnresolved: {
    in: ['waiting'],
    means: 'the volume that the pod wants could not be resolved',
    next: 'Use a credential that may read its claim and PersistentVolume, or repair them; then plan again.',
    rules: ['S4'],
  },
  MayBeInUse: {
    in: ['blocked'],
    means: 'a running pod has volumes that could not be identified; this may be one of them',
    next: 'Stop the containers of that pod, or restore what is lost; then plan again.',
    rules: ['S9', 'S21'],
  },
  ClaimMissing: {
    in: ['waiting'],
    means: 'the claim or its PersistentVolume does not exist',
    next: 'Create the claim again, or delete the pod.',
    rules: ['S4'],
  },
  ClaimUnbound: {
    in: ['waiting'],
    means: 'the claim is not bound to a PersistentVolume yet',
    next: "See the claim's events: kubectl describe pvc -n NAMESPACE NAME",
    rules: ['S4'],
  },
  BeingDeleted: {
    in: ['problem'],
    means: 'the claim or PersistentVolume of a mounted volume is being deleted, and goes when nobody uses it any more',
    next: 'Before the pod ends, copy what is needed, or set persistentVolumeReclaimPolicy: Retain.',
  },
  VolumeNotBound: {
    in: ['problem'],
    means: 'the PersistentVolume of a mounted volume is released, or has failed',
    next: 'Look at it (kubectl describe pv) before the pod is started again.',
  },
  NodeAffinity: {
    in: ['blocked'],
    means: "the PersistentVolume's node affinity does not match this node",
    next: 'Delete the pod, so that it is scheduled to another node.',
  },
  PluginRemoved: {
    in: ['blocked'],
    means: 'neither Kubernetes nor volctl has this volume plugin any more',
    next: 'Move the pod to a kind of volume that Kubernetes still has.',
  },
  NotMigrated: {
    in: ['blocked', 'problem'],
    means: 'the kubelet of this node mounts the volume itself, and does not leave its in-tree plugin to a CSI driver',
    next: 'Start the kubelet: it mounts the volume.',
  },
  InvalidSource: {
    in: ['blocked'],
    means: "a name in the volume's source may not be handed to a program, or become a path",
    next: 'Correct the source of the volume; then plan again.',
  },
  ChapNotSupported: {
    in: ['blocked'],
    means: 'the iSCSI target asks for a password, which iscsiadm would take on its command line',
    next: 'Start the kubelet: it mounts the volume.',
  },
  UnknownMedium: {
    in: ['blocked'],
    means: 'an emptyDir asks for a medium that does not exist',
    next: 'Create the pod again with the medium "", Memory, HugePages or HugePages-SIZE.',
  },
  HugePagesUnclear: {
    in: ['blocked'],
    means: 'the pod does not say clearly which huge pages an emptyDir is to use',
    next: 'Create the pod again, with a request for huge pages of one size that fits the medium.',
  },
  InvalidQuantity: {
    in: ['blocked'],
    means: 'a size in the volume is not a quantity',
    next: 'Create the pod again, with a size such as 512Mi.',
  },
  HostPathType: {
    in: ['blocked'],
    means: 'what is at the path of a hostPath volume is not of the type that the volume asks for',
    next: 'Look at the path on this node; correct it or the type in the pod, then plan again.',
  },
  SELinuxLabelUnclear: {
    in: ['blocked'],
    means: 'it is not clear with which SELinux label the volume has to be mounted',
    next: 'Start the kubelet: it mounts the volume.',
    rules: ['C68'],
  },
  SELinuxMismatch: {
    in: ['blocked', 'problem'],
    means: 'the volume is mounted or staged, or another pod gets it, with another SELinux label',
    next: 'Give the pods the same seLinuxOptions and seLinuxChangePolicy, or delete one of them.',
    rules: ['C68'],
  },
  GlobalMountGone: {
    in: ['problem'],
    means: "a pod's volume is mounted, and the global mount that it was made from is gone",
    next: 'Nothing by hand: a kubelet that starts has the driver stage the volume again.',
    rules: ['O1'],
  },
  PluginMissing: {
    in: ['waiting'],
    means: 'the kubelet of this node has no plugin for a volume: its version or a feature gate says so',
    next: 'Turn the feature gate on and restart the kubelet, or run the pod on a node with a newer kubelet.',
    rules: ['O44'],
  },
  BlockUnsupported: {
    in: ['blocked'],
    means: 'the PersistentVolume is a raw block device (volumeMode Block), and its plugin does not offer those',
    next: 'Create the PersistentVolume and its claim again, with volumeMode Filesystem.',
  },
  MountOptionsUnsupported: {
    in: ['blocked'],
    means: 'the PersistentVolume has mount options, and its plugin takes none',
    next: 'Remove mountOptions, or the annotation in their place, from the PersistentVolume.',
  },
  ContentMissing: {
    in: ['blocked'],
    means: 'an object or key that fills the volume does not exist',
    next: 'Create it, or mark it as optional; the kubelet waits for it as well.',
  },
  ContentInvalid: {
    in: ['blocked'],
    means: 'the volume asks for content that the kubelet refuses to write',
    next: 'Correct the volume in the pod.',
  },
  ContentUnknown: {
    in: ['blocked'],
    means: 'what fills the volume could not be read from the API',
    next: 'Use a credential that may read it (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
  LeftToKubelet: {
    in: ['blocked'],
    means: 'only the kubelet can make what the volume holds',
    next: 'Start the kubelet: it fills the volume.',
  },
  SecretMissing: {
    in: ['outcome'],
    means: 'a secret that the volume needs does not exist, or cannot be sent to its driver',
    next: 'Create or correct the secret, or correct the volume; then plan again.',
  },
  SecretUnreadable: {
    in: ['outcome'],
    means: 'a secret or token that the volume needs could not be read',
    next: 'Use a credential that may read it (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

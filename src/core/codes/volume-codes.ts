/** What a pod or a PersistentVolume asks for, and what stands in the way of that. */
import type { CodeEntry } from './code-entry.ts'

export const VOLUME_CODES = {
  NotAsked: {
    in: ['blocked'],
    cause: 'asked',
    onRequest: true,
    means: 'the operation is done only when it is asked for',
    next: 'To ask for it: volctl apply --remount or volctl apply --expand',
    rules: ['S23'],
  },
  VolumeUnresolved: {
    in: ['waiting'],
    cause: 'missing',
    means: 'the volume that the pod wants could not be resolved',
    next: 'Use a credential that may read its claim and PersistentVolume, or repair them; then plan again.',
    rules: ['S4'],
  },
  MayBeInUse: {
    in: ['blocked', 'problem'],
    cause: 'in-use',
    means: 'a volume of a pod could not be resolved or identified; what is to be undone may be that volume',
    next: 'Use a credential that may read its claim and PersistentVolume, or repair them; or stop the containers of that pod; then plan again.',
    rules: ['S9', 'S21', 'S4'],
  },
  ClaimMissing: {
    in: ['waiting'],
    cause: 'missing',
    means: 'the claim or its PersistentVolume does not exist',
    next: 'Create the claim again, or delete the pod.',
    rules: ['S4'],
  },
  ClaimUnbound: {
    in: ['waiting', 'problem'],
    cause: 'missing',
    means: 'the claim is not bound to a PersistentVolume yet, or its PersistentVolume is released or has failed',
    next: 'See the events of both: kubectl describe pvc -n NAMESPACE NAME; kubectl describe pv NAME',
    rules: ['S4'],
  },
  BeingDeleted: {
    in: ['problem'],
    cause: 'missing',
    means: 'a claim or PersistentVolume is being deleted, and goes when nothing uses it any more',
    next: 'Before the last pod ends, copy what is needed, or set persistentVolumeReclaimPolicy: Retain. To let it go, end what the message names.',
    rules: ['R113'],
  },
  NodeAffinity: {
    in: ['blocked'],
    cause: 'volume',
    means: "the PersistentVolume's node affinity does not match this node",
    next: 'Delete the pod, so that it is scheduled to another node.',
  },
  PluginUnsupported: {
    in: ['blocked'],
    cause: 'volume',
    means: 'nothing here has this volume plugin, or the plugin takes no block devices or no mount options',
    next: 'Give the pod a kind of volume that Kubernetes still has, or correct volumeMode or mountOptions of the PersistentVolume: the message says which.',
  },
  PluginMissing: {
    in: ['waiting'],
    cause: 'kubelet',
    means: 'the kubelet of this node has no plugin for a volume: its version or a feature gate says so',
    next: 'Turn the feature gate on and restart the kubelet, or run the pod on a node with a newer kubelet.',
    rules: ['O44'],
  },
  LeftToKubelet: {
    in: ['blocked', 'waiting', 'problem'],
    cause: 'kubelet',
    means:
      'only the kubelet sets up this volume: iSCSI, Fibre Channel and flexVolume, some content, or a plugin that is not migrated to CSI',
    next: 'Start the kubelet: it sets up the volume.',
  },
  InvalidVolume: {
    in: ['blocked', 'error'],
    cause: 'volume',
    means:
      'the volume is described in a way that the kubelet or the driver does not take: a name, a size, a medium, a field, a kind, content',
    next: "Correct the volume in the pod, the PersistentVolume or the driver's CSIDriver object, as the message says; then plan again.",
  },
  HostPathType: {
    in: ['blocked'],
    cause: 'volume',
    means: 'what is at the path of a hostPath volume is not of the type that the volume asks for',
    next: 'Look at the path on this node; correct it or the type in the pod, then plan again.',
  },
  SELinuxMismatch: {
    in: ['blocked', 'problem'],
    cause: 'volume',
    means:
      'the volume is mounted or staged, or another pod gets it, with another SELinux label, or it is not clear with which',
    next: 'Give the pods the same seLinuxOptions and seLinuxChangePolicy, or delete one of them. If the label is not clear, start the kubelet.',
    rules: ['C68'],
  },
  GlobalMountGone: {
    in: ['problem'],
    cause: 'kubelet',
    means: "a pod's volume is mounted, and the global mount that it was made from is gone",
    next: 'Nothing by hand: a kubelet that starts has the driver stage the volume again.',
    rules: ['O1'],
  },
  ContentMissing: {
    in: ['blocked'],
    cause: 'missing',
    means: 'an object or key that the volume needs does not exist, or cannot be sent to its driver',
    next: 'Create or correct it, or mark it as optional; the kubelet waits for it as well.',
  },
  ContentUnknown: {
    in: ['blocked'],
    cause: 'unread',
    means: 'what fills the volume, or a secret or token that it needs, could not be read from the API',
    next: 'Use a credential that may read it (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

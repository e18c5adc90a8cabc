/** Config maps, secrets and tokens; and the driver that is not there. */
import { row, type Sentence } from './sentence.ts'

export const CONTENT = {
  ContentNotFound: {
    says: [
      'references non-existent',
      'configmap * not found',
      'secret * not found',
      'configmaps * not found',
      'secrets * not found',
      'couldnt find key',
      'references nonexistent',
    ],
    by: ['kubelet'],
    means: 'A volume of the pod, or a driver, needs a config map or secret that does not exist, or that lacks the key.',
    why: 'It was never made, is in another namespace, has another name, or its key was renamed after the pod was written.',
    next: 'kubectl get configmap,secret in the namespace of the pod. Once the object and key exist, the kubelet mounts the volume within two minutes.',
    volctl:
      "Blocks this one operation (ContentMissing), as for a driver's secret; the pod's other volumes are mounted.",
    codes: ['ContentMissing', 'InvalidVolume'],
    rules: ['P51', 'P52'],
    about: 'pod',
  },
  // Both stand in one list of errors, and this one is the cause.
  AttachmentUnreadable: row(
    'get error for volume attachment | volumeattachments … no relationship found between node | watch error … volume attachment | volumeattachments.storage.k8s.io … not found',
    'The kubelet or attacher could not read the VolumeAttachment of the volume: it is gone, or for the API server it is not of this node.',
    'kubectl get volumeattachments | grep the volume. If there is none, the attach/detach controller has to make one: its log, and whether the Node object was deleted and made again.',
    { codes: ['NotAttached', 'AttachmentDeleting'], rules: ['C41'] },
  ),
  TokenRefused: {
    says: [
      'failed to fetch token',
      'failed to fetch token … failed to sync configmap cache',
      'user system:node … cannot create resource serviceaccounts/token',
      'no relationship found between node',
      'serviceaccounts … is forbidden: user system:node',
      'serviceaccount … token … unauthorized',
      'node deny',
      'cannot get unknown pod',
    ],
    by: ['kubelet'],
    means: "The API server gave the kubelet no token of the pod's service account, or refused to show it an object.",
    why: 'For the API server no pod of this node refers to it: the pod was deleted or made again (another UID), it is new, or the service account is gone.',
    next: 'kubectl get serviceaccount and the pod, with its UID. If the pod is gone, the line soon ends; else compare the node name of the kubeconfig with the Node.',
    volctl: 'Asks for its own token where a set-up needs one; a refusal is named (Forbidden) and changes nothing.',
    codes: ['Forbidden', 'Unauthorized', 'ContentUnknown'],
    rules: ['N31', 'N32', 'N33', 'P53'],
    about: 'pod',
  },
  ContentNotSynced: {
    says: [
      'failed to sync configmap cache',
      'failed to sync secret cache',
      'couldnt propagate object cache',
      'object … not registered',
      'secret … not registered',
      'configmap … not registered',
    ],
    by: ['kubelet'],
    means:
      'The kubelet does not have the config map or secret yet: its own copy was not filled in time, or it no longer watches it.',
    why: 'Right after a start of the kubelet or of the pod this is normal. If it stays: the API server answers slowly or not at all. After the end of a pod it means nothing.',
    next: 'If it repeats for minutes, check that this node reaches the API server: journalctl -u {unit} shows errors of watch and list.',
    volctl: 'Reads config maps itself and compares content; what it could not read is unknown, never missing.',
    codes: ['ContentUnknown', 'ReadFailed'],
    rules: ['S3'],
    about: 'pod',
  },
  DriverNotInList: {
    says: ['driver name … not found in the list of registered csi drivers'],
    by: ['kubelet'],
    means:
      'The CSI driver is not registered with the kubelet of this node, so no volume of it can be mounted or unmounted.',
    why: "The driver's node pod does not run here (not scheduled, crashed, image missing), its registrar failed, or the kubelet was started a minute ago.",
    next: "See the driver's node pod on {node}: kubectl get pods -A -o wide --field-selector spec.nodeName={node}. About a minute after it runs, the kubelet goes on.",
    volctl:
      'Its operations wait or are blocked (DriverUnavailable); volctl plan --driver-gone {driver|NAME} plans as if it were gone for good.',
    codes: ['DriverUnavailable', 'DriverRegistration'],
    rules: ['C29', 'O10', 'O26', 'S16'],
    about: 'driver',
  },
  OwnershipSlow: {
    says: [
      'setting volume ownership for',
      'setting volume ownership could be slow',
      'volumepermissionchangeinprogress',
    ],
    by: ['kubelet'],
    means: "The kubelet changes the group of every file of the volume to the pod's fsGroup, and that takes long.",
    why: 'With fsGroupChangePolicy Always, the default, every start of the pod goes through all files of the volume. Millions of files take minutes to hours.',
    next: 'Wait: stopping it makes it begin again. Set securityContext.fsGroupChangePolicy: OnRootMismatch in the pod, so that the next start is fast.',
    volctl:
      'Makes the same change in a MountVolume, with a time limit (--timeout); while the kubelet runs it leaves this to the kubelet.',
    codes: ['WriteFailed', 'KubeletRunning'],
    rules: ['P31', 'P32', 'C64'],
  },
} as const satisfies Readonly<Record<string, Sentence>>

/** Why an operation is planned. */
import { codes } from './code-entry.ts'

export const REASON_CODES = codes({ in: ['reason'] })({
  PodGone: {
    says: {
      mounted: 'volume {name} is mounted',
      stateFile: 'volume {name} is not mounted, but its state file is left',
      pluginMounted: '{plugin} volume {name} is mounted',
      pluginSetUp: '{plugin} volume {name} is set up',
      pluginLeft: '{plugin} volume {name} is not mounted, but not fully torn down',
      mapped: 'block volume {name} is mapped',
      notMapped: 'block volume {name} is not mapped, but not fully torn down',
      link: 'a link is all that is left of block volume {name}',
    },
    means: 'the pod was deleted from the API, and no sandbox, container or process of it is left',
    rules: ['S3', 'S9'],
  },
  PodFinished: {
    means:
      'the pod is in the API and has ended (deleted, or in a terminal phase), and no container or process of it is left',
    next: 'The directory of the pod stays until the API forgets the pod. Look at the plan; then: `volctl apply`',
    rules: ['S3', 'S9'],
  },
  LeakedSubPath: {
    says: {
      unmounted: 'its volume {name} is not mounted and has no state file, but {left} sub-path mount{plural} left',
      missing: 'the directory of its volume {name} is missing, but {left} sub-path mount{plural} left',
    },
    means:
      'sub-path mounts of a pod that is gone are left, and of their volume no directory, or one without mount and state file',
    rules: ['S18'],
  },
  NotReconstructable: {
    means: 'a pod that is gone left a volume that the kubelet could not reconstruct from its directory',
  },
  DriverAbsentSinceBoot: {
    says: 'driver {driver} is gone, and the state file of the volume is older than this boot',
    means: 'a state file is older than this boot, and its CSI driver left neither a socket nor an attachment here',
    next: 'The content of the state file goes into the journal first. Look at the plan; then: `volctl apply`',
    rules: ['S14'],
  },
  LastPodGone: {
    says: 'its last pod on this node is gone',
    means: 'no pod of this node wants the volume any more, so that its global mount or map can go',
  },
  StagedWithoutPod: {
    says: {
      staged: 'still staged at {path}, but no pod directory refers to it',
      mounted: 'still mounted on {path}, but no pod directory refers to it',
      notMounted: 'no pod on this node wants the volume, which is no longer mounted, but not fully torn down',
      empty: '{path} is an empty directory, left by an unfinished unstage',
      mayBeEmpty: '{path} may be an empty directory, left by an unfinished unstage',
    },
    means: 'the volume is still staged, and no pod directory refers to it: the kubelet has forgotten it',
  },
  MappedWithoutPod: {
    says: {
      setUp: 'still set up at {path}, but no pod directory refers to it',
      empty: '{path} contains only empty directories, left by an unfinished unmap',
      mayBeEmpty: '{path} may contain only empty directories, left by an unfinished unmap',
    },
    means: 'the block volume is still mapped, and no pod directory refers to it: the kubelet has forgotten it',
  },
  NotWanted: {
    says: {
      unused: 'no pod on this node uses the volume; {controller}',
      notInUse: 'no pod wants the volume on node {node}, which does not report the volume in use',
      onNode: 'no pod wants the volume on node {node}',
      lastPodGone: 'its last pod on this node is gone; {controller}',
    },
    means: 'the volume is attached to this node, no pod of this node wants it, and nothing here uses it',
    next: 'The VolumeAttachment is deleted, and the driver detaches. Look at the plan; then: `volctl apply`',
    rules: ['S21'],
  },
  NotMounted: {
    says: {
      pod: 'pod {pod} wants {volumes}, and {why}',
      running: 'pod {pod} wants {volumes}, and {why}; running containers see it only after a restart',
    },
    means: 'the pod wants the volume, and the volume is not mounted for it',
    rules: ['S22'],
  },
  StateFileMissing: {
    says: '{path} is missing; publishing the volume again writes the file',
    means: 'the volume is mounted, and its state file is lost',
    next: 'The file is written again. Look at the plan; then: `volctl apply`',
  },
  ContentDiffers: {
    says: '{difference}; containers that mount the volume by subPath keep the old content until they restart',
    means: 'the content of the volume is not what the API says',
    next: 'Containers that use subPath keep the old content until they restart. To write the new one: `volctl apply --remount`',
    rules: ['S23'],
  },
  CapacityGrew: {
    says: 'PersistentVolume {name} has grown to {to}, but its claim shows {from}',
    means: 'the PersistentVolume is larger than what the node has of it',
    next: 'To grow it here: `volctl apply --expand`',
    rules: ['R455', 'S23'],
  },
  WantedNotAttached: {
    says: {
      pod: 'pod {pod} on node {node} wants the volume, and no VolumeAttachment asks for it',
      pods: 'pod {pod} and {others} more on node {node} want the volume, and no VolumeAttachment asks for it',
    },
    means: 'a pod that is scheduled to the node wants the volume, and no VolumeAttachment asks for it',
    next: 'The VolumeAttachment is created, and the driver attaches. Look at the plan; then: `volctl apply --cluster`',
    rules: ['R742', 'R745'],
  },
  NodeDeleted: {
    says: 'node {node} does not exist, and no pod wants the volume there',
    means: 'the volume is attached to a node whose Node object was deleted',
    next: 'Make sure that the machine is off; then: `volctl apply --cluster`',
    rules: ['R734', 'S3'],
  },
  OutOfService: {
    says: {
      unused: 'node {node} is tainted out-of-service, and no pod wants the volume there',
      inUse:
        'node {node} is tainted out-of-service, and no pod wants the volume there; the node still reports the volume in use',
    },
    means: 'the node has the taint node.kubernetes.io/out-of-service: somebody has made sure that its machine is off',
    next: 'Look at the plan; then: `volctl apply --cluster`',
    rules: ['R731'],
  },
  NodeLost: {
    says: {
      silent:
        'no pod wants the volume on node {node}, which is silent for more than six minutes; the node last reported the volume in use',
      notReady:
        'no pod wants the volume on node {node}, which is not ready and silent for more than six minutes; the node last reported the volume in use',
    },
    means: 'the kubelet of the node has been silent for more than six minutes, with the volume in use',
    next: 'Make sure that the machine is off; then taint the node out-of-service, or: `volctl plan --cluster --node-gone NAME`',
    rules: ['R731'],
  },
  VolumeDeleted: {
    says: 'its PersistentVolume does not exist any more',
    means: 'the PersistentVolume of the VolumeAttachment was deleted, so that a restarted controller overlooks it',
    next: 'Look at the plan; then: `volctl apply --cluster`',
    rules: ['R718', 'R834'],
  },
  InlineNotWanted: {
    says: 'the attachment is of a volume in the spec of a pod that is gone',
    means:
      'the VolumeAttachment is of a volume in the spec of a pod, which a restarted controller overlooks; no pod wants it',
    next: 'Look at the plan; then: `volctl apply --cluster`',
    rules: ['R835', 'R718'],
  },
  HandleWithCaret: {
    says: 'the controller cannot detach a volume with ^ in its handle',
    means: 'the volume handle contains ^, so that the controller can attach the volume and never detach it',
    next: 'Once no pod wants the volume, volctl detaches it: `volctl plan --cluster`',
    rules: ['R738', 'C43'],
  },
  AttachmentNameWrong: {
    says: 'the controller does not know an attachment of this name',
    means:
      'the name of the VolumeAttachment is not the one that follows from its volume and node: the controller never deletes it',
    next: 'Find out who created the attachment. Once no pod wants the volume, volctl deletes one that Kubernetes has named (csi- and a hash): `volctl plan --cluster`; any other: `kubectl delete volumeattachment NAME`',
    rules: ['C33'],
  },
  DriverRemoved: {
    says: 'its driver is gone',
    means: 'no CSIDriver, no CSINode and no attacher knows the driver of the VolumeAttachment: nobody will detach it',
    next: 'Install the driver again: its attacher detaches the volume, and the VolumeAttachment goes. Its finalizer shows that the storage system may still have the volume attached.',
    rules: ['N59'],
  },
})

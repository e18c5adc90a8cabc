/** What was being done when something failed, where no table of a subject has it: events, retries, calls of a driver. */
import { frame } from './sentence.ts'

export const FRAMES = {
  SimilarErrors: frame(
    'there were many similar errors',
    'The kubelet found several errors of one kind in its clean-up of pod directories, and shows one of them.',
    'What err= says is the one that is shown; volctl plan --orphans lists all directories of deleted pods.',
    { by: ['kubelet'], codes: ['OrphanPodDir'], rules: ['R611'], envelope: true },
  ),
  DetachingFailed: frame(
    'detachvolume … failed | failed to detach | error detaching volume | external-attacher of … to detach volume | detachment for volumeattachment | detacher.detach | detacher.waitfordetach failed | failed to start … detachvolume | detachvolume failed to start | detaching volumes from the kubelet is not supported | volume detach … failed | detach failed for',
    'A volume could not be detached from a node.',
    "The end of the line is the storage's reason. On the node: volctl explain on the volume shows what still has it; if nothing does, read the log of the driver's external attacher.",
    {
      by: ['controller', 'driver'],
      codes: ['StillInUse', 'ControllerActs'],
      rules: ['R725', 'S21'],
      volctl:
        'Without a controller deletes the VolumeAttachment (DetachVolume) once nothing on the node uses the volume.',
    },
  ),
  AttacherFailed: frame(
    'error processing csi- | failed to attach: | error in attach | csi_handler … error | failed to sync … volumeattachment | saving attach error | saved attach error | saving detach error | saved detach error',
    "The driver's external attacher could not carry out a VolumeAttachment; it tries again.",
    'kubectl describe volumeattachment {attachment|NAME} has the error and the node that is meant.',
    { by: ['driver'], codes: ['AttachmentFailing'] },
  ),
  OperationFailed: frame(
    'no retries permitted until | unhandled error',
    'An operation failed. Whoever does it tries it again; the kubelet with pauses of up to 2 minutes 2 seconds.',
    'What follows "Error:" is the reason; volctl explain on the volume shows how far it came.',
    { by: ['kubelet', 'controller'], envelope: true },
  ),
  PodNotSynced: frame(
    'error syncing pod | failedsync | failedcreatepodcontainer',
    'The kubelet could not bring the pod to the state that it should have; it tries again.',
    'The reason stands in the line; kubectl describe pod shows the last errors of each volume.',
    { by: ['kubelet'], about: 'pod', envelope: true },
  ),
  PodNotScheduled: frame(
    'nodes are available | failedscheduling | no nodes available to schedule',
    'No node fits the pod: the line counts the reasons, node by node.',
    'Those about volumes count here: affinity of a PersistentVolume, limits of volumes, claims that are not bound. kubectl describe pod shows the newest.',
    { by: ['scheduler'], about: 'pod' },
  ),
  DriverCallFailed: frame(
    'grpc error: rpc error | grpc error: | rpc error: code = | rpc error: | failed to call node | failed to call controller | returned with failed status | grpcerror',
    'A call of a CSI driver failed; whoever called tries it again.',
    "The end of the line is the driver's reason; the lines before it in the driver's log say more.",
    { by: ['driver'], envelope: true },
  ),
  NodePublishFailed: frame(
    'failed to stage | failed to publish | nodepublish | nodestage | nodestagevolume … failed | nodepublishvolume … failed | failed to start … mountvolume',
    'A CSI driver could not stage a volume on the node or mount it for a pod.',
    "The end of the line is the reason; volctl explain on the volume shows how far it came, the driver's log its side.",
    { by: ['driver'], codes: ['DriverFailed'] },
  ),
  NodeUnpublishFailed: frame(
    'failed to unstage | failed to unpublish | nodeunpublish | nodeunstage | nodeunstagevolume … failed | nodeunpublishvolume … failed',
    'A CSI driver could not take a volume down on the node.',
    'The end of the line is the reason; volctl explain on the volume names what still uses it.',
    { by: ['driver'], codes: ['DriverFailed', 'HeldBy'] },
  ),
  ControllerPublishFailed: frame(
    'controllerpublishvolume … failed | controllerpublishvolume | could not attach volume | error attaching | attach volume … failed | attach disk | volume assigning step has failed | hotplug problem',
    'The storage could not attach the volume to the node.',
    "The end of the line is the storage's reason; the log of the driver's controller pod has the whole of it.",
    { by: ['driver'], codes: ['NotAttached'] },
  ),
  ControllerUnpublishFailed: frame(
    'controllerunpublishvolume … failed | controllerunpublishvolume | could not detach volume | failed to detach disk | detach volume … failed',
    'The storage could not detach the volume from the node.',
    "The end of the line is the storage's reason; on the node, volctl plan shows what is still mounted.",
    { by: ['driver'], codes: ['ControllerActs'] },
  ),
  ListFailed: frame(
    'failed to list *v1 | failed to watch *v1 | failed to list | failed to watch *',
    'The program could not follow objects in the API; it tries again.',
    'What follows says why: a right that its role lacks, an API that is not installed, or an API server that does not answer.',
    { envelope: true },
  ),
  LinstorSays: frame(
    'linstor/satellite | linstor/controller | linstor | drbd | drbdadm',
    'LINSTOR or DRBD says this of a resource or node.',
    'linstor resource list and linstor error-reports list have the whole of it; drbdadm status on {node}.',
    { speaker: true },
  ),
  MultipathSays: frame(
    'multipathd: | multipath:',
    'multipathd says this of a disk or of one of its paths.',
    'multipath -ll on {node} shows maps and paths; journalctl -u multipathd the lines around this one.',
    { speaker: true },
  ),
  KernelSays: frame(
    'kernel:',
    'The kernel says this of a device, a file system or itself.',
    'dmesg -T on {node} shows the lines around this one; volctl explain on the device shows which pods use it.',
    { by: ['kernel'], speaker: true },
  ),
  IscsidSays: frame(
    'iscsid:',
    'iscsid says this of a session with an iSCSI target.',
    'iscsiadm -m session -P 3 on {node} shows sessions and disks; journalctl -u iscsid the lines around this one.',
    { speaker: true },
  ),
  ProbeFailed: frame(
    'liveness probe failed | readiness probe failed | startup probe failed | probe errored | kubelet: unhealthy | health check failed | csi driver probe failed | liveness probe … csi',
    'A probe of a pod failed; of a driver that means that its volumes cannot be mounted or unmounted for a while.',
    "What the probe saw is at the end of the line; the pod's own log says more.",
    { about: 'pod' },
  ),
  PodEvicted: frame(
    'evicted | evictionthresholdmet | the node was low on resource | pod … taint manager | taintmanagereviction | marking for deletion pod',
    'A pod was taken off its node: the node lacks disk or memory, or is not ready. Its volumes go once its containers have stopped.',
    'kubectl describe node (Conditions). On a node that is not ready pods keep their volumes until its kubelet, or a person, says that they have ended.',
    { about: 'pod', codes: ['PodStillRunning'] },
  ),
} as const

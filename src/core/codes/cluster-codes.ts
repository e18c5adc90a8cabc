/** Attachments, nodes and drivers as the attach/detach controller sees them: the whole cluster (--cluster). */
import type { CodeEntry } from './code-entry.ts'

export const CLUSTER_CODES = {
  ControllerCameBack: {
    in: ['outcome', 'refusal'],
    means: 'the attach/detach controller lives again, or may live, so that the apply starts nothing more',
    next: 'Let the controller do the rest. What it never does: volctl plan --cluster',
    rules: ['S11'],
  },
  OtherCluster: {
    in: ['error'],
    means: 'the plan was made for another cluster than the one that answers',
    next: 'Give the kubeconfig and context of the cluster that the plan was made for.',
    rules: ['S1'],
  },
  LockLost: {
    in: ['outcome'],
    means:
      'the lease that keeps two applies of a cluster apart could not be renewed, so that the apply starts nothing more',
    next: 'Look at the API server and at the lease volctl-cluster-apply; then: volctl plan --cluster',
  },
  WantedMeanwhile: {
    in: ['outcome'],
    means: 'a pod that wants the volume appeared on the node while its VolumeAttachment was being deleted',
    next: 'Once the attachment is gone, the volume is attached again for the pod: volctl plan --cluster',
    rules: ['S26', 'N59'],
  },
  StillDetaching: {
    in: ['outcome'],
    means: 'the VolumeAttachment was deleted, and its external attacher did not finish within --timeout',
    next: 'Look at the log of the external attacher of the driver, and at the attachment: kubectl describe volumeattachment NAME',
    rules: ['N59'],
  },
  StillAttaching: {
    in: ['outcome'],
    means: 'the VolumeAttachment was created, and its external attacher did not attach within --timeout',
    next: 'Look at the log of the external attacher of the driver, and at the attachment: kubectl describe volumeattachment NAME',
    rules: ['N59'],
  },
  WantedNotAttached: {
    in: ['reason'],
    means: 'a pod that is scheduled to the node wants the volume, and no VolumeAttachment asks for it',
    next: 'The VolumeAttachment is created, and the driver attaches. Look at the plan; then: volctl apply --cluster',
    rules: ['R742', 'R745'],
  },
  NodeDeleted: {
    in: ['reason'],
    means: 'the volume is attached to a node whose Node object was deleted',
    next: 'Make sure that the machine is off; then: volctl apply --cluster',
    rules: ['R734', 'S3'],
  },
  OutOfService: {
    in: ['reason'],
    means: 'the node has the taint node.kubernetes.io/out-of-service: somebody has made sure that its machine is off',
    next: 'Look at the plan; then: volctl apply --cluster',
    rules: ['R731'],
  },
  NodeLost: {
    in: ['reason'],
    means: 'the kubelet of the node has been silent for more than six minutes, with the volume in use',
    next: 'Make sure that the machine is off; then taint the node out-of-service, or: volctl plan --cluster --node-gone NAME',
    rules: ['R731'],
  },
  VolumeDeleted: {
    in: ['reason'],
    means: 'the PersistentVolume of the VolumeAttachment was deleted, so that a restarted controller overlooks it',
    next: 'Look at the plan; then: volctl apply --cluster',
    rules: ['R718', 'R834'],
  },
  InlineNotWanted: {
    in: ['reason'],
    means:
      'the VolumeAttachment is of a volume in the spec of a pod, which a restarted controller overlooks; no pod wants it',
    next: 'Look at the plan; then: volctl apply --cluster',
    rules: ['R835', 'R718'],
  },
  HandleWithCaret: {
    in: ['reason', 'problem'],
    means: 'the volume handle contains ^, so that the controller can attach the volume and never detach it',
    next: 'Once no pod wants the volume, volctl detaches it: volctl plan --cluster',
    rules: ['R738', 'C43'],
  },
  AttachmentNameWrong: {
    in: ['reason', 'problem'],
    means:
      'the name of the VolumeAttachment is not the one that follows from its volume and node: the controller never deletes it',
    next: 'Find out who created the attachment. Once no pod wants the volume, volctl deletes one that Kubernetes has named (csi- and a hash): volctl plan --cluster; any other: kubectl delete volumeattachment NAME',
    rules: ['C33'],
  },
  DriverRemoved: {
    in: ['reason', 'problem'],
    means: 'no CSIDriver, no CSINode and no attacher knows the driver of the VolumeAttachment: nobody will detach it',
    next: 'Install the driver again. If it is gone for good, detach the volume in the storage system; then: volctl plan --cluster --strip-finalizers',
    rules: ['N59'],
  },
  MachineMayWrite: {
    in: ['blocked'],
    means: 'the machine of a node that is gone or silent may still run, and write to the volume',
    next: 'Make sure that the machine is off; then taint the node out-of-service, or: volctl plan --cluster --node-gone NAME',
    rules: ['R731', 'S3'],
  },
  TaintedButReady: {
    in: ['blocked', 'problem'],
    means:
      'the node is tainted out-of-service, and its kubelet says that the node is ready, or is still heard and uses the volume: one of the two is wrong',
    next: 'Stop the machine, or remove the taint: kubectl taint node NAME node.kubernetes.io/out-of-service-',
    rules: ['R731'],
  },
  UseNotReported: {
    in: ['blocked'],
    means:
      'no node reports in use what a driver without attachments has, so that nobody can say that the volume is free',
    next: 'See that the volume is not mounted on the node: kubectl volctl on NODE status; then: kubectl delete volumeattachment NAME',
    rules: ['N62', 'S3'],
  },
  AttachLimit: {
    in: ['blocked'],
    means: 'the node has as many volumes of the driver attached as its CSINode allows',
    next: 'Move a pod with a volume of that driver to another node.',
    rules: ['N67'],
  },
  StillInUse: {
    in: ['waiting'],
    means: 'no pod wants the volume, and the node still reports it in use: the kubelet has to unmount it first',
    next: 'See what keeps the volume there: kubectl volctl on NODE plan',
    rules: ['R731', 'R739'],
  },
  NodeUnknown: {
    in: ['waiting'],
    means: 'whether the node is ready is not known, so that nothing is detached from it or attached to it',
    next: 'Look at the Node, and start its kubelet. Once its machine is gone for good, delete the Node; then: volctl plan --cluster --node-gone NAME',
    rules: ['R731', 'S3'],
  },
  DetachFirst: {
    in: ['waiting'],
    means: 'the volume is attached to another node, and has to be detached there first',
    next: 'Wait for the detach. If nothing happens, look at the VolumeAttachment of the other node.',
    rules: ['R740', 'R742'],
  },
  AttacherActs: {
    in: ['waiting'],
    means: "the VolumeAttachment exists, and the driver's external attacher has to attach the volume",
    next: "Wait for the attacher. If nothing happens, look at its log: it runs beside the driver's controller.",
    rules: ['C42'],
  },
  AttachmentWithoutNode: {
    in: ['problem'],
    means: 'a VolumeAttachment names a node that does not exist',
    next: 'Make sure that the machine is off. If the controller does not detach the volume six minutes later: volctl plan --cluster --node-gone NAME',
    rules: ['R734'],
  },
  AttachmentWithoutVolume: {
    in: ['problem'],
    means: 'a VolumeAttachment names a PersistentVolume that does not exist',
    next: 'Find the volume in the storage system. Once no node reports it in use, volctl detaches it: volctl plan --cluster',
    rules: ['R718'],
  },
  AttachmentInline: {
    in: ['problem'],
    means: 'a VolumeAttachment is of a volume in the spec of a pod, which a restarted controller overlooks',
    next: 'Do nothing while a pod uses the volume. See whether the attachment goes afterwards.',
    rules: ['R835'],
  },
  AttachmentUnclear: {
    in: ['blocked', 'problem'],
    means:
      'which volume the VolumeAttachment is of, or what somebody other than Kubernetes has made it for, could not be found out; or its parts contradict each other',
    next: 'Look at its PersistentVolume, and at the attachment: kubectl get volumeattachment NAME -o yaml',
    rules: ['C34', 'S3'],
  },
  AttachmentPending: {
    in: ['problem'],
    means: 'a VolumeAttachment is not attached, and nobody says why',
    next: "See whether the driver's external attacher runs, and its log.",
    rules: ['C42'],
  },
  AttachmentFailing: {
    in: ['problem'],
    means: "the driver's external attacher could not attach the volume",
    next: 'Look at the words of the driver, and at the volume in the storage system.',
    rules: ['C42'],
  },
  DetachFailed: {
    in: ['problem'],
    means: "the driver's external attacher could not detach the volume",
    next: 'Look at the words of the driver, and at the volume in the storage system.',
    rules: ['N59'],
  },
  AttachedTwice: {
    in: ['problem'],
    means: 'a volume that only one node may have is attached to several',
    next: 'Find out which node may have the volume; then end its pods on the other nodes, so that it is detached there.',
    rules: ['R740', 'S30'],
  },
  ReportedNotAttached: {
    in: ['problem'],
    means: 'volumesAttached of the Node lists a volume, and there is no VolumeAttachment of it',
    next: 'The controller corrects the list once a minute. If it does not, look at the log of kube-controller-manager.',
    rules: ['R750', 'R752'],
  },
  AttachedNotReported: {
    in: ['problem', 'waiting'],
    means: 'a volume is attached, and volumesAttached of the Node, for which the kubelet waits, does not list it',
    next: 'Only the controller writes that list: look at the log of kube-controller-manager.',
    rules: ['R750', 'C36', 'O43'],
  },
  InUseWithoutPod: {
    in: ['problem'],
    means: 'a node reports a volume in use, and no pod of the node wants the volume',
    next: 'See what keeps the volume there: kubectl volctl on NODE plan',
    rules: ['N62', 'R739'],
  },
  StatusOnly: {
    in: ['problem'],
    means:
      'a volume without VolumeAttachment (iscsi, fc, flexVolume) is attached by the word of a Node, and no pod wants it',
    next: 'Let kube-controller-manager run: only the controller can detach the volume. volctl never writes the status of a Node.',
    rules: ['R331', 'R834'],
  },
  BeingRemoved: {
    in: ['problem'],
    means: 'a claim or PersistentVolume is being deleted, and something still holds it',
    next: 'End what holds the object, as the message names it.',
    rules: ['R113'],
  },
  PodWaitsForVolume: {
    in: ['problem'],
    means: 'a pod does not start because of a volume',
    next: 'Do what the hint of the problem says about the cause.',
    rules: ['R706'],
  },
  PodWithoutNode: {
    in: ['problem'],
    means: 'a pod is scheduled to a node that does not exist',
    next: 'Nothing of the pod is detached before the pod is deleted. Once the machine is off: kubectl delete pod -n NAMESPACE NAME --force',
    rules: ['N55'],
  },
  AttacherSilent: {
    in: ['problem'],
    means: 'the lease of an external attacher is stale: nobody attaches or detaches volumes of its driver',
    next: "Look at the driver's controller pods, and at the log of their attacher container.",
    rules: ['N59'],
  },
  DuplicateObject: {
    in: ['problem'],
    means: 'a list has two objects of one name, so that the object counts as unknown',
    next: 'Plan again; if this is a snapshot, take it again.',
    rules: ['S3'],
  },
  ListNotWhole: {
    in: ['problem'],
    means: 'a list could not be read as a whole, so that what it lacks counts as unknown',
    next: 'Use a credential that may list the resource in the whole cluster (--kubeconfig).',
    rules: ['S2', 'S3'],
  },
  RightMissing: {
    in: ['problem'],
    means: 'this credential may look, and may not carry out what the plan has',
    next: 'Use a credential with the rights of deploy/ (--kubeconfig).',
    rules: ['S31'],
  },
  NoNodes: {
    in: ['problem'],
    means: 'the cluster has no node',
    next: 'Check --context and --kubeconfig: this may be another cluster, or a part of its objects may be lost.',
    rules: ['S1', 'S29'],
  },
  NodeNotGone: {
    in: ['problem'],
    means: '--node-gone names a node whose kubelet reports that the node is ready',
    next: 'Check the name: the flag changes nothing for a machine that runs.',
    rules: ['R731'],
  },
  ClocksApart: {
    in: ['problem'],
    means:
      'times that are compared are by different clocks: one in the API is in the future by the clock of the API server, a lease was written long after the time in it, all leases look old, or two API servers have different clocks; what is younger counts',
    next: 'Compare the clocks of the nodes and of the control plane (chronyc tracking).',
    rules: ['S28'],
  },
} as const satisfies Readonly<Record<string, CodeEntry>>

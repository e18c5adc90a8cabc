/**
 * Every reason, block code, waiting code and problem code, once, with its meaning. Printed in the manual; a plan never
 * carries a code that is not here.
 */

export const REASONS = {
  PodGone: 'the pod is not in the API and nothing of it runs',
  PodFinished: 'the pod has ended (deleted or in a terminal phase) and nothing of it runs',
  LeakedSubPath: 'sub-path mounts of a pod that is gone, whose volume has no directory any more',
  NotReconstructable: 'set-up of a pod that is gone, of a volume that cannot be told from its directory',
  DriverAbsentSinceBoot: 'a state file older than this boot, of a driver of which nothing is left',
  LastPodGone: 'no pod of this node wants the volume any more',
  StagedWithoutPod: 'a staged volume to which no pod directory leads; the kubelet has forgotten it',
  MappedWithoutPod: 'a block map to which no pod directory leads; the kubelet has forgotten it',
  NotWanted: 'attached to this node, wanted by no pod of it, not in use',
  OrphanPodDir: 'only empty directories and files of the kubelet are left of a pod that is gone',
  NotMounted: 'the pod wants the volume, and it is not mounted',
  StateFileMissing: 'the volume is mounted and its state file is lost',
  ContentDiffers: 'the content is not what the API says',
  CapacityGrew: 'the PersistentVolume outgrew what the node has',
} as const

export const BLOCK_CODES = {
  DeletesData: 'it would delete data; give --orphans',
  NotAsked: 'it is done only when asked for: give --remount or --expand',
  NotSupportedYet: 'this version plans the operation and does not carry it out',
  DriverNotRegistered: 'the CSI driver does not answer',
  IdentityUnconfirmed: 'driver or handle could not be confirmed; give --handle',
  ForeignMount: "a mount that is not this volume's is in the way",
  UnexpectedFile: 'a file that the kubelet did not make is in the way',
  DataUnderMountPoint: 'files lie where nothing should be without a mount',
  HeldBy: 'something else uses the mount or the device',
  TwoWriters: 'the volume is attached elsewhere against its access mode',
  UnresolvedVolume: 'a volume of an existing pod could not be resolved, and this may be it',
  PredecessorBlocked: 'an operation that has to come first is blocked',
  OutageSuspected: 'the API may have lost pods; give --accept-outage',
  Forbidden: 'the credential lacks the right',
  Refused: 'a safety rule refuses the plan as a whole',
  SecondVolume: 'another PersistentVolume is behind the same attachment',
  PluginUnsupported: 'this version does not undo the volumes of this plugin on the device level',
  NodeAffinity: "the volume's node affinity does not match this node",
  NotDead: '--lazy is for dead mounts only',
} as const

export const WAITING_CODES = {
  KubeletRunning: 'the kubelet runs, or may come back: it acts next',
  KubeletJustStopped: 'the kubelet stopped less than the settle time ago',
  Settling: 'it changed less than the settle time ago',
  PodStillRunning: 'a pod that is gone or ending still runs on it',
  NotAttached: 'the controller has not attached it yet',
  NotReportedInUse: 'the node has not reported it in use yet',
  AttachmentDeleting: 'the attachment is being deleted',
  DriverNotRegistered: 'the CSI driver has not registered yet',
  AttachabilityUnknown: 'the CSIDriver object could not be read',
  AccessMode: 'the access mode does not allow a second pod or node',
  ClaimMissing: 'the claim or its PersistentVolume does not exist',
  VolumeUnresolved: 'the volume could not be resolved',
  NodeNotReady: 'the node is out of service',
  DeadMount: 'the mount is dead and containers still run on it',
  ControllerActs: 'the attach/detach controller acts next',
} as const

export const PROBLEM_CODES = {
  PodGoneButRunning: 'a pod is not in the API and still runs',
  PodStillRunning: 'a pod is ending and still runs',
  AlivenessUnknown: 'whether a pod runs could not be known',
  MayBeStatic: 'a directory may belong to a static pod',
  MirrorPodUid: "a directory bears a mirror pod's UID",
  PodListIncomplete: 'the list of pods is missing or not complete',
  RuntimeUnknown: 'the container runtime was not asked',
  RuntimeNotAnswering: 'the container runtime does not answer',
  RuntimeUnproven: 'the container runtime knows none of the pods that live',
  NoWitness: 'nothing could say who is alive',
  WitnessesDisagree: 'the process table shows a pod that the runtime does not',
  StaticPodsUnmatched: 'static pods are not matched to mirror pods and directories',
  SectionMissing: 'the snapshot lacks a section',
  ReadFailed: 'the API did not give an object',
  UnresolvedVolume: 'a volume of a pod could not be resolved',
  MountedButNotAttached: 'a volume is mounted and not attached',
  MountedButNotInUse: 'a volume is mounted and not reported in use',
  DataUnderMountPoint: 'files lie where nothing should be without a mount',
  UnexpectedFile: 'a file that the kubelet did not make',
  ForeignMount: "a mount that is not the volume's",
  DeadMount: 'a mount does not answer',
  OrphanDirKept: 'the directory of a pod that is gone is kept',
  OrphanPodDir: 'directories of pods that are gone could be removed',
  StateFileCorrupt: 'a state file tells nothing',
  OutageSuspected: 'the API may have lost pods',
  TreeUnreadable: 'a part of the disk could not be read',
  KubeletUnknown: 'whether a kubelet runs is not known',
  DriverGone: 'what will not happen because a driver was declared gone',
  StagedDirUnknown: 'a staging directory could not be told',
} as const

export type Reason = keyof typeof REASONS
export type BlockCode = keyof typeof BLOCK_CODES
export type WaitingCode = keyof typeof WAITING_CODES
export type ProblemCode = keyof typeof PROBLEM_CODES

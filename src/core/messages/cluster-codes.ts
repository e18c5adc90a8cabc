/** Who acts next, and where: the attach/detach controller, the kubelet, another node, this machine. */
import { codes } from './code-entry.ts'

const CONTROLLER = codes({ cause: 'controller' })({
  NotAttached: {
    says: {
      status: '{uniqueName} is no longer in node.status.volumesAttached',
      gone: 'VolumeAttachment {name} no longer exists',
      attachment: 'VolumeAttachment {name} is not attached{error}',
      unlisted: 'node.status.volumesAttached does not list {uniqueName}',
      unread: 'no VolumeAttachment of {uniqueName} could be read',
      elsewhere: '{message}; {elsewhere}',
    },
    in: ['waiting', 'outcome'],
    means: 'the volume has to be attached to this node first, and is not',
    next: "The attach/detach controller attaches it. See the pod's events: `kubectl describe pod -n NAMESPACE NAME`",
    rules: ['S22'],
  },
  AttachedMismatch: {
    says: {
      noAttachment: 'volumesAttached of node {node} lists volume {volume}, and there is no VolumeAttachment of it',
      notListed:
        'volume {volume} is attached to node {node} since {createdAt}, and volumesAttached of the node, for which its kubelet waits, does not list it',
      waits: '{message}; only the attach/detach controller writes that list',
    },
    in: ['waiting', 'problem'],
    means:
      'volumesAttached of the Node, for which the kubelet waits, and the VolumeAttachments do not agree about a volume',
    many: (n) => `Node status and VolumeAttachments do not agree about ${n} volumes`,
    next: 'Only the attach/detach controller writes that list, once a minute. If it does not: see the log of kube-controller-manager.',
    rules: ['R750', 'C36', 'O43', 'R752'],
  },
  AttachmentDeleting: {
    says: {
      attachedAfter:
        'VolumeAttachment {name} is being deleted since {deletedAt}; the volume is attached again after that',
      stuck: 'VolumeAttachment {name} is being deleted{heldBy}{error}{gone}',
      since: '{attachment} is being deleted since {deletedAt}{heldBy}',
      begun: 'VolumeAttachment {name} is being deleted',
      mounted:
        'VolumeAttachment {name} is being deleted ({deletedAt}) while {uniqueName} is mounted on {path}: the disk may disappear under the mount',
    },
    in: ['waiting', 'problem', 'outcome'],
    means: 'the VolumeAttachment is being deleted, whether or not a pod wants the volume by now',
    many: (n) => `${n} VolumeAttachments are being deleted`,
    next: "If the volume is mounted here, stop what uses it. The driver's external attacher ends the deletion: see its log.",
    rules: ['S22', 'S26', 'N59'],
  },
  ControllerActs: {
    says: {
      attaches: 'VolumeAttachment {name} is not attached yet{error}',
      attachesTo: 'the attach/detach controller attaches the volume to node {node}',
      plugin:
        'only the attach/detach controller attaches a volume of plugin {plugin}: it writes the status of node {node}',
      unlisted: 'VolumeAttachment {name} is attached, but node.status.volumesAttached does not list {uniqueName}',
      detaches: 'node {node} does not exist; the attach/detach controller detaches the volume {latest}',
      later: 'the attach/detach controller detaches the volume from node {node} {latest}',
      onceUnused:
        'the attach/detach controller detaches the volume from node {node} once the node no longer reports the volume in use',
      tainted:
        'the attach/detach controller detaches the volume from node {node}, in use or not, because the node is tainted out-of-service',
      next: 'the attach/detach controller detaches the volume from node {node}',
      deletes: 'VolumeAttachment {name} is not attached; the attach/detach controller deletes it',
    },
    in: ['waiting'],
    lasts: 'never',
    means: "the attach/detach controller or the driver's external attacher acts next",
    next: 'Wait for it; if nothing happens, look at its log and at the VolumeAttachment.',
    rules: ['S21', 'C42'],
  },
  NotManaged: {
    says: {
      node: 'node {name} has no annotation {annotation}; nobody detaches what is attached to it: {volumeAttachments}',
      attach: '{specName} has to be attached, but the attach/detach controller does not manage this node: {unmanaged}',
      thisNode:
        'the attach/detach controller does not attach or detach volumes for this node: {why}; volctl does not detach here either, and does not wait for attachments',
      detach: 'the attach/detach controller does not manage this node: {unmanaged}',
    },
    in: ['blocked', 'waiting', 'problem'],
    means: "the attach/detach controller does not manage this node's attachments",
    remedy:
      "For CSI volumes set enableControllerAttachDetach: true in the kubelet's configuration, and start the kubelet.",
    rules: ['N9', 'S21'],
  },
  ReportedUnused: {
    says: {
      attached:
        'only the status of node {node} says that volume {uniqueName} is attached, and no pod wants it: there is no object that could be deleted',
      inUse: 'node {node} reports volume {volume} in use, and no pod of the node wants it{last}',
      listed:
        '{volume} is still listed in node.status.{lists} of {nodeName}, but no pod wants it, and it has no VolumeAttachment, mount or directory here',
    },
    in: ['problem'],
    means: "a Node's status reports a volume as attached or in use, and nothing on the node has it, or no pod wants it",
    many: (n) => `${n} volumes are still listed in the Node's status, and no pod there wants them`,
    next: 'A kubelet that starts, and the controller, correct the status. See on the node what keeps the volume there: `volctl plan`',
    rules: ['N62', 'R739', 'R331', 'R834'],
  },
  NobodyDetaches: {
    says: {
      inline:
        '{attachment} is of a volume in the spec of a pod, and no pod has it: a restarted controller overlooks it',
      name: 'the name of VolumeAttachment {name} is not the one that follows from its volume and node {node}: the controller never deletes it',
      caret: 'the handle of the volume of {attachment} contains ^: the controller attaches it, and can never detach it',
      driver:
        'no CSIDriver, CSINode or attacher knows driver {driver}, and nobody will detach what is left of it: {volumeAttachments}',
    },
    in: ['problem'],
    means:
      'nobody will delete a VolumeAttachment: its driver is gone, its name or handle is one that the controller cannot detach, or it is of a volume in a spec',
    many: (n) => `Nobody will detach the volumes of ${n} VolumeAttachments or drivers`,
    next: 'Look at the attachment (`kubectl describe volumeattachment NAME`). Once no pod wants the volume, volctl detaches it: `volctl plan --cluster`',
    rules: ['N59', 'R738', 'C43', 'C33'],
  },
  ControllerRunning: {
    says: 'the attach/detach controller is back, and the rest is its work: {note}',
    in: ['outcome', 'refusal'],
    means: 'the attach/detach controller lives again, or may live, so that the apply starts nothing more',
    remedy: 'Let the controller do the rest. What it never does: `volctl plan --cluster`',
    rules: ['S11'],
  },
  AttachLimit: {
    says: {
      node: 'node {name} has {volumes} of driver {driver} attached, and its CSINode allows {limit}',
      thisNode: '{message}; the CSINode of this node allows {limit} volumes of {attacher}, and {taken} are attached',
    },
    in: ['blocked', 'waiting'],
    means: 'the node has as many volumes of the driver attached as its CSINode allows',
    remedy: 'Move a pod with a volume of that driver to another node.',
    rules: ['N67'],
  },
  AttachmentDangling: {
    says: {
      volume:
        'VolumeAttachment {name} keeps PersistentVolume {persistentVolume}, which does not exist, attached to node {node}',
      node: 'VolumeAttachment {name} names node {node}, which does not exist',
    },
    in: ['problem'],
    means: 'a VolumeAttachment is of a node or a PersistentVolume that does not exist',
    many: (n) => `${n} VolumeAttachments are of nodes or PersistentVolumes that do not exist`,
    next: 'Look at the plan: `volctl plan --cluster` detaches what nothing uses; `kubectl describe volumeattachment NAME`',
    rules: ['R734', 'R718'],
  },
  AttachmentFailing: {
    says: {
      detach: 'driver {attacher} could not detach VolumeAttachment {name} from node {node}: {message}',
      attach: 'driver {attacher} could not attach VolumeAttachment {name} to node {node}: {message}',
      silent: '{attachment} was created {createdAt} and is not attached, and driver {attacher} does not say why',
    },
    in: ['problem'],
    means: 'an attach or detach fails, or is not finished',
    many: (n) => `${n} attaches or detaches fail, or are not finished`,
    next: 'Look at the log of the external attacher of the driver, and at the attachment: `kubectl describe volumeattachment NAME`',
    rules: ['C42', 'N59'],
  },
  PodWaitsForVolume: {
    says: 'pod {pod} on node {node} does not start: {message}',
    in: ['problem'],
    means: 'a pod does not start because of a volume',
    next: 'Do what the hint of the problem says about the cause.',
    rules: ['R706'],
  },
  DetachFirst: {
    says: {
      otherNode: 'the volume may be on one node only, and is, or may be, attached to {nodes}',
      tooMany:
        'more than {most} VolumeAttachments of its driver are of unknown volumes, and one of those may be this volume',
    },
    in: ['waiting'],
    means: 'the volume is attached to another node, and has to be detached there first',
    next: 'Wait for the detach. If nothing happens, look at the VolumeAttachment of the other node.',
    rules: ['R740', 'R742'],
  },
})

const KUBELET = codes({ cause: 'kubelet' })({
  KubeletRunning: {
    says: {
      undetermined: 'the state of the kubelet could not be determined: {error}',
      back: 'a kubelet runs again, or may start again, and the volumes of this node are its work',
      running: 'the kubelet is running, and volctl leaves the volume to the kubelet',
      mayReturn: 'the kubelet may start at any moment',
      unknown: 'it is not known whether a kubelet runs',
    },
    in: ['waiting', 'outcome', 'refusal'],
    byKubelet: true,
    means: 'a kubelet runs, runs again, or may start at any moment, and does this itself',
    remedy:
      'Let the kubelet do it. If it cannot, stop its unit so that it stays down, wait for --settle, and plan again.',
    rules: ['S11'],
  },
  Settling: {
    says: {
      attachment:
        'VolumeAttachment {name}, or its node, is younger than the settle time: its pod may not be in every list yet',
      unknown:
        "it is not known when the kubelet stopped (neither its unit nor the node's lease shows it), so it counts as stopped just now",
      kubelet: 'the kubelet stopped less than {seconds} s ago; calls of drivers may still be in flight',
      pod: 'pod {uid} changed less than {seconds} s ago; the kubelet may still be cleaning it up',
    },
    in: ['waiting'],
    means:
      'the kubelet stopped, or something of the pod changed, less than the settle time ago: the kubelet or a call that it made may still be at work',
    remedy: 'Plan again after the settle time, or give a shorter --settle.',
    rules: ['S11'],
  },
  KubeletUnclear: {
    says: {
      several: 'this host has {count} kubelets ({list})',
      standalone: 'the kubelet of this host ({source}) has no API server, so it is unknown which pods it should run',
    },
    in: ['refusal'],
    means: 'this host has several kubelets that could be meant, or one that has no API server',
    next: 'Name one with --root-dir and --node; start a kubelet without API server with --kubeconfig: until then volctl can only report here.',
    rules: ['S8'],
  },
  KubeletNotStopped: {
    says: {
      noUnit: 'the kubelet runs in no systemd unit',
      unknownUnit: 'systemd knows no unit {unit}',
      noTimer: 'no timer could be set that starts {unit} again: {why}',
      inactive: '{unit} is not active any more',
      noTime: 'no time is left to stop {unit}: the machine is slow now',
    },
    in: ['refusal'],
    means:
      '--stop-kubelet is refused: the kubelet has no unit, the unit would not stay stopped or runs more than the kubelet, or systemd set no timer that starts the kubelet again',
    next: 'See what the message says, or stop and start the kubelet yourself, around: `volctl apply`',
    rules: ['S35'],
  },
  NoTimeLeft: {
    says: 'not begun: it could not end before the kubelet has to run again',
    in: ['outcome'],
    means: 'the operation was not begun: it could not end before the kubelet has to run again',
    remedy: 'Run the same command again, or with a longer --max-downtime.',
    rules: ['S35'],
  },
  VersionUntested: {
    says: 'this node runs kubelet {version}, and volctl was tested with 1.{firstMinor} to 1.{lastMinor}: this kubelet may keep volumes in other directories, or in another way',
    in: ['problem'],
    means: 'volctl was not tried with the version of the kubelet on this node',
    remedy: 'Compare the plan with findmnt, and apply one pod or volume at a time (--pod, --volume).',
  },
  PluginMissing: {
    says: 'the kubelet ({version}) has no plugin for image volumes: its feature gate ImageVolume is off',
    in: ['waiting'],
    means: 'the kubelet of this node has no plugin for a volume: its version or a feature gate says so',
    remedy:
      "Set ImageVolume: true in featureGates of the kubelet's configuration and restart the kubelet, or run the pod on a node with Kubernetes 1.35 or newer.",
    rules: ['O44'],
  },
  LeftToKubelet: {
    says: {
      plugin: 'the kubelet sets up {kind} volumes when it starts',
      label: '{specName} may have to be mounted with an SELinux label: {unclear}',
      volume: 'volume {specName} {why}',
    },
    in: ['blocked', 'waiting', 'problem'],
    means: 'only the kubelet sets up this volume: iSCSI, Fibre Channel, flexVolume, and some content',
    remedy: 'Start the kubelet: it sets up the volume.',
  },
  GlobalMountGone: {
    says: 'pod {pod} has volume {specName} mounted, but nothing is mounted any more where the volume was staged: {path}',
    in: ['problem'],
    means: "a pod's volume is mounted, and the global mount that it was made from is gone",
    many: (n) => `${n} volumes are mounted for pods, and not any more where they were staged`,
    remedy: 'The pod runs on. A kubelet that starts has the driver stage the volume again.',
    rules: ['O1'],
  },
  NotReportedInUse: {
    says: {
      notYet:
        '{uniqueName} is attached, but node.status.volumesInUse, which only the kubelet updates, does not list it yet',
      mounted:
        '{uniqueName} is mounted on {path}, but node.status.volumesInUse does not list it: the attach/detach controller may detach it while it is mounted',
      noLonger: '{uniqueName} is no longer in node.status.volumesInUse',
    },
    in: ['waiting', 'problem', 'outcome'],
    means:
      'the volume is attached or mounted here, and node.status.volumesInUse, which only the kubelet writes, does not list it',
    many: (n) => `${n} mounted volumes are not reported in use: the attach/detach controller may detach them`,
    next: 'Start the kubelet, which reports it: the controller may detach a volume that is not reported in use.',
    rules: ['S22'],
  },
})

const ELSEWHERE = codes({ cause: 'elsewhere' })({
  OtherMachine: {
    says: 'VolumeAttachment {name} is of machine {its}, and this one is {own} by its CSINode: the node was made anew under its name, and the volume is not attached here',
    in: ['waiting'],
    means:
      'the VolumeAttachment was made for another machine that had the name of this node: the volume is not attached here',
    next: 'Make sure that the other machine is off; then delete the VolumeAttachment, and the controller attaches the volume to this one.',
    rules: ['S38', 'S22'],
  },
  MountedButNotAttached: {
    says: '{uniqueName} is mounted on {path} but not attached to this node ({why}): another node may write to it',
    in: ['problem'],
    means: 'a volume is mounted or staged on a node that it is not attached to: another node may write to it',
    many: (n) => `${n} mounted volumes count as detached: another node may write to them`,
    next: 'Stop what uses the volume there before anything else; then let the controller attach it again.',
    rules: ['R731', 'S30'],
  },
  MultiAttach: {
    says: 'volume {volume} may be on one node only{modes}{nodes}',
    in: ['problem'],
    means: 'a pod waits for a volume that is attached to another node (Multi-Attach error)',
    many: (n) => `${n} volumes may be on one node only, and several nodes have or want each`,
    next: 'End the pod on the other node, or detach the volume there; the hint of the problem names that node.',
    rules: ['S30'],
  },
  TwoWriters: {
    says: {
      attachments: 'volume {volume} may be on one node only, and has VolumeAttachments on {nodes}',
      mounted:
        '{name} is mounted on {path} and also attached to another node, which its access mode ({modes}) does not allow: {nodes}',
      pods: '{name} is ReadWriteOncePod, but {count} pods on this node use it: {pods}',
      elsewhere: 'the volume is also attached to {elsewhere}, which its access mode does not allow',
    },
    in: ['blocked', 'problem'],
    means:
      'the volume is attached to, in use or mounted on several nodes, or two pods have it, against its access mode',
    many: (n) => `${n} volumes are in use or attached at several places, against their access mode`,
    remedy: 'Decide which node or pod may have the volume, and end the pods of the other.',
    rules: ['S30', 'R740'],
  },
  AccessMode: {
    says: {
      otherPodFirst: '{specName} is ReadWriteOncePod, and pod {uid} gets the volume first',
      otherPodUses: '{specName} is ReadWriteOncePod, and pod {pod} uses it',
      unknown: 'this credential does not show whether {specName} is attached elsewhere{why}',
      otherNode: '{specName} is attached to {names}, which its access mode ({modes}) does not allow: {nodes}',
      unread: 'the nodes that {specName} is attached to could not be read: {elsewhere}',
      also: '{specName} is also attached to {elsewhere}, which its access mode does not allow',
    },
    in: ['waiting', 'outcome'],
    means: 'the access mode does not allow the volume for a second pod or node',
    remedy: 'End the pod that has the volume, here or on the other node; then plan again.',
    rules: ['S22', 'S30'],
  },
  MachineMayWrite: {
    says: {
      node: 'the machine of node {node} may still run and write to the volume',
      heard: 'the machine of node {node}, which does not exist in the API, runs: its kubelet is still heard',
    },
    in: ['blocked'],
    means: 'the machine of a node that is gone or silent may still run, and write to the volume',
    many: (n) => `The machines of gone or silent nodes may still run, and write to ${n} volumes`,
    next: 'Make sure that the machine is off; then taint the node out-of-service, or: `volctl plan --cluster --node-gone NAME`',
    rules: ['R731', 'S3'],
  },
})

const MACHINE = codes({ cause: 'machine' })({
  WrongMachine: {
    says: {
      noNode: 'the API server {server} has no node "{nodeName}"',
      unread: 'node {nodeName} of {server} was not read, so it is not known whether it is this machine',
      another: 'node {nodeName} of {server} may be another machine: {differences}',
      unproven:
        'nothing proves that node {nodeName} of {server} is this machine: the Node has machineID {nodeMachineID} and systemUUID {nodeSystemUUID}, this host has {machineID} and {systemUUID}',
    },
    in: ['refusal'],
    means: 'the Node object does not exist, or is not shown to describe this machine',
    next: 'Check --context, --kubeconfig and --node: another cluster may have a node of the same name. If this is the machine all the same, repeat the id that the message names with --accept-identity.',
    rules: ['S1'],
  },
  IdentityAccepted: {
    says: "the Node's {id} {node} differs from this host's {host}, and was accepted with --accept-identity",
    in: ['problem'],
    means: "an id of the Node object is not this host's, and was accepted with --accept-identity",
    next: 'Nothing, if the plan is about the right machine.',
    rules: ['S1', 'S31'],
  },
  OtherNode: {
    says: {
      name: 'the kubelet of this host is node {own}, not {nodeName}',
      plan: 'the plan was made for node {node} ({rootDir}), but this is {here}',
      machine: 'the plan was made for a machine with {id} {was}, but {here} has {now}',
    },
    in: ['refusal', 'error'],
    means: '--node is not what the kubelet here calls itself, or the plan was made on another node or machine',
    remedy: 'Check --node, or apply the plan on the node that it was made on.',
    rules: ['S1'],
  },
  NodeNotReady: {
    says: {
      why: 'node {name} {notReady}',
      tainted: 'node {name} is tainted out-of-service',
      deleted: 'node {name} is being deleted',
      taintedHere: 'the node is tainted out-of-service',
      stillMounted:
        'the node is tainted out-of-service, so the attach/detach controller detaches its volumes even while they are mounted; still mounted here: {volumes}{others}',
    },
    in: ['waiting', 'problem', 'outcome'],
    ofNode: true,
    means:
      'the node is not ready, or is tainted out-of-service, and then the controller detaches what is mounted there',
    many: (n) => `${n} nodes are not ready, or are tainted out-of-service`,
    next: 'Stop what uses the volumes; once the node can be trusted again: `kubectl taint node NAME node.kubernetes.io/out-of-service-`',
    rules: ['S22'],
  },
  WrongNamespace: {
    says: {
      propagation:
        "the mounts of this container do not follow the node's, so it would hold what volctl unmounts: {mountPoint}",
      another: 'volctl runs in another mount namespace than {owner}',
      runtime: 'PID 1 and the container runtime (pid {pid}) have different mounts under {rootDir}: {difference}',
      pidNamespace:
        "--host-root {hostRoot}: this container has its own PID namespace, so volctl cannot act on the host's processes",
      hostProcesses: "--host-root {hostRoot}: the host's processes cannot be seen in {proc}",
      notEntered: "volctl could not enter the kubelet's mount namespace",
      network: "volctl runs in a container's network: what is mounted over it would hang as soon as the container ends",
      gone: 'the mount namespace of process {pid} is gone',
      user: 'volctl runs in a user namespace (uid_map: {uidMap})',
      processes: "volctl's PID namespace is not the node's, so the processes of pods cannot be seen",
      unread: "the node's mount namespace cannot be read from here",
      chroot: "volctl's root directory is not the root of the node's mount namespace: it runs in a chroot",
      noSysfs: '/sys is not mounted, so disks and loop devices cannot be seen',
    },
    in: ['outcome', 'refusal', 'error'],
    means:
      'volctl does not stand where the kubelet does: another user, PID, mount or network namespace, a chroot, or a --host-root that is not the whole node',
    remedy:
      'Run volctl as root of the host itself, or in a Pod as deploy/node-pod.yaml has it (hostPID, hostNetwork, privileged, --host-root).',
    rules: ['S7', 'S6'],
  },
  OutageSuspected: {
    says: {
      driver: 'all {count} {mounts} of driver {driver} are dead at the same time: its backend seems to be down',
      noPods: 'the API lists no pod of this node, but {count} still run here',
      younger:
        'directory pods/{uid} is newer than anything that the API knows of this node ({time}): the cluster may have been restored from a backup',
      clusterNoPods: 'the API lists no pod, but nodes report {volumes} in use',
      noneWants: 'of {inUse} volumes that nodes report in use, no pod wants {count}: the API may have lost pods',
      atOnce: '{detaches} of {attachments} attachments would be detached at once: the API may have lost pods',
    },
    in: ['blocked', 'problem', 'refusal'],
    means: 'the API server seems to have lost or rolled back pods, or all mounts of one driver are dead at once',
    next: 'Check the cluster. If the pods are really gone, repeat the number that the plan shows: `volctl plan --accept-outage N`',
    rules: ['S29'],
  },
  TaintedButReady: {
    says: {
      node: 'node {name} is tainted out-of-service, but its kubelet {says}',
      detaches:
        'node {name} is tainted out-of-service, but its kubelet {says}: a controller detaches its volumes even while they are mounted',
    },
    in: ['blocked', 'problem'],
    ofNode: true,
    means:
      'the node is tainted out-of-service, and its kubelet says that the node is ready, or is still heard and uses the volume: one of the two is wrong',
    many: (n) => `${n} nodes are tainted out-of-service, and their kubelets are still heard`,
    next: 'Stop the machine, or remove the taint: `kubectl taint node NAME node.kubernetes.io/out-of-service-`',
    rules: ['R731'],
  },
  Refused: {
    in: ['blocked'],
    means: 'a safety rule refuses the plan as a whole',
    next: 'See what the plan says of the refusal; `volctl explain` says what its code means.',
  },
})

export const CLUSTER_CODES = { ...CONTROLLER, ...KUBELET, ...ELSEWHERE, ...MACHINE }

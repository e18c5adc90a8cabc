/** Pods, drivers and volumes: what is asked for, and what stands in the way of that. */
import { codes } from './code-entry.ts'

const ALIVE = codes({ cause: 'alive' })({
  PodGoneButRunning: {
    says: 'pod {name} was deleted from the API but still runs: {signs}; its volumes are left alone',
    in: ['problem'],
    means: 'a pod was deleted from the API, and a sandbox, container or process of it still runs',
    many: (n) => `${n} pods were deleted from the API and still run; their volumes are in use`,
    next: 'Stop its sandbox (`crictl stopp`), then plan again. Nothing of the pod is touched before.',
    rules: ['S9'],
  },
  PodStillRunning: {
    says: {
      ending: 'pod {name} {ending} and still runs: {signs}',
      uses: 'pod {pod} still uses the volume, or may use it',
      alive: 'pod {uid} still has a sandbox, container or process',
    },
    in: ['waiting', 'problem', 'outcome'],
    means: 'the pod is ending, or was deleted from the API, and something of it still runs, or runs again',
    many: (n) => `${n} pods are ending, or were deleted, and still run`,
    next: 'Wait until its containers have ended, or stop them; then plan again.',
    rules: ['S9', 'S26'],
  },
  UnknownPodProcess: {
    says: {
      nobody:
        "a process of pod {uid} runs here, but neither the API nor the kubelet's directories nor the container runtime of this node knows the pod",
      volume:
        'a process of pod {uid} runs here, but nothing on this node knows the pod; the process may use this volume',
    },
    in: ['blocked', 'problem'],
    means: 'a process runs in the cgroup of a pod that neither the API, the disk nor the container runtime here knows',
    next: 'Find the process, and end it; if its pod belongs to another kubelet on this machine, delete the pod there. Then plan again.',
    rules: ['S9'],
  },
  AlivenessUnknown: {
    says: {
      pods: 'the pods that still run could not be determined: {error}',
      sessionPods: 'the pods that want the session could not be determined: {error}',
      pod: 'pod {name} may still run: {message}',
    },
    in: ['problem', 'outcome'],
    means: 'nobody could say whether a pod still runs, so that the pod counts as running',
    many: (n) => `${n} pods may still run; their volumes count as in use`,
    next: 'Make the container runtime answer and run volctl as root; then plan again.',
    rules: ['S9'],
  },
  MayBeStatic: {
    says: 'the directory of pod {name} is left alone: {message}',
    in: ['problem'],
    means: 'a pod directory may belong to a static pod, or has the UID of a mirror pod, and is left alone',
    many: (n) => `The directories of ${n} pods belong to static pods, or may, and stay`,
    remedy:
      'Let the kubelet run: it knows its static pods, deletes mirror pods that are not needed, and removes what others left.',
    rules: ['S10'],
  },
  StaticPodsUnmatched: {
    says: '{unmatched}: pod directories whose name is not an RFC 4122 UUID are left alone',
    in: ['problem'],
    means: 'not every static pod could be matched to its mirror pod and directory, so that doubtful directories stay',
    next: 'Check that the static pod path can be read, and let the kubelet create the mirror pods; then plan again.',
    rules: ['S10'],
  },
  NotDesired: {
    says: 'pod {pod} still has volume {name}, which it no longer wants; volctl leaves the volume as long as the pod exists',
    in: ['problem'],
    means: 'a pod that is in the API has a volume that it does not want any more, and keeps it',
    next: 'Nothing for volctl: an existing pod keeps what it has. Delete the pod if the volume must go.',
    rules: ['S5'],
  },
  TerminatedKept: {
    says: {
      kept: 'volumes of pods that have ended are kept until the pods are deleted from the API ({why}); such pods here: {count}{ignored}',
      pod: 'pod {pod} has ended, and its volumes are kept ({why})',
      has: 'pod {uid} still has the volume: {message}',
    },
    in: ['waiting', 'problem'],
    means: 'this node is configured to keep the volumes of pods that have ended',
    remedy: 'Delete a pod whose volumes are to come down, or remove the setting that keeps them.',
  },
  WantedAgain: {
    says: {
      again: 'a pod of this node wants {name} again',
      listed: 'pod {uid} is in the API',
      unfinished: 'pod {uid} is in the API and has not finished',
    },
    in: ['outcome'],
    means: 'the pod is in the API and has not ended, or a pod of this node wants the volume again',
    remedy: 'Plan again.',
    rules: ['S26'],
  },
})

const DRIVER = codes({ cause: 'driver' })({
  DriverUnavailable: {
    says: {
      silent: 'CSI driver {driver} does not answer on this node',
      unread: 'CSI driver {driver} cannot be called: the sockets of CSI drivers were not read',
      sockets: 'CSI driver {driver} does not answer on {sockets}',
      notRegistered: 'CSI driver {driver} is not registered on this node{silent}',
      notPlanned: 'the plan does not say where driver {driver} is',
      notOnNode: 'driver {driver} is not registered on node {node}',
      notOnNodeWith:
        'CSI driver {driver} is not registered on node {node}, which has {volume}{more}: nothing of it is unmounted there before',
      flexUnmounts: 'flexVolume driver {plugin} {why}, and only the driver knows how to unmount its volumes',
      flex: 'flexVolume driver {plugin} {why}',
      silentSocket: 'no CSI driver answers on socket {path}: {error}',
      silentAt: 'CSI driver {driver} does not answer on {at}: {why}',
      cannotCall: 'CSI driver {driver} cannot be called on {at}: {why}',
      mounted: '{why}, and {mountedHere}; only the driver can unmount properly',
    },
    in: ['blocked', 'waiting', 'problem'],
    means: 'a driver is not registered or not installed here, or its socket does not answer',
    many: (n) => `${n} CSI drivers do not answer, or are not registered`,
    next: "Bring the driver's node plugin back (its DaemonSet; a flexVolume's program), and look at its log. If it is gone for good: `volctl plan --driver-gone NAME`",
    remedy: "Bring the driver's node pod back; then plan again.",
    rules: ['S16', 'P87'],
  },
  DriverRegistration: {
    says: {
      answersBut: 'CSI driver {driver} answers, but {fault}',
      outside: "CSI driver {driver} listens on {endpoint}, outside the kubelet's root directory",
      notRegistered: 'CSI driver {driver} answers on {at} but is not registered with the kubelet: {error}',
      twoSockets: 'CSI driver {driver} has two sockets, and {path} is not the one in use: {why}',
      unlisted:
        'CSI driver {driver} answers on this node, but the CSINode object does not list it, and {mountedHere}: the kubelet has not registered the driver',
    },
    in: ['problem'],
    means: "a driver's registration is not what it should be: in the CSINode, at one socket, in its own directory",
    many: (n) => `${n} CSI drivers are not registered as they should be`,
    remedy: "Read the log of the node-driver-registrar container in the driver's node pod, and restart the pod.",
  },
  DriverGone: {
    says: 'driver {driver} is declared gone (--driver-gone): {call} is not called for {path}; an open LUKS mapping, iSCSI session or multipath map of the volume stays open',
    in: ['problem'],
    means: 'a driver was declared gone (--driver-gone), so that its calls are not made',
    next: 'Close by hand what the driver would close: LUKS mappings, sessions, multipath maps.',
    rules: ['S16'],
  },
  DriverRefused: {
    says: 'CSI driver {driver} does not expand volumes on a node',
    in: ['outcome'],
    means: 'the driver refused the call',
    remedy: 'Look at the words of the driver and at its log; correct what it names, then plan again.',
    rules: ['C3'],
  },
  DriverFailed: {
    says: {
      notMounted: '{driver} answered OK to {op}, but nothing is mounted on {target}',
      stillThere: '{driver} answered OK to {op}, but {mount} is still there',
    },
    in: ['outcome'],
    means: 'a driver failed, or did not do what it answered',
    remedy: "Look at the driver's log; then plan again.",
    rules: ['C3', 'S16', 'C17'],
  },
  OperationPending: {
    in: ['outcome'],
    means: 'the driver has another call for the same volume at work',
    remedy: 'The driver is still working on this volume: apply again later.',
    rules: ['C3', 'C119'],
  },
  VolumeNotFound: {
    in: ['outcome'],
    means: 'the driver does not know the volume',
    remedy: "Compare the PersistentVolume's volumeHandle with the storage system.",
    rules: ['C3'],
  },
  AttacherSilent: {
    says: 'no external attacher of driver {driver} runs (lease {name} was last renewed {renewTime}), and {waits}',
    in: ['problem'],
    means: 'the lease of an external attacher is stale: nobody attaches or detaches volumes of its driver',
    remedy: "Look at the driver's controller pods, and at the log of their attacher container.",
    rules: ['N59'],
  },
})

const IDENTITY = codes({ cause: 'identity' })({
  LazyMemoryUnusable: {
    says: {
      record:
        'volumes that earlier applies detached lazily are not known, since {path} cannot be read or is not trusted ({why})',
      volume: '{message}; this volume may be one of them',
    },
    in: ['blocked', 'problem'],
    means: 'the record of what earlier applies detached lazily cannot be read, and this volume may be in it',
    next: 'Repair the record that the message names, or reboot; then plan again.',
    rules: ['S20', 'S33'],
  },
  OtherVolume: {
    says: {
      published: 'the driver answered OK to NodePublishVolume, but has mounted another volume: {volume}{afterwards}',
      file: '{path} names another volume, {driver}^{handle}',
      mounted: 'pod {pod} has {name} mounted as {specName}{wanted}; volctl leaves the volume as long as the pod exists',
      wanted: '{path} names {name}, but the pod wants {driver}^{handle}',
      shown: '{path} shows {name} and not {expected}',
    },
    in: ['blocked', 'problem'],
    lasts: 'always',
    means:
      'what is recorded or mounted in the place of a volume is another volume, another device, or no device at all',
    next: 'Stop the pods that use it, save what they have written, find out what is mounted there (`findmnt PATH`), and clear it; then plan again.',
    rules: ['S38', 'S5', 'S17'],
  },
  IdentityUnconfirmed: {
    says: {
      noRecord: 'vol_data.json is {state}, and {why}',
      otherHash:
        "vol_data.json in {dir} names {driver}^{handle}, but the directory's name is not the hash of that handle",
      noHash:
        'staging directory {dir} has no readable vol_data.json, and its name is not the hash of any known volume handle',
      otherShown: 'vol_data.json names another volume than {path} shows: {name}, and not {expected}',
      inlineDriver:
        '--handle {name}={handle} is of an inline volume, and its driver is not clear: {drivers} that is registered here serves inline volumes',
      noBlock:
        '--handle {name}={handle}: the volume with this handle is staged as a file system in {dir}, but {name} is a block volume',
      noDriver:
        '--handle {name}={handle}: the driver is not clear, since staging directories, PersistentVolume and VolumeAttachment name none, or several',
      otherDevice:
        '--handle {name}={handle}: {path} shows device {dev} {root}, but {dir} is staged from device {stagedDev} {stagedRoot}',
      noHandle:
        'the volume handle of {name} is unknown: neither its PersistentVolume nor anything on this node shows it',
      noWwn: '{name} names neither a WWID nor a WWN and a LUN',
      unlinked: '{unlinked} is a disk of {name}, but udev has no link to it',
      sysfs: 'sysfs does not confirm that {disk} is a disk of {name}',
      noPortal: '{directory} does not name a portal, a target and a LUN, and its iscsi.json is {state}',
      otherName: '{file} names {iqn}, LUN {lun}, through {iface}, but its directory has another name',
      unidentified: '{name}{pod} is mounted or mapped on this node but could not be identified; it may be this volume',
      gone: 'the mount on {directory} ({devices}) is gone since the plan was made',
      sameLun:
        "{name} has LUN {lun} of the same target through {portals}; without a readable iscsi.json it is unknown whether that is this volume's session too",
      noStateFile:
        '{mountPoint} is mounted, but its vol_data.json is missing, and no staged volume on device {dev} proves that its volume handle is {handle}',
    },
    in: ['blocked'],
    // A kubelet that runs knows which volume its pod wants, and writes a lost record again (O31).
    lasts: 'in-tear-down',
    means: 'which volume this is could not be confirmed: driver, handle or disk is not proven',
    many: (n) => `Nothing proves which volume is mounted at ${n} places`,
    next: 'Check the handle in the storage system; then: `volctl plan --handle VOLUME=HANDLE`; for disks compare lsblk and /dev/disk.',
    rules: ['S17', 'S25'],
  },
  AttachmentUnclear: {
    says: {
      name: 'neither the name of VolumeAttachment {name} nor its PersistentVolume shows which volume is attached',
      why: '{attachment} is left as it is: {why}',
      ofOthers: '{attachment} was not created by Kubernetes, and stays until its creator deletes it',
      shared: 'PersistentVolume {persistentVolumes} shares this attachment',
      mayBeShared: 'not all PersistentVolumes could be read: another one may share this attachment',
    },
    in: ['blocked', 'problem'],
    means: 'unclear which volume this VolumeAttachment is for, or who created it',
    many: (n) => `Which volumes ${n} VolumeAttachments are for, or who created them, is unclear`,
    next: 'Look at its PersistentVolume, and at the attachment: `kubectl get volumeattachment NAME -o yaml`',
    rules: ['C34', 'S3', 'S21'],
  },
})

const MISSING = codes({ cause: 'missing' })({
  NodeMissing: {
    says: {
      pod: 'pod {pod} is scheduled to node {node}, which does not exist: its volumes stay attached there',
      node: 'node {node} is not in the API',
    },
    in: ['problem', 'outcome'],
    means: 'the Node object does not exist: it was deleted, or a pod is scheduled to one that is not there',
    many: (n) => `${n} pods are scheduled to nodes that do not exist: their volumes stay attached there`,
    next: 'Plan again. What a pod of that node has is not detached before the pod is deleted: once the machine is off: `kubectl delete pod -n NAMESPACE NAME --force`',
    rules: ['S21', 'S22', 'N55'],
  },
  VolumeUnresolved: {
    says: {
      noName: 'PersistentVolumeClaim {claim} has no name',
      claim: 'PersistentVolumeClaim {claim} {why}',
      going: 'PersistentVolumeClaim {claim} is being deleted and no longer has finalizer kubernetes.io/pvc-protection',
      notBound: 'PersistentVolumeClaim {claim} is not bound (phase {phase})',
      ofOtherPod: 'PersistentVolumeClaim {claim} was not created for pod {pod}: the pod is not its controlling owner',
      namesNone: 'PersistentVolumeClaim {claim} is bound, but names no PersistentVolume',
      volume: 'PersistentVolumeClaim {claim} is bound to PersistentVolume {volume}, which {why}',
      ofNoClaim: 'PersistentVolumeClaim {claim} is bound to PersistentVolume {volume}, which names no claim',
      ofOther:
        'PersistentVolumeClaim {claim} is bound to PersistentVolume {volume}, which belongs to claim {other} with UID {uid}',
      noMode: 'PersistentVolume {volume} has no volumeMode',
      mode: 'PersistentVolume {volume} has mode {mode}, but a container lists it in {list}',
      unusable: 'PersistentVolume {volume} {why}',
      unnamed: 'PersistentVolume {volume}: {why}',
      inline: 'volume {volume} {why}',
    },
    in: ['waiting'],
    means: 'the volume that the pod wants could not be resolved',
    next: 'Use a credential that may read its claim and PersistentVolume, or repair them; then plan again.',
    rules: ['S4'],
  },
  ClaimMissing: {
    says: {
      claim: 'PersistentVolumeClaim {claim} does not exist',
      volume: 'PersistentVolumeClaim {claim} is bound to PersistentVolume {volume}, which does not exist',
    },
    in: ['waiting'],
    means: 'the claim or its PersistentVolume does not exist',
    next: 'Create the claim again, or delete the pod.',
    rules: ['S4'],
  },
  ClaimUnbound: {
    says: { mounted: 'PersistentVolume {name} is {phase}, but pod {pod} has it mounted' },
    in: ['waiting', 'problem'],
    means: 'the claim is not bound to a PersistentVolume yet, or its PersistentVolume is released or has failed',
    next: 'See the events of both: `kubectl describe pvc -n NAMESPACE NAME`; `kubectl describe pv NAME`',
    rules: ['S4'],
  },
  BeingDeleted: {
    says: '{object} of pod {pod} is being deleted ({deletionTimestamp}): it disappears as soon as no pod uses it, and if the reclaim policy is Delete, so does the data',
    in: ['problem'],
    means: 'a claim or PersistentVolume is being deleted, and goes when nothing uses it any more',
    remedy:
      'The deletion cannot be undone: before the last pod ends, copy what is needed, or set persistentVolumeReclaimPolicy: Retain on the PersistentVolume.',
    rules: ['R113'],
  },
  ContentMissing: {
    says: {
      object: "{object} does not exist, and the volume's driver needs it",
      notText: '{entry} is not UTF-8 text and cannot be sent to a CSI driver',
    },
    in: ['blocked'],
    means: 'an object or key that the volume needs does not exist, or cannot be sent to its driver',
    remedy: 'Create or correct it, or mark it as optional; the kubelet waits for it as well.',
  },
  NoLongerWanted: {
    says: {
      content: 'the content of {target} is not known',
      pod: '{pod} is no longer in the API',
      volume: '{name} is no longer the volume that was planned',
      claim: 'claim {namespace}/{name} no longer exists',
      why: 'pod {uid} {why}',
    },
    in: ['outcome'],
    means: 'the pod was deleted or began to end after the plan was made, or does not want this volume any more',
    remedy: 'Plan again.',
    rules: ['S26'],
  },
})

const VOLUME = codes({ cause: 'volume' })({
  NodeAffinity: {
    says: 'the node affinity of PersistentVolume {name} does not allow this node',
    in: ['blocked'],
    means: "the PersistentVolume's node affinity does not match this node",
    remedy: 'Delete the pod, so that it is scheduled to another node.',
  },
  PluginUnsupported: {
    says: {
      block: 'PersistentVolume {specName} has volumeMode Block, but {plugin} does not support block volumes',
      gitRepo: 'gitRepo volumes are disabled in this version of Kubernetes (GitRepoVolumeDriver)',
      options: 'PersistentVolume {name} has mount options ({options}), but {plugin} supports none',
      noPlugin: 'neither this version of Kubernetes nor volctl has a volume plugin {plugin}',
    },
    in: ['blocked'],
    means: 'nothing here has this volume plugin, or the plugin takes no block devices or no mount options',
    remedy:
      'Give the pod a kind of volume that Kubernetes still has, or correct volumeMode or mountOptions of the PersistentVolume: the message says which.',
  },
  InvalidVolume: {
    says: {
      notSent: '{name} on driver {driver}: {why}; nothing was sent',
      noDriver: 'CSIDriver {driver} does not exist, but inline volumes need it',
      lifecycle: 'CSIDriver {driver} does not list {kind} in its volumeLifecycleModes',
      emptyDir: 'emptyDir {specName}: {why}',
    },
    in: ['blocked', 'error'],
    means:
      'the volume is described in a way that the kubelet or the driver does not take: a name, a size, a medium, a field, a kind, content',
    remedy:
      "Correct the volume in the pod, the PersistentVolume or the driver's CSIDriver object, as the message says; then plan again.",
  },
  HostPathType: {
    says: 'hostPath {target}: {why}',
    in: ['blocked'],
    means: 'what is at the path of a hostPath volume is not of the type that the volume asks for',
    remedy: 'Look at the path on this node; correct it or the type in the pod, then plan again.',
  },
  SELinuxMismatch: {
    says: {
      otherPod: 'pod {pod} has {specName} mounted {label}, or gets it first, but this pod wants it {wanted}',
      staged: '{specName} is staged {label}, but the pod wants it {wanted}',
      mounted: '{path} shows the volume mounted {label}, but the pod wants it {wanted}',
    },
    in: ['blocked', 'problem'],
    means:
      'the volume is mounted or staged, or another pod gets it, with another SELinux label, or it is not clear with which',
    remedy: 'Give the pods the same seLinuxOptions and seLinuxChangePolicy, or delete one of them.',
    rules: ['C68'],
  },
  ContainerNotCreated: {
    says: 'container {name} of pod {pod} waits with {reason}: {message}',
    in: ['problem'],
    means: 'the container runtime could not mount what a container needs, as the image of an image volume',
    next: 'Its reason is behind the last colon of the message: correct the image or the volume in the pod, or update the runtime.',
  },
})

export const VOLUME_CODES = { ...ALIVE, ...DRIVER, ...IDENTITY, ...MISSING, ...VOLUME }

/** What lies on the node: mounts, files, directories and disks, and who uses them. */
import { codes } from './code-entry.ts'

/** For a file that volctl never deletes; nor does anybody, while a process may be writing it (S37). */
export const CLEAR_AWAY = 'Have its owner move the file away once nothing writes it; then plan again.'

const FOREIGN = codes({ cause: 'foreign' })({
  ForeignMount: {
    says: {
      otherMount: "{what} is in mount {found}, not in the volume's mount {mountId}",
      unknown: 'the kernel does not show the mount of descriptor {fd}',
      expected: '{directory}: {found}, but {expected} is expected',
      inTheWay: '{mount} is in the way',
      instead: '{mount} is there instead of {path}',
      expanded: '{target}: {mounted}, but {path} is to be expanded',
      unplanned: '{mount} was not there when the plan was made',
      deletesNone: '{path} is a mount point, and volctl never deletes the content of a mount',
      notStaged: 'CSI driver {driver} does not stage volumes, so the mount on {path} may not be its own',
      hides: 'another mount ({fileSystem} on {mountPoint}) hides {path}; it cannot be reached',
      mount: '{fsType} mount of {source}{root} on {path} {verdict}',
      already: '{mount} is there already',
      notOfVolume: '{mount} that does not belong to the volume is mounted on {path}',
    },
    in: ['blocked', 'problem'],
    means: "a mount that is not this volume's is in the way",
    many: (n) => `Mounts that the kubelet did not make are in the way of ${n} volumes`,
    remedy: 'Find out who mounted it (findmnt), and have it taken off there; then plan again.',
    rules: ['S18'],
  },
  UnexpectedFile: {
    says: {
      notLink: '{target} is not a symbolic link, so the kubelet did not make it',
      notEmpty: '{path} is not empty and is kept',
      bytes: '{path} holds {size} bytes and is kept',
      kept: '{path} was not there when the plan was made, and is kept',
      notKubeletsLink: '{path}/{name} is not the symbolic link that the kubelet makes',
      nothingRemoved: '{path} was not there when the plan was made; nothing was removed',
      file: '{file} {fault}, so the kubelet did not make it',
    },
    in: ['blocked', 'problem'],
    means: 'a file that the kubelet did not make is in the way, or in a directory that was to be removed',
    many: (n) => `Files that the kubelet did not make are in the way of ${n} volumes`,
    remedy: CLEAR_AWAY,
    rules: ['S13', 'S12'],
  },
  DataUnderMountPoint: {
    says: {
      underVolume: '{path} is in the directory that the volume is to be mounted on',
      files: 'nothing is mounted on {target}, but the directory contains {files}, e.g. {path}',
      volume: '{path} {state}',
      underStaged: '{path} is in the directory where the volume is to be staged',
    },
    in: ['blocked', 'problem'],
    // A kubelet mounts over it.
    lasts: 'never',
    means: 'files lie in a directory that should be empty while nothing is mounted on it',
    remedy: 'Have their owner move the files away once nothing writes them; then plan again.',
    rules: ['S13', 'S22'],
  },
  LinkInPlace: {
    says: '{path} is a symbolic link{target} where the kubelet has a directory; volctl does not follow it{why}, and whatever is behind it counts as in use',
    in: ['blocked', 'problem'],
    means: 'a symbolic link stands where the kubelet has a directory; what is behind it counts as in use',
    remedy: 'Put a directory or a bind mount in its place, or repair what it leads to; then plan again.',
    rules: ['S8'],
  },
  InvalidPath: {
    says: {
      device: '{source} {why}',
      dead: '{path} is on {mountPoint}, a mount that is dead or does not answer',
      stat: 'stat of {path} failed: {output}',
      links: 'links in {path} could not be resolved: {output}',
      name: 'a name in a path of this operation would lead elsewhere: {value}',
      volume: 'PersistentVolume {specName} has {fault}',
    },
    in: ['blocked'],
    means:
      'a path or name of the volume is empty, not absolute, does not exist, leads elsewhere, or is not of a kind that can be mounted',
    remedy:
      'Bring the disk or directory back, or correct the path in the PersistentVolume or the names in the pod; then plan again.',
    rules: ['S10'],
  },
  MountStorm: {
    says: '{count} mounts of one directory are at and below {path}: mount propagation copies them into each other, which slows the whole node',
    in: ['problem'],
    means: 'mount propagation has copied one mount tens or thousands of times',
    remedy:
      'Stop what mounts it at each start, or into itself (most often a container with mountPropagation: Bidirectional). The copies go with their pod, or with a reboot.',
  },
  Swapped: {
    says: {
      changing: '{path} keeps changing while it is being deleted',
      link: '{path} leads to {real}: there is a link on the way',
      moved: 'a directory was moved while the walk was in it',
    },
    in: ['outcome'],
    means: 'a directory changed while it was deleted or given to a group; nothing outside of the volume was touched',
    remedy: 'Find out what still writes there; then plan again.',
    rules: ['S12'],
  },
  ForeignDevice: {
    says: {
      otherAddress: '{name} is at {scsiAddress}, and {session} has it at {address}',
      sharedMap: 'device {map} is built on {disks} and also on {other}',
      reused: '{name} now has device number {dev}, which was mounted, but is another disk',
      notScsi: '{name} is neither a SCSI disk nor a multipath map of SCSI disks',
      stranger: '{stranger} was mounted, but is not a disk of {name}',
      backedBy: "{target} is backed by {file}, which is not this volume's",
      another: '{name} is another device than a moment ago',
      otherLun: '{device} was mounted, but is not LUN {lun} of {iqn}',
    },
    in: ['outcome'],
    means: "a device is not this volume's, or not of the kind that the kubelet makes",
    remedy: 'Find out what it is (`ls -l /dev/disk/by-path`; lsblk), release it yourself if need be, and plan again.',
    rules: ['S21', 'S25'],
  },
  StagedAtOldPath: {
    says: 'volume {volume} is {also}staged at {path}, where kubelets before 1.24 staged: {leftover}this kubelet does not look there, and cannot unstage it',
    in: ['problem'],
    means: 'a volume is staged where kubelets before 1.24 staged, and no kubelet of today unstages it there',
    next: 'Once no pod of the node uses the volume: `volctl apply` with the kubelet stopped unstages it at both paths.',
    rules: ['C11'],
  },
})

const DATA = codes({ cause: 'data' })({
  DeletesData: {
    says: {
      unread: '{path} could not be read completely: {error}; what it contains is not known',
      memory: 'the {fsType} of emptyDir {name} may hold data, which is lost when it is unmounted',
      files: 'emptyDir {name} contains {files} ({bytes} bytes)',
    },
    in: ['blocked'],
    onRequest: true,
    means: 'the operation would delete data of a pod that is gone',
    remedy: 'To delete the data as well: `volctl apply --orphans`',
    rules: ['S13'],
  },
  OrphanDirKept: {
    says: '{dir} is kept: {message}',
    in: ['problem'],
    means: 'the directory of a pod that is gone is kept, because it holds something that volctl does not remove',
    many: (n) => `The directories of ${n} deleted pods are kept: files that the kubelet did not make lie there`,
    next: 'Look at the path; move away or delete what is yours, then plan again.',
    rules: ['S13'],
  },
  OrphanPodDir: {
    says: {
      removable: '{removable} orphaned pod director{plural} can be removed',
      left: "only empty directories and the kubelet's own files are left",
    },
    in: ['reason', 'problem'],
    means: 'a pod that is gone left only empty directories and files that the kubelet made',
    remedy: 'To remove what is left of deleted pods: `volctl apply --orphans`',
    rules: ['S13'],
  },
})

const DEAD_MOUNT = codes({ cause: 'dead-mount' })({
  DeadMount: {
    says: {
      mayHang: '{target} is on a file system of type {fsType}, which may hang',
      mount: 'the mount on {path} is dead: {error}',
      volume: '{path} does not answer: {error}{users}',
      fileSystem: 'the file system mounted on {path} does not answer: {error}',
      emptyDir: 'what is mounted on emptyDir {name} is dead: {error}; what it covers cannot be seen',
    },
    in: ['blocked', 'waiting', 'problem'],
    means: 'a mount does not answer, or may not: its server, daemon or device is gone',
    many: (n) => `${n} mounts do not answer: what is behind them is gone`,
    next: 'Restart the server or daemon of the file system, or bring its disk back; then restart the containers that use it. Of a deleted pod: `volctl plan --lazy PATH`',
  },
  DetachedLazily: {
    says: {
      now: '{target} is unmounted lazily; whether its file system is still in use is not known yet',
      earlier: '{path} was detached lazily by an earlier apply, and its file system ({dev}) may still be in use',
    },
    in: ['blocked'],
    means: "the volume's file system was detached lazily, and may still be in use without a mount",
    remedy: 'Stop what still uses the file system, or reboot; then plan again.',
    rules: ['S20'],
  },
  SharedConnection: {
    says: 'a forced unmount of {mountPoint} would also cut off {who}',
    in: ['outcome'],
    means: 'a forced unmount would cut off other mounts of the same connection',
    remedy: 'Force it only when nothing else uses the same connection.',
    rules: ['S19'],
  },
})

const IN_USE = codes({ cause: 'in-use' })({
  HeldBy: {
    says: {
      loop: '{device} on {file} is still in use{error}',
      copy: 'a copy of the mount remains, the {mount}{why}',
      hidden: 'another mount hides the {mount}, so it cannot be unmounted',
      nothingRemoved: '{mount} is still there; nothing was removed',
      nothingDone: '{path} is in use by {who}; nothing was {done}',
      otherPath: 'the content of {dir} is in use under another path: {users}',
      device: '{path} is in use: {who}',
      node: '{name} is still in use on this node: {who}',
      sameFileSystem: '{path} shows the same file system as {target} ({dev} {root})',
      disks: '{disks} is still in use: {who}',
      builtOn: '{name} is still in use: device {holder} was built on it meanwhile',
      noRecord: '{kept}; no other directory on this node is a record of the session',
      session: 'not logged out of {iqn}: {why}',
      still: '{mount} is still there',
      volume: 'volume {name} is still in use: {who}',
      path: '{name} is in use{who}',
      otherNamespace: 'something is mounted on {path} in the mount namespace of {process}',
      holder: '{path} is held by {who}',
      elsewhere: 'volume {name} is also set up elsewhere on this node: {who}',
      outsideMount: "{path}, outside the root directory {rootDir}, is a mount that has this volume's name",
      outsideVolumes: 'the pod has volumes outside the root directory {rootDir}: {path} is mounted',
      unseen:
        'the {fsType} file system on /dev/{device} is in use, and in no mount table that volctl sees; it may be that of {volume}',
    },
    in: ['blocked'],
    // What holds a device may be a pod's mount that a kubelet still unmounts.
    lasts: 'in-set-up',
    means: 'something else uses the mount, the device or the data, or is still mounted there',
    many: (n, users) => users && `${n} volumes are in use by ${users}`,
    next: 'As root, see what uses it (`volctl explain PATH`; `findmnt PATH`); end that use, then plan again.',
    remedy: 'Stop that use; then plan again.',
    rules: ['S12', 'S21', 'S24', 'S25', 'S27'],
  },
  UsersUnknown: {
    says: {
      nothingDeleted: 'the users of {path} could not be determined: {why}; nothing was deleted',
      volume: '{name} may still be in use on this node: {why}',
      who: 'who uses {target} could not be determined: {why}',
      holders: 'the holders of {path} could not be determined: {why}',
      disks: 'the processes that have {disks} open could not be determined: {why}',
      namespace: '{why}, so what is in use there is unknown',
    },
    in: ['blocked'],
    means: 'volctl could not find out who uses the device or the data',
    next: 'Run it as root of the host, with CAP_SYS_PTRACE and a /proc that shows every process; then plan again.',
    rules: ['S12', 'S21'],
  },
  MayBeInUse: {
    says: {
      target: 'a volume of a pod of this node could not be resolved, and may be of target {iqn}',
      onNode: 'pod {pod} on node {node} has a volume that may be this one: {message}',
      unknownOnNode: 'volume {name} of pod {pod} on node {node} is not known: {message}',
      unknown: 'volume {podVolumeName} of pod {pod}: {message}',
      noProcesses: 'the process table was not read: a running pod whose directory is gone may use the volume',
      unidentified:
        'pod {uid} {state} and has volumes that could not be identified ({volumes}); this may be one of them',
      unresolved: 'volume {podVolumeName} of pod {pod} could not be resolved ({message}); this may be that volume',
    },
    in: ['blocked', 'problem'],
    means: 'a volume of a pod could not be resolved or identified; what is to be undone may be that volume',
    remedy:
      'Use a credential that may read its claim and PersistentVolume, or repair them; or stop the containers of that pod; then plan again.',
    rules: ['S9', 'S21', 'S4'],
  },
  UseNotReported: {
    says: '{why} node reports its volumes in use',
    in: ['blocked'],
    means: 'no node reports volumes of a driver without attachments in use: whether the volume is free cannot be known',
    next: 'See on the node that the volume is not mounted there: `volctl status`; then: `kubectl delete volumeattachment NAME`',
    rules: ['N62', 'S3'],
  },
  StillInUse: {
    says: {
      reported: '{why} still reports the volume in use',
      heard: 'node {name} reports the volume in use, and was heard less than six minutes ago',
      path: '{path} is still there, and no operation of this plan removes it',
      elsewhere:
        "{path}, where no kubelet mounts volumes, shows the volume's device or bears its name: its driver may have it mounted there",
    },
    in: ['waiting'],
    means: 'no pod wants the volume, and the node still reports it in use: the kubelet has to unmount it first',
    next: 'See on the node what keeps the volume there: `volctl plan`',
    rules: ['R731', 'R739', 'S21'],
  },
})

const DEVICE = codes({ cause: 'device' })({
  ReadOnlyFileSystem: {
    says: {
      volume:
        'the {fsType} file system of {specName} on {path} ({source}) is read-only ({option} in its superblock options: {superOptions}), but pod {pod} mounts it to write{cause}',
      root: '{where} is on a read-only file system ({source} on {mountPoint}, {option} in its {optionsOf} options): no volume can be set up or cleaned up',
    },
    in: ['blocked', 'problem'],
    means: 'a file system is read-only although a pod mounts it to write, or the root directory lies on one',
    next: 'Look for the error (dmesg); end what uses the file system, check it (fsck), and mount it again.',
  },
  DeviceUnknown: {
    says: {
      flag: '--device names {given}, which is not a block device of this node',
      notFound: 'the device of {volume} could not be found',
      diskInUse:
        'the device of {volume} is unknown, and /dev/{disk}, which belongs to no known volume, is in use: {who}',
    },
    in: ['blocked'],
    means: "the volume's device could not be found: whether it is free cannot be known",
    next: 'Find out which device it was (lsblk): `volctl apply --device VOLUME=/dev/NAME` or `volctl apply --device VOLUME=none`',
    rules: ['S21'],
  },
  IscsiFailed: {
    says: {
      loggedIn: '{name} of {iqn} is still logged in',
      otherPortal: '{name} is a session of the same target through {portals}, which may or may not be {wanted}',
    },
    in: ['outcome'],
    means: 'an iSCSI log-out failed, or which session belongs to the volume is unknown',
    next: 'Check that iscsid runs; compare `iscsiadm -m session -P 3`; end a session that is left by hand (`iscsiadm -m session -r NUMBER -u`). Then plan again.',
    rules: ['S25'],
  },
  FilesystemUnfit: {
    says: {
      other: '{message}; {path} has {there}, but the volume asks for {wanted}',
      partitions:
        '{device} has a partition table ({partitionTable}) instead of the file system that the volume asks for ({wanted})',
      none: 'blkid(8) finds no file system on {device}; the volume asks for {wanted}',
      errors: 'fsck left errors on {device}: {output}',
    },
    in: ['outcome'],
    means:
      'what is on the device cannot be mounted for the volume: nothing that is known, a partition table, errors, or another type of file system',
    next: 'Look at the device (lsblk, blkid), and make sure that it is the right one. volctl makes and repairs no file system: run mkfs or fsck yourself, or correct the PersistentVolume; then plan again.',
    rules: ['S15'],
  },
  ExpandFailed: {
    says: {
      program: '{program} of {path}: {output}',
      readOnly: 'blockdev --getro {path}: {output}',
      unseen: '{path} is mounted as {mounted}, but blkid finds no such file system on it',
      unknownType: '{path} has a {type} file system, which volctl cannot expand',
    },
    in: ['outcome'],
    means: 'the file system could not be grown to the size of its device',
    remedy: 'Look at the file system and the kernel log (dmesg); then plan again.',
    rules: ['S23'],
  },
  RunsWithoutVolume: {
    says: "container {name} of pod {pod} runs, and nothing is mounted on {path}: what it writes to {specName} goes to the node's own disk",
    in: ['problem'],
    means: "a container runs, and nothing is mounted where its volume should be: it writes to the node's own disk",
    remedy: 'Stop the pod, save what it has written there, and delete the pod: only a new one gets its volume.',
    rules: ['S38'],
  },
})

export const PATH_CODES = { ...FOREIGN, ...DATA, ...DEAD_MOUNT, ...IN_USE, ...DEVICE }

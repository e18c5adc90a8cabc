/** How a command, an operation or an apply ends, what a person gave to it, and what could not be read, of the API server too. */
import { codes } from './code-entry.ts'

const ASKED = codes({ cause: 'asked' })({
  NotAsked: {
    says: 'done only on request: the kubelet may have been stopped to prevent this',
    in: ['blocked'],
    onRequest: true,
    means: 'the operation is done only when it is asked for',
    next: 'To ask for it: `volctl apply --remount` or `volctl apply --expand`',
    rules: ['S23'],
  },
  FlagWithoutEffect: {
    says: {
      nodeGone:
        '--node-gone {name} names a node whose kubelet reports that the node is ready: the flag changes nothing there',
      lazy: '--lazy {path}: nothing shows that this mount is dead',
      answers: '{path} answers, so it is not dead',
    },
    in: ['blocked', 'problem'],
    means: 'a flag names a node or a mount that it is not for, so that it changes nothing',
    remedy: 'Leave the flag out.',
    rules: ['R731', 'S20'],
  },
  NothingNamed: {
    says: '{name} matches no {noun} {place}',
    in: ['problem', 'error'],
    means:
      'a flag gives a name (--pod, --namespace, --volume, --device; with --cluster also --node, --node-gone) that nothing on this node, or in this cluster, has',
    next: 'Give the name as the plan shows it, or --ignore-not-found.',
  },
  AmbiguousName: {
    says: {
      kinds: '"{name}" is ambiguous on node {nodeName}: {candidates}',
      pods: '{name} matches {count} pods: {pods}',
    },
    in: ['problem', 'error'],
    means: 'several things on this node have the name that explain or --pod was given',
    next: 'Name one of those that the message lists: for explain with pod/, pvc/, pv/, va/, volume/, device/ or path/ before the name, for --pod as NAMESPACE/NAME or as a whole UID.',
  },
})

const FOLLOWS = codes({ cause: 'follows' })({
  Changed: {
    says: {
      notNeeded: 'no longer needed by a plan made now: {why}',
      differs: 'changed since the plan was made: {differences}',
      stages: 'CSI driver {driver} no longer stages volumes',
      noAttachment: 'the plan does not name the VolumeAttachment',
      attachment: 'VolumeAttachment {name} has changed since the plan was made',
      boot: 'the plan was made before the last boot of this node',
      beforeDelete: 'VolumeAttachment {name} changed in the moment before it was deleted: {message}',
      createdByOther: 'somebody else has created VolumeAttachment {name}, of another volume or node',
      link: 'the link {changed} is not as it was when the plan was made',
      otherAttachment: 'VolumeAttachment {name} is not the one that the plan was made for',
      path: '{path} was {before}, now {now}',
    },
    in: ['blocked', 'error'],
    means:
      'a fresh look does not plan the operation any more, or not in the same way; or the node was booted after the plan was made',
    remedy: 'Plan again, and look at what has changed.',
    rules: ['S26'],
  },
  Predecessor: {
    says: {
      detach: 'the detach that has to come first is blocked',
      operation: '{kind} of {volume}{pod} is blocked ({code})',
    },
    in: ['blocked'],
    means: 'an operation that has to come first is blocked, failed, or is not part of the apply',
    next: 'See what became of the operation that has to come first, and resolve that; leave it out with no flag (--only, --skip, --pod, --volume).',
    rules: ['S26'],
  },
  AlreadyDone: {
    says: 'already done: nothing of what the operation would do is left to do',
    in: ['blocked'],
    means: 'the node is as the operation of a plan file would make it: somebody carried it out before',
    next: 'Nothing. `volctl journal` shows who did it, if it was volctl.',
    rules: ['S26'],
  },
})

const ENDED = codes({ in: ['outcome', 'error'], cause: 'failed' })({
  Locked: {
    says: {
      notLocked: '{rootDir} cannot be locked: {error}',
      notCreated: 'the lock file {path} could not be created: {trouble}',
      changing: 'the lock file {path} keeps changing',
      node: 'another apply is running: pid {pid} of {user}, since {since}',
      cluster: 'another apply is at work on this cluster: {holder} holds {lease}',
      notRenewed: '{lease} could not be renewed, so that another apply may begin: {message}',
    },
    means:
      'another apply is at work, or the lock that keeps two apart could not be taken or kept, or was taken over from one that died',
    next: 'Wait for the other one to end, or look at the file or the lease that the message names.',
    rules: ['S33'],
  },
  TimedOut: {
    says: {
      answer: 'no answer within {timeout} (--timeout)',
      unfinished: 'not finished after {timeout}: {waits}',
      deleted: 'VolumeAttachment {name} was created, and somebody else has deleted it',
      call: '{what} did not answer within {seconds} s and was abandoned',
      program: '{line} did not end within {seconds} s{left}',
      umount: 'umount {path} did not end within {seconds} s{left}',
      ownership: '{path} was not given to a group within {seconds} s{left}',
      spent: 'the operation has waited for {seconds} s (--timeout), and not all of its calls are made',
    },
    means: 'a call, or an external attacher, did not finish within --timeout',
    remedy:
      'Bring the storage or the driver back, and look at its log; then plan again, with a longer --timeout if it is only slow.',
    rules: ['S34', 'N59'],
  },
  Interrupted: {
    says: {
      nothing: 'interrupted: nothing was changed',
      noOperation: 'interrupted: no operation was begun',
      notStarted: 'not started: the apply was interrupted',
      walk: '{path}: interrupted after {count} files',
      ownership: '{path}: interrupted while it was given to a group{left}',
      users: '{path}: interrupted while its users were searched for',
    },
    means: 'the command was interrupted before it began this',
    next: 'Run it again; `volctl journal` shows what an apply has done.',
  },
  Unexpected: {
    says: 'unexpected failure: {message}',
    means: 'the command or the operation failed in a way that volctl does not know',
    remedy: 'Run it again with --verbose, and report what it prints as a defect of volctl.',
  },
  CommandMissing: {
    says: '{name} is not installed on this host',
    means: 'a program that is needed is not installed on this host',
    next: 'Install the package that the message names.',
  },
  CommandFailed: {
    says: {
      losetup: 'losetup -f {target} made no loop device: {output}',
      why: '{message}: {output}',
      output: '{line} printed too much output and was killed{left}',
      iscsiadm: 'iscsiadm {arguments} failed: {output}',
      notStopped: '{unit} did not stop: {failure}',
      notStarted: '{name} could not be started: {message}',
    },
    means: 'a program failed, or could not be started',
    remedy: 'Run the program by hand, and see what it says; then plan again.',
  },
})

const FAILED = codes({ in: ['outcome'], cause: 'failed' })({
  MountFailed: {
    says: {
      mount: 'mount of {mount} failed: {why}',
    },
    means: 'mount failed, and left nothing behind',
    remedy: 'Look at the source, its options and the kernel log (dmesg); then plan again.',
  },
  UnmountFailed: {
    says: 'umount failed: {output}',
    means: 'umount failed for another reason than being busy',
    remedy: 'Look at the mount (findmnt) and the kernel log (dmesg); then plan again.',
  },
  WriteFailed: {
    says: {
      walkEnded: 'the process that gives {path} to group {gid} ended early: {output}',
      type: '{path} is a {type}, not a file',
      noGroup: '{target}: no group is given',
      hostPath: 'hostPath {target} could not be created: {output}',
    },
    means: "a file, link or directory could not be written, removed, or given to the pod's fsGroup",
    remedy:
      'Look at what is in its place, at the room left (df, df -i) and at the file system (dmesg); then plan again.',
    rules: ['S12'],
  },
  StillAtWork: {
    says: {
      call: 'not started: a call on {because} was abandoned and may still be running',
      device: 'a call on device {number} was abandoned and may still be running',
      umount: 'not started: an earlier umount hangs',
      waits: 'interrupted; {waits}',
      abandoned: 'abandoned before it ended; it may still be running',
    },
    means: 'a call was abandoned, by the deadline or at the second interruption, and may still be running',
    remedy: 'Wait until the call has ended, or reboot; then plan again.',
    rules: ['C119'],
  },
})

const NO_ANSWER = codes({ in: ['outcome', 'error'], cause: 'unread' })({
  OtherCluster: {
    says: {
      plan: 'the plan was made for cluster {planned}, and this is {connected}',
      kubeconfig: '{source} has another server, or verifies the server in another way, than when volctl started.',
    },
    means: 'another API server answers than when the plan was made, or the command began',
    remedy: 'Give the kubeconfig and context of the cluster that the plan was made for.',
    rules: ['S1'],
  },
  JournalFailed: {
    says: {
      noPlace: 'there is no place for the journal: neither XDG_STATE_HOME nor HOME is set',
      notWritten: 'the journal {path} cannot be written: {trouble}',
    },
    means: 'the journal could not be written',
    remedy:
      'Apply does nothing that it could not record first: free space on the disk, or name another directory with --journal.',
    rules: ['S14'],
  },
  ApiUnreachable: {
    says: {
      late: 'The API server {server} did not give {what} within {seconds} s.',
      notReached: 'The API server {server} cannot be reached: {why}.',
    },
    means: 'the API server cannot be reached, or does not answer in time',
    remedy:
      'Check that the API server is up, that the server address in the kubeconfig is right, and that no firewall or proxy swallows the connection.',
  },
  TlsMismatch: {
    says: 'TLS with the API server {server} failed: {trouble} ({reason}).',
    means: 'the API server and the credential do not trust each other',
    remedy:
      "Check the kubeconfig's certificate-authority, tls-server-name and client certificate, and this host's clock.",
  },
  Unauthorized: {
    means: 'the API server does not accept the credential',
    remedy: 'Log in again, or give another credential with --kubeconfig or --context.',
  },
  NotFound: {
    says: {
      name: '"{what}" was not found on node {nodeName}; searched: {searched}',
      unread: '"{what}" was not found on node {nodeName}; searched: {searched}; not all {unread} could be read',
      number:
        '{path} on node {nodeName}: no mount and no loop device has this number; searched: {mounts} mounts, {files} files and directories',
      below:
        '{path} on node {nodeName}: not among the directories of {rootDir}; searched: {mounts} mounts, {files} files and directories',
      elsewhere:
        '{path} on node {nodeName}: neither a mount point nor part of a volume of this node; searched: {mounts} mounts, {files} files and directories',
      inside:
        '{path} on node {nodeName}: neither a mount point nor part of a volume of this node; inside the {fsType} on {mountPoint}; searched: {mounts} mounts, {files} files and directories',
      line: 'volctl does not know this sentence, and it names no pod, volume, path or driver',
    },
    means: 'nothing of that name exists, in the API or on this node',
    next: 'Check the name, the namespace and --context; `volctl explain --help` says what may be named.',
  },
  Conflict: {
    says: '{name} was read without its resourceVersion',
    means: 'an object of the API was changed meanwhile',
    remedy: 'Plan again.',
    rules: ['S26'],
  },
  ApiFailed: {
    says: {
      badAnswer: '{server}: the answer to {request} is {what}.',
      tooLarge: '{server}: the answer to {request} {why}.',
      field: '{server}: in the answer to {request}, {fault}.',
      compression: '{server}: an answer is not compressed as its header says ({reason}).',
      otherPods: "{server}: the list of {nodeName}'s pods contains a pod of another node or without a UID.",
      tooMany: '{server}: the pods of this node name more than {most} {resource}.',
    },
    means:
      'the API server failed, refused a request, or gave an answer that no API server gives; the message says which',
    remedy:
      'Look at the words of the API server, into its log, and at what stands between (a proxy, an admission webhook); then try again.',
    rules: ['S34'],
  },
  CredentialFailed: {
    says: {
      plugin: 'The credential plugin {why}.',
      file: '{file} cannot be read{why}.',
    },
    means:
      'the kubeconfig gives no credential: its plugin failed, a file that it names cannot be read, or a token has expired',
    next: 'Run the plugin by hand, check the file or log in again; or use another credential (--kubeconfig).',
  },
})

const UNREAD = codes({ cause: 'unread' })({
  NodeUnreadable: {
    says: {
      noProc: '/proc is not mounted: volctl sees neither files nor processes without it',
      mountTable: 'mount table, line {line}: it {fault}',
      changing: 'the mount table changed on each of {tries} reads',
      kubeletConfig: 'kubelet configuration {path}: {why}',
      rootDir: 'root directory {rootDir}{fault}',
      path: '{path}: {error}',
      directory: '{path} cannot be read: {error}',
      notUtf8: 'the name of {path} is not UTF-8, so that volctl cannot reach it; what it contains is unknown',
      unknown: '{path} could not be read ({error}); what it contains is unknown',
      incomplete: '{path} could not be read completely ({error}) and may contain files that the kubelet did not create',
    },
    in: ['blocked', 'problem', 'error'],
    means:
      "/proc, the mount table, the kubelet's root directory, something in it or its configuration is missing, cannot be read whole, or is not what it should be",
    remedy: 'Run volctl as root of the host, with /proc mounted; check --root-dir and its file system (dmesg).',
    rules: ['S6', 'S9', 'S27', 'S8', 'S33', 'S12', 'S13'],
  },
  NotBelieved: {
    says: {
      file: '{path}: {why}, but the kubelet may use it',
      path: '{path}: {why}',
      program: '{path} is not run as root: {message}',
      plan: '{subject} {name}: {why}, and whoever wrote it could override safety checks',
    },
    in: ['problem', 'outcome', 'refusal', 'error'],
    means:
      'someone other than root could have changed a file, a program or a process, so that it is not believed, run or obeyed',
    next: 'Let root own it, and let nobody else write to it or to a directory above it; then plan again.',
    rules: ['S32', 'S33'],
  },
  ContentUnknown: {
    says: {
      why: '{pod} {reason}',
    },
    in: ['blocked'],
    means: 'what fills the volume, or a secret or token that it needs, could not be read from the API',
    remedy: 'Use a credential that may read it (--kubeconfig); then plan again.',
    rules: ['S3'],
  },
  CsiDriverUnknown: {
    says: {
      why: 'CSIDriver {driver} {reason}',
      unread: 'it could not be read whether {specName} has to be attached',
      toAttach: 'the CSIDriver could not be read, so it is not known whether {specName} must be attached',
    },
    in: ['blocked', 'waiting'],
    means: 'the CSIDriver object could not be read',
    remedy: 'Use a credential that may read csidrivers (--kubeconfig); then plan again.',
    rules: ['S3', 'S22'],
  },
  PodListIncomplete: {
    says: {
      incomplete: 'the pod list is incomplete, so no pod counts as deleted{why}',
      differs:
        "{source} shows {count} pods of {nodeName}, the kubelet's credential {kubeletCount}; in one list only: {pods}.",
    },
    in: ['problem', 'refusal'],
    means:
      "the list of this node's pods is missing or incomplete, or the kubelet's own credential sees other pods: no pod counts as gone",
    next: 'Use a credential that may list all pods (--kubeconfig), and ask the API server directly, not through a proxy; then plan again.',
    rules: ['S2', 'S3'],
  },
  RuntimeUnknown: {
    says: {
      notAsked: 'the container runtime was not asked',
      silent: 'the container runtime{at} did not answer{error}',
      noProcesses: 'the process table was not read, so nothing confirms that a pod does not run',
      knowsNone:
        'the container runtime at {endpoint} lists none of the pods that are known to run on this node ({count})',
    },
    in: ['problem'],
    means:
      'nothing shows which pods still run: the container runtime was not asked, does not answer or knows none of the pods here, or the process table could not be read',
    next: 'Start the container runtime, or name its socket with --runtime-endpoint, and run volctl as root of the host; then plan again.',
    rules: ['S9'],
  },
  NodeUnknown: {
    says: {
      ready: 'whether node {name} is ready is not known',
      csiNode: 'the CSINode of node {name} could not be read',
    },
    in: ['waiting'],
    ofNode: true,
    means: 'whether the node is ready is not known: nothing is detached from it or attached to it',
    next: 'Look at the Node, and start its kubelet. Once its machine is gone for good, delete the Node; then: `volctl plan --cluster --node-gone NAME`',
    rules: ['R731', 'S3'],
  },
  Forbidden: {
    says: {
      list: 'this credential may not list VolumeAttachments, so that it never shows {volumes} as detached',
      change: 'this credential may not {verb} VolumeAttachments',
    },
    in: ['blocked', 'problem', 'error'],
    means: 'the credential lacks the right',
    remedy: 'Give this identity the right, or use another credential (--kubeconfig, --context).',
    rules: ['S3', 'S31'],
  },
  ReadFailed: {
    says: {
      list: 'the list of {list} could not be read as a whole: nothing is {undone}',
      unnamed: 'a read of the API failed, and the error names no object, so anything may be missing: {why}',
      clock: 'the clock of the API server is not known: everything counts as just now',
      noNode: 'the cluster has no node',
      section: 'section {section} is missing; what it would show is unknown',
      attachments: 'VolumeAttachments could not be read, so these volumes are not detached: {volumes} ({error})',
    },
    in: ['problem', 'outcome'],
    means: 'something that is needed was not read, or not whole, so that it counts as unknown and in use',
    next: 'The message says what: give the credential the right to read it, or use another one (--kubeconfig); then plan again.',
    rules: ['S3', 'S2', 'S1', 'S29'],
  },
  InsecureApi: {
    says: 'API server {connection}: {why}',
    in: ['problem', 'refusal'],
    means: 'the API server is not verified: anyone on the network path could have answered in its place',
    remedy:
      'Use a kubeconfig with an https server and its certificate-authority. Or, if nobody else can be on the network path, give apply --accept-insecure-api.',
    rules: ['S34'],
  },
})

const ERRORS = codes({ in: ['error'] })({
  KubeletNotStarted: {
    says: '{unit} was stopped {down} ago and does not run again: {why}',
    means: "the kubelet's unit did not start again after the apply",
    next: 'See why (`journalctl -u UNIT`). systemd tries once more when --max-downtime is over.',
    rules: ['S35'],
  },
  NoNodeHere: {
    says: 'this machine is no node: there is no kubelet here',
    means: 'this machine is no node: there is no kubelet here',
    remedy:
      'Run volctl on the node, or give a snapshot of the node with --snapshot; --cluster reads the API server alone.',
  },
  FileDamaged: {
    says: {
      why: '{subject} {name}: {why}',
      ofCluster: '{subject} {name}: it is of a cluster, not of a node',
      ofNode: '{subject} {name}: it is of a node, not of a cluster',
      field: '{subject} {name}: {field} is {found}, not {wanted}',
      version: '{subject} {name}: written by volctl {version}; this is volctl "{volctlVersion}"',
      empty: '{subject} {name}: {part} is empty',
      cutOff: '{subject} {name}: {part} is cut off',
      packed: '{subject} {name}: {part} cannot be decompressed: {why}',
      limit: '{subject} {name}: {part} {why}',
      notJson: '{subject} {name}: {part} is not JSON: {why}',
      notObject: '{subject} {name}: {part} is not a JSON object',
      twice: '{subject} {name}: two operations have the id {id}',
      printed:
        '{subject} {name}: the options of the plan are missing: this is the output of volctl plan -o json, not a file saved with --out',
      bytes: '{subject} {name}: the mount table is larger than {most} bytes',
      lines: '{subject} {name}: the mount table has more than {most} lines',
    },
    means:
      'a file is no snapshot or plan file, is cut off, damaged or too large, or was written by a version of volctl that this one does not read',
    next: 'Take it again; a snapshot: `volctl snapshot --output FILE`',
    rules: ['S34'],
  },
  NotRoot: {
    says: {
      user: "apply needs root: it changes the kubelet's mounts and directories",
      lacks: 'apply runs as root but lacks {missing}',
    },
    means: "apply needs root, with all of root's capabilities",
    remedy: 'Run it with sudo, or with the capabilities that the message names.',
  },
  NotConfirmed: {
    says: 'not confirmed: nothing was changed',
    means: 'apply asked, and the answer was not yes: nothing was changed',
    remedy: 'Answer yes, or give --yes.',
    rules: ['S31'],
  },
  Usage: {
    says: {
      noTime: '--max-downtime {maxDowntime} leaves no time for an operation: volctl waits {settle} first',
      noTimeForOne:
        '--max-downtime {maxDowntime} leaves no time for an operation: volctl waits {settle} first, and one may take {timeout} (--timeout)',
      form: '{flag}: "{text}" is not {form}.',
      missing: '{name} is missing',
      noCommand: 'command {name} not found',
      place: '{flag} stands where the command belongs',
      notAsked: 'apply cannot ask for confirmation: standard {stream} is not a terminal',
      lines: 'these are {count} lines, and explain takes one',
      input: 'explain - and --snapshot - both read standard input',
      oneNode: 'a pass over one node takes one --node',
      withPlanFile: '{flags} cannot be combined with a plan file',
      besidePlanFile: 'plan file {planfile} stands beside other arguments',
      scope: '{subject} {name}: scope is {found}; this apply has scope {wanted}',
      watch: '-w goes with -o table and wide, not with -o {format}',
      snapshot: '{flag}: the snapshot is of {held}, not of {given}.',
      unnamed: '"{word}" names neither a pod nor a volume',
      both: 'pods and volumes are named at once',
      namespace: '"{what}" names namespace {given}, and --namespace is {namespace}',
      noKind: 'two words were given, and "{word}" is no kind of thing that explain knows',
    },
    means: 'a flag or an argument is not one that the command takes, or not in that form',
    next: 'See volctl COMMAND --help.',
  },
  FileUnreadable: {
    says: {
      input: 'standard input: {why}',
      document: '{subject} {name}: {why}',
      journal: 'the journal {directory}/{file} cannot be read: {why}',
    },
    means: 'a snapshot, plan file or journal cannot be read',
    remedy: 'Check the path, and who may read it.',
  },
  NotWritten: {
    says: {
      document: '{subject} {name}: {why}',
      tooLarge: '{subject} {name}: too large for apply to read: the plan {why}',
      blockDevice: 'cannot write the output: standard output is a block device',
      output: 'cannot write the output: {error}',
    },
    means: 'a file, or the output, could not be written',
    remedy: 'Check the directory, the space on its file system, and what reads the output.',
  },
  NotReached: {
    says: {
      seen: 'timed out after {waited}: {missing}',
      unseen: 'timed out after {waited}: {missing}; the last look failed: {why}',
    },
    means: 'the time of wait was up before the condition was reached',
    remedy: 'Wait longer with --timeout, or see what would end it: `volctl plan`',
    rules: ['R472'],
  },
  NoKubeconfig: {
    says: {
      missing: 'The kubeconfig {path} does not exist.',
      noneOf: 'None of the files in KUBECONFIG exists: {value}.',
      notInPod: '--kubeconfig {value}: volctl is {why}.',
      nowhere: 'No kubeconfig was found. {places}',
    },
    means: 'there is no kubeconfig, in the usual places or where one was named',
    next: 'Give one with --kubeconfig or KUBECONFIG; --verbose lists the places that were looked at.',
  },
  KubeconfigInvalid: {
    says: {
      noContext: 'The kubeconfig {source} has no context "{contextName}". {known}',
      authProvider: '{where} logs in by the auth-provider "{name}"{since}: volctl does not support it.',
      noMapping: '{path} is not a kubeconfig: not a mapping.',
      otherKind: '{path} is a {kind}, not a kubeconfig.',
      notFile: 'The kubeconfig {why}, not a file.',
      unread: 'The kubeconfig {path} cannot be read: {why}.',
      damaged: 'The kubeconfig {path} is damaged: {why}.',
      noCurrent: 'The kubeconfig {source} has no current context. {known}',
      noServer: '{where} has no cluster with a server address.',
      noUrl: 'The server address of context "{contextName}" of {source} is not an https:// or http:// URL.',
      noUser: '{where} names an unknown user.',
      credential: 'The credential in {source} (context {contextName}) is unusable.',
    },
    means:
      'the kubeconfig cannot be read, is not valid, or has not what is asked of it: a context, a cluster, a user, a way to log in',
    remedy: 'Check the file: `kubectl config view --kubeconfig FILE`; choose a context with --context.',
  },
  KubeconfigUnsafe: {
    says: {
      why: '{file} is not used: {message}.',
      program: '{source} is not used: it would start a program ({command}), and was not given explicitly',
    },
    means:
      'someone other than root could have written the kubeconfig or a file that it names, or it starts a program and was not given',
    next: 'Copy it to where only root may write, and name the copy with --kubeconfig.',
    rules: ['S33'],
  },
})

export const RUN_CODES = { ...ASKED, ...FOLLOWS, ...ENDED, ...FAILED, ...NO_ANSWER, ...UNREAD, ...ERRORS }

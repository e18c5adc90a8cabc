/** A line for each sentence that has none in lines.ts, as the programs write them; what it is known as counts, not what it is on a node. */
import type { SentenceName } from '../../src/core/log-lines/sentences/sentences.ts'
import type { LINES } from './lines.ts'

const setUp = (cause: string): string => `MountVolume.SetUp failed for volume "data" : ${cause}`
const stage = (cause: string): string => `MountVolume.MountDevice failed for volume "pvc-1" : ${cause}`
const attach = (cause: string): string => `AttachVolume.Attach failed for volume "pvc-1" : ${cause}`
const rpc = (code: string, text: string): string => `rpc error: code = ${code} desc = ${text}`
const kernel = (text: string): string => `Nov 22 20:01:02 node-1 kernel: ${text}`
const mount = (output: string, kind = 'nfs'): string =>
  setUp(
    `mount failed: exit status 32\nMounting command: mount\nMounting arguments: -t ${kind} nas-1:/a /m\nOutput: ${output}`,
  )

export const ROWS: Readonly<Record<Exclude<SentenceName, keyof typeof LINES>, string>> = {
  OrphanedPodWaits: 'Orphaned pod "x" found, but volumes not yet removed.  Reducing cpu to minimum',
  NfsDenied: mount('mount.nfs: access denied by server while mounting nas-1:/a'),
  NfsNoExport: mount('mount.nfs: mounting nas-1:/a failed, reason given by server: No such file or directory'),
  NfsNoStatd: mount('mount.nfs: rpc.statd is not running but is required for remote locking.'),
  NfsVersion: mount('mount.nfs: requested NFS version or transport protocol is not supported'),
  MountHelperMissing: mount(
    'mount: /m: bad option; for several filesystems (e.g. nfs, cifs) you might need a /sbin/mount.<type> helper program.',
  ),
  CifsDenied: mount('mount error(13): Permission denied', 'cifs'),
  CifsNoShare: mount('mount error(2): No such file or directory', 'cifs'),
  CifsUnreachable: mount('mount error(115): Operation now in progress', 'cifs'),
  CifsOptions: mount('mount error(22): Invalid argument', 'cifs'),
  CephMount: mount('mount error: no mds server is up or the cluster is laggy', 'ceph'),
  SpecialDeviceMissing: mount('mount: /m: special device /dev/xvdba does not exist.', 'ext4'),
  MountPointMissing: mount('mount: /m: mount point does not exist.', 'ext4'),
  AlreadyMounted: mount('mount: /m: /dev/sdc already mounted or mount point busy.', 'ext4'),
  FuseFailed: setUp(rpc('Internal', 'fuse: device not found, try modprobe fuse first')),
  WriteProtected: mount('mount: /m: cannot mount /dev/sdc read-only.', 'ext4'),
  MountRights: mount('mount: /m: must be superuser to use mount.', 'ext4'),
  IscsiNoSession: 'iscsi: failed to rescan session with error: iscsiadm: No session found.',
  IscsiLogin: setUp(
    'iscsi: failed to attach disk: Error: iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)',
  ),
  IscsiUnreachable: setUp(
    'failed to get any path for iscsi disk, last err seen: iscsiadm: cannot make connection to 10.0.0.7: Connection refused',
  ),
  DriverGaveUp: attach(rpc('Aborted', 'no slot now')),
  XfsLogDirty: stage('The filesystem has valuable metadata changes in a log which needs to be replayed.'),
  BindSourceMissing: setUp(
    'mount failed: exit status 32\nMounting command: mount\nMounting arguments: -o bind /mnt/disk-1 /m\nOutput: mount: special device /mnt/disk-1 does not exist',
  ),
  MountInReadOnly:
    'Error: failed to start container "web": error mounting "/p/config" to rootfs at "/etc/app/conf.d": mkdir /x/etc/app/conf.d: read-only file system: unknown',
  MayastorFailed: attach(rpc('InvalidArgument', "status code '400 Bad Request': Failed to create child of nexus n-1")),
  IscsiNotLoggedIn: 'iscsiadm: Could not log into all portals',
  RuntimeHasNot: `"ContainerStatus from runtime service failed" err="${rpc('NotFound', 'an error occurred when try to find container x: not found')}"`,
  RuntimeOffersNot: `RunPodSandbox from runtime service failed: ${rpc('Unimplemented', 'unknown service runtime.v1.RuntimeService')}`,
  RuntimeCallFailed: `StopContainer from runtime service failed: ${rpc('Internal', 'x')}`,
  IscsiSessionExists:
    'iscsiadm: default: 1 session requested, but 1 already present. initiator reported error (15 - session exists)',
  IscsiNoDaemon: 'iscsiadm: can not connect to iSCSI daemon (111)!',
  IscsiConnectionLost: kernel('connection1:0: detected conn error (1022)'),
  IscsiStillUsed:
    'UnmountDevice failed: iscsi: failed to detach disk: /var/lib/kubelet/plugins/kubernetes.io/iscsi/iface-default/x',
  IscsiSettings: 'iscsi: failed to create new iface: iscsiadm: x (exit status 7)',
  FibreChannelNoDisk: setUp('no fc disk found'),
  FibreChannelDetach: 'fc: detachFCDisk failed. device: sdc err: x',
  FibreChannelFailed: 'fc: failed to setup',
  PathsFailing: kernel('device-mapper: multipath: 253:3: Failing path 8:32.'),
  MultipathInUse: 'multipathd[612]: mpatha: map in use',
  NvmeLost: kernel('nvme nvme1: I/O 12 QID 3 timeout, controller is down; nvme nvme1: reconnecting in 10 seconds'),
  CephUnreachable: stage(
    rpc(
      'Internal',
      'rbd: map failed with error an error (exit status 110) occurred, rbd error output: rbd: map failed: (110) Connection timed out',
    ),
  ),
  CephDenied: kernel('rbd: rbd0: failed to blocklist client4711: -13'),
  RbdImageUsed: stage(rpc('Internal', 'rbd image pool/csi-vol-1 is still being used')),
  RbdFeatures: stage(rpc('Internal', 'rbd: sysfs write failed RBD image feature set mismatch')),
  RbdImageMissing: stage(rpc('Internal', 'rbd: error opening image csi-vol-1: (2) No such file or directory')),
  CephSettings: 'failed to provision: missing ID field userID in secrets',
  GlusterFailed: setUp('glusterfs: mount failed: the following error information was pulled from the log'),
  RegistrationFailed: 'RegisterPlugin error -- plugin registration failed with err: x at socket /r.sock',
  RegistrarWaits: "main.go:160] Kubelet plugin registration hasn't succeeded yet, file=/p/registration doesn't exist.",
  RegisteredTwice:
    'kubernetes.io/csi: x for CSI driver "d" failed. Another driver with the same name is already registered with a higher supported version: "1.1.0"',
  UnregisterFailed: 'kubernetes.io/csi: registrationHandler.DeRegisterPlugin failed: x',
  PluginWatcher: '"Failed to traverse plugin socket path, skipping past it" err="x" path="/r"',
  CsiNodeMissing: 'Can\'t get CSINode node-7: csinode.storage.k8s.io "node-7" not found',
  LifecycleModeWrong:
    'MountVolume.NewMounter initialization failed for volume "s" : volume mode "Ephemeral" not supported by driver secrets-store.csi.k8s.io (no CSIDriver object)',
  CsiDriverObject: 'kubernetes.io/csi: Failed to check CSIDriver for disk.test: x',
  CapabilityUnknown: setUp('kubernetes.io/csi: mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability: x'),
  SecretsStoreClass: setUp(
    rpc(
      'Unknown',
      'failed to get secretproviderclass shop/vault, error: SecretProviderClass.secrets-store.csi.x-k8s.io "vault" not found',
    ),
  ),
  SecretsStoreProvider: setUp(
    rpc(
      'Unknown',
      'failed to mount secrets store objects for pod shop/web-0, err: error connecting to provider "vault": provider not found: provider "vault"',
    ),
  ),
  SecretsStoreFailed: setUp('failed to mount secrets store objects for pod shop/web-0, err: x'),
  EfsFailed: setUp('Output: mount.efs says x'),
  LonghornNotReady: attach("volume pvc-1 hasn't been attached yet"),
  ZfsOrLvm: setUp(rpc('Internal', 'volume group vg-1 not found on the node')),
  LocalPathFailed:
    'failed to provision volume with StorageClass "local-path": failed to create volume pvc-1: create process timeout after 120 seconds',
  FlexVolumeFailed:
    'FlexVolume: driver call failed: executable: /usr/libexec/k/x/x, args: [init], error: x, output: ""',
  DriverStandalone:
    'Failed to provision volume with StorageClass "s": rpc error: code = Internal desc = controller not configured',
  FormatFailed: 'GRPC error: rpc error: code = Internal desc = could not format "/dev/sdd"(lun: "1")',
  AttachedElsewhere: attach(rpc('Internal', 'VolumeInUse: vol-1 is already attached to an instance')),
  StuckAttaching: attach(rpc('Internal', 'expected device to be attached but was attaching')),
  StuckDetaching: attach('disk d is in use: AttachDiskWhileBeingDetached'),
  CloudQuota: 'failed to provision volume: googleapi: Error 403: Quota exceeded: QUOTA_EXCEEDED',
  CloudRights: attach(rpc('Internal', 'UnauthorizedOperation: You are not authorized to perform this operation.')),
  CloudCredential: attach(rpc('Internal', 'NoCredentialProviders: no valid providers in chain. Deprecated.')),
  CloudWrongZone: attach('InvalidVolume.ZoneMismatch: The volume is not in the same zone'),
  CloudNoDisk: attach(rpc('NotFound', 'InvalidVolume.NotFound: The volume does not exist')),
  CloudNoMachine: attach(rpc('NotFound', 'Instance "i-1" not found: failed to get instance ID')),
  CloudNoRoom: 'failed to create volume: no shared datastores found; insufficient disk space on datastore',
  CloudKey: attach('InvalidKmsKey: the KMS key is disabled'),
  StorageClassMissing:
    'Warning  ProvisioningFailed  3s  persistentvolume-controller  storageclass.storage.k8s.io "fast" not found',
  ProvisionerAbsent:
    "Normal  ExternalProvisioning  3s (x9 over 2m)  persistentvolume-controller  Waiting for a volume to be created either by the external provisioner 'disk.test' or manually by the system administrator.",
  ProvisionedInTree: 'no volume plugin matched name: kubernetes.io/old',
  ClaimSizeQuota: 'persistentvolumeclaims "data" is forbidden: exceeded quota: q, requested: requests.storage=9Gi',
  NoVolumeFits:
    'Normal  FailedBinding  3s  persistentvolume-controller  no persistent volumes available for this claim and it asks for 9Gi',
  ClaimMisbound:
    'Warning  ClaimMisbound  3s  persistentvolume-controller  Two claims are bound to the same volume, this one is bound incorrectly',
  ClaimLost:
    'Warning  ClaimLost  3s  persistentvolume-controller  Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  TopologyMissing:
    'failed to provision volume: error generating accessibility requirements: no topology key found on CSINode node-1',
  DeletingVolumeFailed: 'Warning  VolumeFailedDelete  3s  x  persistentvolume pvc-1 is still attached to node node-1',
  ProvisioningFailed: 'failed to provision volume with StorageClass "s": x',
  SnapshotFailed: 'Warning  SnapshotCreationFailed  3s  snapshot-controller  failed to create snapshot: x',
  SnapshotNotReady:
    'error getting handle for DataSource Type VolumeSnapshot by Name s: error getting snapshot s from api server: x',
  BoundToMissingVolume:
    '0/3 nodes are available: 3 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
  NotEnoughStorage: '0/3 nodes are available: 3 node(s) did not have enough free storage.',
  BindingFailed: 'running PreBind plugin "VolumeBinding": binding volumes: x',
  ReadWriteOncePodUsed:
    '0/1 nodes are available: 1 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
  RecyclerFailed: 'failed to delete recycler pod default/recycler-1: x',
  ClaimProtected: 'Keeping PVC because it is being used by pod: kubernetes.io/pvc-protection',
  ResizeToolMissing: 'Expander.NodeExpand failed to expand the volume : xfs_growfs: executable file not found in $PATH',
  ResizeRefused: 'Expander.NodeExpand failed to expand the volume : resize2fs: Permission denied to resize filesystem',
  ExpansionForbidden:
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  ShrinkForbidden: 'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ExpansionFailed:
    'Warning  VolumeResizeFailed  3s  external-resizer disk.test  resize volume "pvc-1" by resizer "disk.test" failed: x',
  ExpansionWaits:
    'Normal  FileSystemResizeRequired  3s  external-resizer x  Require file system resize of volume on node',
  Expanding:
    'Normal  FileSystemResizeSuccessful  3s  kubelet  MountVolume.NodeExpandVolume succeeded for volume "pvc-1"',
  SubPathFailed: 'Error: failed to prepare subPath for volumeMount "data" of container "c"',
  SubPathCleanup: 'error cleaning subPath mounts for volume "data" : x',
  MountOfWrongKind:
    'error mounting "/m/f" to rootfs at "/f": not a directory: unknown: Are you trying to mount a directory onto a file (or vice-versa)?',
  NoPropagation: 'Error: path "/mnt" is mounted on "/" but it is not a shared mount',
  RuntimeRootBusy: 'failed to unmount target /run/containerd/io.containerd.runtime.v2.task/k8s.io/x/rootfs: x',
  ContainerNotCreated: 'Error: failed to create containerd container: x',
  ContainerNotKilled: 'KillContainerError: unable to kill init process: x',
  AttachmentEnding: attach('volume attachment is being deleted'),
  SandboxFailed: 'Failed to create pod sandbox: plugin type="x" failed (add)',
  HostPathWrong: setUp('hostPath type check failed: /data is not a directory'),
  LocalPathMissing: setUp('local: failed to mount device /dev/sdq at /m (fstype: ext4), error x'),
  FsGroupDiffers: 'The requested fsGroup is 1000, but the volume data has GID 2000. The volume may not be shareable.',
  GroupNotSet: setUp('applyFSGroup failed for vol vol-1: x'),
  SELinuxLabels: '"Error" err="conflicting SELinux labels of volume data: a and b"',
  ModeWrong: 'volume data has volumeMode Block, but is specified in volumeMounts',
  MountOptionsRefused: 'MountVolume.MountOptionSupport check failed for volume "data" : x',
  PluginUnknown: 'AttachVolume.FindAttachablePluginBySpec failed for volume "pvc-1"',
  MigrationFailed: 'failed to translate in-tree pv to CSI: x',
  GitRepoOff: setUp('git-repo volume plugin has been disabled; if necessary, it may be re-enabled'),
  HugePagesWrong: setUp(
    'medium HugePages-2Mi: hugePages storage requested, but there is no resource request for huge pages',
  ),
  PathFailed: 'IsLikelyNotMountPoint(/m): x',
  QuotaOfEmptyDir: 'unable to run xfs_quota: x',
  ContentNotWritten: 'Error writing payload to dir: x',
  ContentNotPrepared: "Couldn't get secret payload shop/s: x",
  CleanUpAfterFailure: 'error cleaning up mount data after failure. Create unmounter failed with x',
  StillMountedAfterUmount: '/m is still mounted, despite call to unmount().  Will try again next sync loop.',
  StillReferenced:
    'GetDeviceMountRefs check failed for volume "pvc-1" : the device mount path "/g" is still mounted by other references [/m]',
  BlockDeviceMissing:
    'MapVolume.MapBlockVolume failed for volume "pvc-1" : blkUtil.MapDevice failed. devicePath: /p, bindMount: true: failed to bind mount devicePath: /p to linkPath /l: mount failed: exit status 32',
  DeviceMapFailed: 'makeLoopDevice failed for path /p: x',
  StagingDirectory: stage('kubernetes.io/csi: attacher.MountDevice failed to create dir "/g":  x'),
  NodeGoneFromController:
    'error removing node "node-7" from desired-state-of-world: failed to delete node "node-7" from list of nodes managed by attach/detach controller--the node still contains 1 volumes',
  DetachWithoutVolume: 'Error processing "csi-1": failed to detach: persistentvolume "pvc-1" not found',
  ControllerBooks: '"Error populating the desired state of world" err="x"',
  KubeletBooks: '"Could not add volume information to actual state of world" volumeName="kubernetes.io/csi/d^v"',
  KubeletWithoutApi: 'kubernetes.io/csi: kubeclient not set, assuming standalone kubelet',
  FieldMissing: 'kubernetes.io/csi: attacher.MountDevice failed, spec is nil',
  NotInThisBuild: 'plugin volume host does not implement KubeletVolumeHost interface',
  TableUnreadable: 'wrong number of fields in (expected at least 10, got 4): x',
  AttachLimitNumber: 'Exceeded max supported attach limit value, truncating it to 2147483647',
  FetchingFailed: 'error processing PVC shop/data: failed to fetch PVC from API server: x',
  FsckMissing: "'fsck' not found on system; continuing mount without running 'fsck'.",
  MountLost: rpc(
    'InvalidArgument',
    'targetpath /var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-1/mount is not mounted',
  ),
  OtherFormat: 'Configured to mount disk /dev/sdc as xfs but current format is ext4, things might break',
  JournalAborted: kernel('Aborting journal on device sdb-8.'),
  DiskErrors: kernel('blk_update_request: I/O error, dev sdb, sector 2048 op 0x0:(READ)'),
  DeviceOffline: kernel('sd 2:0:0:1: rejecting I/O to offline device'),
  BeyondEnd: kernel('sdb: rw=0, want=20971528, limit=10485760; attempt to access beyond end of device'),
  DuplicateUuid: kernel("XFS (sdc): Filesystem has duplicate UUID 7 - can't mount"),
  NoFileSystemFound: kernel("EXT4-fs (sdb): VFS: Can't find ext4 filesystem"),
  NfsServerAway: kernel('nfs: server nas-1 not responding, timed out'),
  CifsLost: kernel('CIFS: VFS: \\\\nas-1 has not responded in 180 seconds. Reconnecting...'),
  TaskBlocked: kernel('INFO: task java:812 blocked for more than 120 seconds.'),
  BusyInodes: kernel('VFS: Busy inodes after unmount of sdb (ext4)'),
  DeviceMapperFailed: kernel('device-mapper: table: 253:4: linear: Device lookup failed'),
  FileSystemNews: kernel('EXT4-fs (sdb): mounted filesystem 7 r/w with ordered data mode. Quota mode: none.'),
  SimilarErrors: '"There were many similar errors. Turn up verbosity to see them." err="x" numErrs=3',
  DetachingFailed: 'DetachVolume.Detach failed for volume "pvc-1" : x',
  AttacherFailed: 'Error processing "csi-1": x',
  OperationFailed: 'Operation for "x" failed. No retries permitted until 2026-11-22 20:01:04 +0000 UTC. Error: x',
  PodNotSynced: '"Error syncing pod, skipping" err="x" pod="shop/web-0"',
  PodNotScheduled: '0/3 nodes are available: 3 node(s) had untolerated taint {a: b}.',
  DriverCallFailed: 'GRPC error: rpc error: x',
  NodePublishFailed: 'NodePublishVolume failed for volume vol-1: x',
  NodeUnpublishFailed: 'NodeUnstageVolume failed for volume vol-1: x',
  ControllerPublishFailed: 'Could not attach volume "vol-1" to node "i-1": x',
  ControllerUnpublishFailed: 'Could not detach volume "vol-1" from node "i-1": x',
  ProbeFailed: 'Warning  Unhealthy  3s (x9 over 2m)  kubelet  Liveness probe failed: x',
  PodEvicted: 'Warning  Evicted  3s  kubelet  The node was low on resource: memory.',
  WaitsForConsumer:
    'Normal  WaitForFirstConsumer  3s (x9 over 2m)  persistentvolume-controller  waiting for first consumer to be created before binding',
  VolumeDone:
    'Normal  SuccessfulAttachVolume  3s  attachdetach-controller  AttachVolume.Attach succeeded for volume "pvc-1"',
  VolumeBegun: '"operationExecutor.MountVolume started for volume \\"data\\"" pod="shop/web-0"',
  FsckBegun: 'Checking for issues with fsck on disk: /dev/sdb',
  FormatBegun:
    'Disk "/dev/sdb" appears to be unformatted, attempting to format as type: "ext4" with options: [-F -m0 /dev/sdb]',
  OrphanCleaned: '"Cleaned up orphaned pod volumes dir" podUID="x" path="/v"',
  Provisioned: 'Normal  ProvisioningSucceeded  3s  disk.test  Successfully provisioned volume pvc-1',
  RegisteredWithKubelet: 'kubernetes.io/csi: Register new plugin with name: disk.test at endpoint: /s.sock',
  CallLogged: 'GRPC call: /csi.v1.Node/NodeGetCapabilities',
  ControllerStarted: '"Starting attach detach controller"',
  SkippedAsDone: 'volume pvc-1 is already detached from node node-1',
  VolumeStillSettling: 'Failed to start operation with name "v": it already has an operation pending',
  VsphereFault: attach(
    rpc(
      'Internal',
      'failed to attach disk: "c9" with node: "42" err ServerFaultCode: CNS: Failed to retrieve datastore for vol c9',
    ),
  ),
  LunNotMapped: attach('failed to SetDiskLun'),
  ClockOff: attach('RequestTimeTooSkewed: The difference between the request time and the current time is too large.'),
  NoVolumeZone: '0/3 nodes are available: 3 node(s) had no available volume zone.',
  NodeAway: 'Normal  NodeNotReady  3s  node-controller  Node node-7 status is now: NodeNotReady',
  OutOfServiceTaint: 'deleting pods: node "node-7" has the node.kubernetes.io/out-of-service taint',
  DiskPressure: 'Warning  FreeDiskSpaceFailed  3s  kubelet  failed to garbage collect required amount of images',
  RuntimeDown: '"Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active 3m ago"',
  AttacherAtWork: 'Starting attach operation for "csi-1"',
  DriverStarted: '"Enabling controller service capability" capability="CREATE_DELETE_VOLUME"',
  EventsCombined: '(combined from similar events): x',
  PodNews: 'Normal  Scheduled  3s  default-scheduler  Successfully assigned shop/web-0 to node-1',
  Informational: 'I1122 20:01:02.123456     812 x.go:1] all is as always',
  DriverTooSlow: stage(rpc('DeadlineExceeded', 'context deadline exceeded')),
  DriverNotServing: stage(rpc('Unavailable', 'the storage has no leader')),
  DriverPrecondition: stage(rpc('FailedPrecondition', 'volume vol-1 is not in the state published')),
  DriverExhausted: stage(rpc('ResourceExhausted', 'enough is enough')),
  DriverDenied: attach(rpc('PermissionDenied', 'this account may not')),
  DriverUnauthenticated: attach(rpc('Unauthenticated', 'who are you')),
  DriverNotFound: attach(rpc('NotFound', 'vol-1')),
  DriverAlreadyExists: 'failed to provision: rpc error: code = AlreadyExists desc = pvc-1 has another size',
  DriverOutOfRange: 'failed to provision: rpc error: code = OutOfRange desc = 1 byte',
  DriverInvalidArgument: stage(rpc('InvalidArgument', 'fsType zfs')),
  DriverUnimplemented: stage(rpc('Unimplemented', 'unknown service csi.v1.Node')),
  DriverInternalError: stage(rpc('Internal', 'no such profile')),
  DriverUnknownError: stage(rpc('Unknown', 'no such profile')),
  CallCanceled: stage(rpc('Canceled', 'context canceled')),
  DriverDataLoss: stage(rpc('DataLoss', 'blocks are lost')),
  TimedOutWaiting: 'MountVolume.WaitForAttach failed for volume "pvc-1" : timed out waiting for the condition',
  SocketDead: stage(
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial unix /var/lib/kubelet/plugins/d/csi.sock: connect: connection refused"',
  ),
  TlsFailed: 'Get "https://10.0.0.1:443/api": x509: certificate has expired or is not yet valid',
  NotPermitted:
    'volumeattachments.storage.k8s.io is forbidden: User "system:serviceaccount:csi:attacher" cannot patch resource "volumeattachments" in API group "storage.k8s.io"',
  NotAuthorized: 'the server has asked for the client to provide credentials',
  ServerUnreachable:
    'Get "https://10.0.0.1:443/api/v1/nodes/node-1": dial tcp 10.0.0.1:443: connect: connection refused',
  NameNotResolved: mount('mount.nfs: Failed to resolve server nas-1: Name or service not known'),
  Throttled: attach(rpc('Internal', 'RequestLimitExceeded: Request limit exceeded.')),
  ObjectChanged:
    'Operation cannot be fulfilled on persistentvolumes "pvc-1": the object has been modified; please apply your changes to the latest version and try again',
  ApiSlow: 'etcdserver: request timed out',
  WebhookFailed: 'Internal error occurred: failed calling webhook "v.example.com"',
  Busy: 'rmdir /m: device or resource busy',
  AccessDenied: setUp('open /m/f: permission denied'),
  NotPermittedHere: setUp('chmod /m: operation not permitted'),
  InputOutputError: setUp('lstat /m: input/output error'),
  NoSuchDevice: setUp('open /dev/nbd0: no such device or address'),
  NoSuchFile: setUp('open /m/f: no such file or directory'),
  FileExists: stage('mkdir /var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-7/globalmount: file exists'),
  NotADirectory: setUp('mkdir /m/f: not a directory'),
  IsADirectory: setUp('open /m: is a directory'),
  NotEmpty: 'rmdir /m: directory not empty',
  InvalidArgument: setUp('mount: /m: invalid argument'),
  LinkLoop: setUp('open /m: too many levels of symbolic links'),
  TooManyFiles: setUp('open /m: too many open files'),
  NoMemory: setUp('fork/exec /bin/mount: cannot allocate memory'),
  ConnectionTimedOut: mount('mount.glusterfs: connection timed out', 'glusterfs'),
  ConnectionRefused: setUp('read tcp 10.0.0.5:811: connection refused'),
  HostDown: setUp('read: no route to host'),
  ConnectionLost: stage('read tcp 10.0.0.1:443: connection reset by peer'),
  RemoteError: setUp('open /m: remote I/O error'),
  NotSupported: setUp('fallocate: operation not supported'),
  TryAgain: setUp('fork: resource temporarily unavailable'),
  KeyMissing: setUp('open /m: required key not available'),
  BadMessage: setUp('read /m: bad message'),
  NameTooLong: setUp('open /m: file name too long'),
  QuotaExceeded: 'pods "web-0" is forbidden: quota exceeded',
  ProgramMissing: setUp('exec: "mount.x": executable file not found in $PATH'),
  Killed: setUp('xfs_repair: signal: killed'),
  FsckFailed: 'fsck on device /dev/sdb failed with error exit status 12',
  MountProgramFailed: setUp('mount failed: exit status 32'),
  UnmountProgramFailed: 'UnmountVolume.TearDown failed for volume "data" : unmount failed: exit status 32',
  ProgramFailed: stage('exit status 1'),
  CloudBusyState: attach('IncorrectState: x'),
  CloudParameter: 'failed to provision: InvalidParameterValue: iops',
  CloudDown: attach('503'),
  EfsDenied: mount('mount.nfs4: access denied by server while mounting 127.0.0.1:/'),
  NfsAuth: kernel('RPC: server nas-1 requires stronger authentication.'),
  CephMountDenied: mount('mount error 13 = Permission denied', 'ceph'),
  CephMountOptions: mount('mount error 22 = Invalid argument', 'ceph'),
  DeviceLinkWrong: stage(
    rpc(
      'Internal',
      'failed to manually set link for disk pvc-1: symlink /dev/nvme0n8 /dev/disk/by-id/google-pvc-1: file exists',
    ),
  ),
  MountNoSource: mount("mount: /m: can't find in /etc/fstab.", 'efs'),
  BlobFuseFailed: setUp(
    'Error: Unable to start blobfuse. Failed to connect to the storage container. Terminating with -1',
  ),
  IscsiDaemonFailed: 'iscsiadm: initiator reported error (9 - internal error)',
  MultipathNoId: 'multipathd[612]: sda: failed to get sgio uid: No such file or directory',
  MultipathNoDaemon: stage(rpc('Internal', 'failed to stage volume: multipathd is not running')),
  MultipathMapFailed: 'multipathd[612]: 3600a: failed in domap for addition of new path sda',
  RbdBlocklisted: stage(rpc('Internal', 'rbd: map failed: (108) Cannot send after transport endpoint shutdown')),
  RbdLockLost: kernel('rbd: rbd0: encountered watch error: -107'),
  RbdDeviceHidden: stage(
    rpc('Internal', 'rbd: mapping succeeded but /dev/rbd5 is not accessible, is host /dev mounted?'),
  ),
  CephOsdDown: kernel('libceph: osd3 down'),
  ModuleMissing: stage(rpc('Internal', 'modprobe: FATAL: Module rbd not found in directory /lib/modules/6.1.0')),
  ProgramNotStarted: 'failed to provision: fork/exec /usr/local/bin/provisioner: bad address',
  KernelTooOld: kernel("EXT4-fs (sdc): couldn't mount RDWR because of unsupported optional features (400)"),
  ReservationConflict: kernel('sd 3:0:0:1: reservation conflict'),
  DrbdFailed: kernel('drbd pvc-1: State change failed: Need access to UpToDate data'),
  SELinuxSameSuperblock: kernel(
    'SELinux: mount invalid.  Same superblock, different security settings for (dev sdb, type ext4)',
  ),
  SecretsStoreDenied: setUp(
    rpc(
      'Unknown',
      'failed to mount secrets store objects for pod shop/web-0, err: An IAM role must be associated with service account web (namespace: shop)',
    ),
  ),
  SecretsStoreMissing: setUp(
    rpc(
      'Unknown',
      'failed to get objectType:secret, objectName:db: Code="SecretNotFound" Message="A secret with (name/id) db was not found in this key vault."',
    ),
  ),
  MessageTooLarge: setUp(rpc('ResourceExhausted', 'grpc: received message larger than max (5242880 vs. 4194304)')),
  AttachmentUnreadable:
    'MountVolume.WaitForAttach failed for volume "pvc-1" : volume vol-1 has GET error for volume attachment csi-1: volumeattachments.storage.k8s.io "csi-1" not found',
  EmptyDirLimit: 'Warning  Evicted  3s  kubelet  Usage of EmptyDir volume "cache" exceeds the limit "1Gi".',
  RuntimeTooSlow:
    'time="2026-11-22T20:01:02Z" level=error msg="StopPodSandbox failed" error="rpc error: code = DeadlineExceeded desc = context deadline exceeded"',
  RelabelFailed: 'Error: relabel failed /var/lib/kubelet/pods/u/volumes/x: lsetxattr /x: operation not supported',
  VolumeNotInPod: 'Error: cannot find volume "data" to mount into container "web"',
  SubPathGone:
    'failed to create shim task: OCI runtime create failed: error mounting "/var/lib/kubelet/pods/u/volume-subpaths/config/web/2" to rootfs at "/etc/app.yml": no such file or directory: unknown',
  SelfLinkEmpty: "unexpected error getting claim reference: selfLink was empty, can't make reference",
  SnapshotApiMissing:
    'Failed to watch *v1.VolumeSnapshotClass: the server could not find the requested resource (get volumesnapshotclasses.snapshot.storage.k8s.io)',
  ObjectImmutable:
    'The PersistentVolumeClaim "data" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests',
  ClassParametersWrong: 'failed to provision volume with StorageClass "s": claim Selector is not supported',
  CloneTooSmall:
    'failed to provision volume: requested volume size 1073741824 is less than the size 2147483648 for the source snapshot s',
  DiskConflict: '0/3 nodes are available: 3 node(s) had no available disk.',
  NamespaceEnding:
    'persistentvolumeclaims "data" is forbidden: unable to create new content in namespace shop because it is being terminated',
  ExpansionExternal:
    "Warning  ExternalExpanding  3s  volume_expand  Ignoring the PVC: didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC.",
  ExpansionUnderWay:
    'resize volume "pvc-1" by resizer "disk.test" failed: rpc error: code = Unknown desc = volume expansion not completed yet',
  ExpansionSizeWrong:
    'updating capacity of PV "pvc-1" to 0 failed: spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  VolumeStatsFailed: 'failed to get volume stats: x',
  StagingMissing: setUp(rpc('Internal', 'staging path /g for volume vol-1 does not exists on node')),
  LeaderLost: 'E1122 20:01:02.123456       1 main.go:1] leaderelection lost',
  UnmountedAlready: 'umount: /var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-1/globalmount: not mounted.',
  NotMountedDevice: 'could not determine device for path: "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/pvc-1"',
  MapSkipped: 'Warning: Unmap skipped because symlink does not exist on the path: /l',
  DriverLogsCleanUp: '"unmounting target path as node publish volume failed" targetPath="/m" pod="shop/web-0"',
  MultipathSays: 'multipathd[612]: sdb: it failed',
  IscsidSays: 'iscsid[612]: it failed',
  EfsWatchdog: 'WARNING - Could not start amazon-efs-mount-watchdog, unrecognized init system "aws-efs-csi-dri"',
  DeviceNameInUse: attach(
    rpc(
      'Internal',
      "InvalidParameterValue: Invalid value '/dev/xvdb' for unixDevice. Attachment point /dev/xvdb is already in use",
    ),
  ),
  ListFailed: 'Failed to watch *v1.StorageClass: unknown (get storageclasses.storage.k8s.io)',
  VolumeNotAvailable: attach('Invalid volume: Volume 4e status must be available or downloading'),
  IscsiNoName:
    'iscsid: Warning: InitiatorName file /etc/iscsi/initiatorname.iscsi does not exist or does not contain a properly formatted InitiatorName.',
  FabricLinkLost: kernel('qla2xxx [0000:04:00.0]-8001:0: Adapter aborted all I/O'),
  LunsChanged: kernel(
    'sd 4:0:0:1: Warning! Received an indication that the LUN assignments on this target have changed.',
  ),
  FsTypeUnsupported: stage('fstype: zfs is not supported'),
  LinstorSays: '01:31:33.757 [DeviceManager] ERROR LINSTOR/Satellite - SYSTEM - It broke',
  FsckNoFileSystem:
    '`fsck` error fsck from util-linux 2.20.1 fsck.ext2: Bad magic number in super-block while trying to open /dev/rbd1',
  VolumeMarkedDeleted: 'failed to attach: PersistentVolume "pvc-1" is marked for deletion',
  SidecarNotInjected: setUp(rpc('Internal', 'the webhook failed to inject the sidecar container into the Pod spec')),
  ContainerStatsSkipped:
    'W1121 15:27:51.1 1878 container.go:586] Failed to update stats for container "/a": stat failed on /b with error: no such file or directory, continuing to push stats',
}

/** Lines whose cause says more than what failed: the one and the other. */
export const CAUSES_INSIDE: readonly (readonly [
  line: string,
  cause: SentenceName,
  failed: SentenceName | undefined,
])[] = [
  // The innermost, though its table stands behind.
  [
    attach(
      rpc(
        'Internal',
        'failed to publish volume: Multi-Attach error: disk is in another zone: zonal conflict, volume is still attaching',
      ),
    ),
    'StuckAttaching',
    'AttachFailed',
  ],
  [stage('rbd: map failed: (22) Invalid argument: is host /dev mounted'), 'RbdDeviceHidden', 'MountingFailed'],
  [
    "Multi-Attach error: volume is already exclusively attached and can't be attached to another node",
    'MultiAttachError',
    undefined,
  ],
  // Codes of gRPC are not always a driver's.
  [rpc('Unknown', 'failed to create containerd task: OCI runtime create failed: x'), 'ContainerNotCreated', undefined],
  [`StopContainer from runtime service failed: ${rpc('DeadlineExceeded', 'x')}`, 'RuntimeTooSlow', 'RuntimeCallFailed'],
  [`"StopPodSandbox from runtime service failed" err="${rpc('Unavailable', 'x')}"`, 'RuntimeDown', 'RuntimeCallFailed'],
  [`Error from server: ${rpc('Unavailable', 'transport is closing')}`, 'ApiSlow', undefined],
  [
    rpc('Unknown', `failed to create containerd task: x: ${rpc('Unavailable', 'transport is closing')}`),
    'ConnectionLost',
    'ContainerNotCreated',
  ],
  [rpc('Unknown', 'no running task found: task 7c0 not found'), 'RuntimeCallFailed', undefined],
  [
    `serviceaccounts "web" is forbidden: User "system:serviceaccount:a:b" cannot create resource "x"`,
    'NotPermitted',
    undefined,
  ],
  [
    attach(rpc('Internal', 'failed to publish volume: volume is already attached to a server')),
    'AttachedElsewhere',
    'AttachFailed',
  ],
  ['I0114 16:18:38.5 1 mount_linux.go:171] systemd-run failed with: exit status 1', 'ControllerStarted', undefined],
  ['level=error msg="Login to iSCSI target failed." err="process killed after timeout"', 'Killed', 'IscsiNotLoggedIn'],
  [attach(rpc('Aborted', 'volume pvc-1 is not ready for workloads')), 'CloudBusyState', 'AttachFailed'],
  [
    'E1122 20:01:02.1 1 x.go:1] Could not construct volume information: directory /x/y is not mounted',
    'NotReconstructed',
    undefined,
  ],
  ['audit[1543]: AVC avc:  denied  { relabelfrom } for  pid=1543 comm="containerd"', 'RelabelFailed', undefined],
  [
    stage(rpc('Internal', 'Error creating device for volume v-1, err: device not found with serial 6000')),
    'SpecialDeviceMissing',
    'MountingFailed',
  ],
  ['Oct 16 16:37:10 n mount-s3[7]: [DEBUG] unlink{req=9}: s3_client: new request', 'Informational', undefined],
  // What a row once took for its own.
  [
    setUp(rpc('Internal', 'x error: fork/exec /usr/bin/weed: no such file or directory')),
    'ProgramMissing',
    'MountingFailed',
  ],
  ["b'mount.nfs4: mount system call failed'", 'MountProgramFailed', undefined],
  ['[ 543.6] sd 0:0:0:0: [sda] CDB: Write(10) 2a 00 01 b6 b7 e8 00 00 08 00', 'DiskErrors', undefined],
  ['[ 543.6] sd 0:0:0:0: [sda] Sense Key : Aborted Command [current]', 'DiskErrors', undefined],
  ['kernel: XFS (dm-7): log mount/recovery failed: error -5', 'FileSystemErrors', undefined],
  ['kernel: XFS (dm-4): xfs_inactive_ifree: xfs_ifree returned error -117', 'FileSystemErrors', undefined],
  ['kernel: XFS (dm-4): xfs_do_force_shutdown(0x1) called from line 1788', 'JournalAborted', undefined],
  ['Nov 09 08:26:12 n multipathd[2919]: sdb: state down, checker not called', 'PathsFailing', 'MultipathSays'],
  ['  |- 6:0:4:13  sdaq 66:160  failed faulty running', 'PathsFailing', undefined],
  [
    'E0524 00:53:33.9 1 azure_storage.go:65] azure attach failed, err: Code="AcquireDiskLeaseFailed" Message="Failed to acquire lease while creating disk. Blob is already in use."',
    'AttachedElsewhere',
    undefined,
  ],
  [
    'AttachVolume.Attach failed for volume "pv-1" : rpc error: code = FailedPrecondition desc = Retriable: false, RetryAfter: 0s, HTTPStatusCode: 409, RawError: {',
    'DriverPrecondition',
    'AttachFailed',
  ],
  [
    setUp(rpc('Internal', "Failed to login, err: env: can't execute 'iscsiadm': No such file or directory")),
    'ProgramMissing',
    'MountingFailed',
  ],
  [setUp(rpc('Internal', 'Failed to run ISCSI login: exit status 19')), 'IscsiLogin', 'MountingFailed'],
  [
    'I0408 16:33:26.1 1 volume.go:94] zfs: node(node-1) has node affinity a.b/nodeid=node-1',
    'Informational',
    undefined,
  ],
  ['[Wed Apr  9 08:23:13 2025] nvme nvme0: Failed reconnect attempt 1', 'NvmeLost', undefined],
  ['[ 120.1] nvme0n1: I/O Cmd(0x2) @ LBA 13363, 32 blocks, I/O Error (sct 0x3 / sc 0x71)', 'DiskErrors', undefined],
  ['iscsiadm: Cannot perform discovery. Initiatorname required.', 'IscsiNoName', undefined],
  ['Code="InvalidParameter" Message="A disk at LUN 3 already exists."', 'DeviceNameInUse', undefined],
  [
    `kubernetes.io/csi: attachment for vol-1 failed: cannot find NodeID for driver "disk.test" for node "node-1"`,
    'CsiNodeMissing',
    'AttachFailed',
  ],
  ['I0507 22:58:48.4 15004 connection.go:184] GRPC error: <nil>', 'CallLogged', undefined],
  [
    'failed to provision volume with StorageClass "s": failed to create rbd image: executable file not found in $PATH',
    'ProgramMissing',
    'ProvisioningFailed',
  ],
  [
    'DetachVolume.Detach failed for volume "pv-1" on node "node-1" : timed out waiting for external-attacher of disk.test CSI driver to detach volume pv-1',
    'DetachingFailed',
    undefined,
  ],
  [
    `Error processing "csi-1": failed to detach: persistentvolume "pv-1" not found`,
    'DetachWithoutVolume',
    'AttacherFailed',
  ],
  [
    `csi_attacher.go:716] kubernetes.io/csi: detachment for VolumeAttachment for volume [pv-1] failed: ${rpc('DeadlineExceeded', 'context deadline exceeded')}`,
    'DriverTooSlow',
    'DetachingFailed',
  ],
  [
    attach(rpc('Internal', 'Could not attach volume "pv-1" to node "i-1": UnauthorizedOperation')),
    'CloudRights',
    'AttachFailed',
  ],
  [
    `"Error processing" VolumeAttachment="csi-1" err="failed to attach: ${rpc('DeadlineExceeded', 'volume pv-1 failed to attach to node node-1')}"`,
    'DriverTooSlow',
    'AttacherFailed',
  ],
  [
    'kubernetes.io/csi: attacher.Attach attempted to wait for attachment to be ready, but failed with: node "node-1" has no NodeID annotation',
    'CsiNodeMissing',
    'AttachFailed',
  ],
  [
    `UnmountVolume.TearDown failed for volume "data" : kubernetes.io/csi: Unmounter.TearDownAt failed: ${rpc('NotFound', 'volume id pv-1 does not exist in the volumes list')}`,
    'CloudNoDisk',
    'UnmountingFailed',
  ],
  [
    `UnmountDevice failed for volume "pv-1" on node "node-1" : ${rpc('Internal', 'still published')}`,
    'DriverInternalError',
    'UnmountingFailed',
  ],
  [setUp(rpc('Internal', 'no such profile')), 'DriverInternalError', 'MountingFailed'],
  [setUp(rpc('DeadlineExceeded', 'context deadline exceeded')), 'DriverTooSlow', 'MountingFailed'],
  [
    `Warning  FailedMount  2m3s (x5 over 10m)  kubelet  ${setUp(rpc('DeadlineExceeded', 'context deadline exceeded'))}`,
    'DriverTooSlow',
    'MountingFailed',
  ],
  [
    `Operation for "x" failed. No retries permitted until 2026. Error: ${setUp(rpc('Internal', 'rbd image pool/csi-vol-1 is still being used'))}`,
    'RbdImageUsed',
    'MountingFailed',
  ],
]

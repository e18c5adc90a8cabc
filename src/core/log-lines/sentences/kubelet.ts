/** What the kubelet and the attach/detach controller say of one thing that went wrong inside them. */
import { frame, row } from './sentence.ts'

const ITS_LOG = 'The reason stands at the end of the line; it is tried again by itself.'

export const KUBELET = {
  HostPathWrong: row(
    'hostpath type check failed | is an invalid volume type | only recognise file, directory, socket, block device and character device | invalid hostpath | spec does not reference an hostpath',
    'What is at the hostPath on this node is not what the pod asks for (type: Directory, File, Socket …): it is missing, or of another kind.',
    'ls -ld {path|of the path} on {node}. Make it there, or use type: DirectoryOrCreate, or leave the type out.',
    { by: ['kubelet'], codes: ['HostPathType'] },
  ),
  LocalPathMissing: frame(
    'local: failed to mount device | localvolume volume … path is empty | only directory and block device are supported | local volume source is nil | cannot validate mount point | mount of volume … failed | mkdir failed on disk | cannot collect mounting information | local: failed to remove | failed to check fsgroup for | unable to open device | failed to detect size of',
    'A local volume could not be mounted: its directory or device on this node is missing or cannot be used.',
    'ls -ld and lsblk -f of the path of the PersistentVolume on {node}: the disk below it may not be mounted after a restart.',
    { by: ['kubelet'] },
  ),
  FsGroupDiffers: row(
    'the requested fsgroup is | the volume may not be shareable | warnalreadymountedvolume',
    'Two pods with different fsGroup use one local volume; the kubelet does not change the group while the other has it.',
    'Give both pods the same fsGroup, or volumes of their own.',
    { by: ['kubelet'], about: 'pod' },
  ),
  GroupNotSet: frame(
    'applyfsgroup failed | lchown failed | chmod failed | failed to set permissions | failed to change ownership | performing recursive ownership change | failed to change group | lchown … operation not permitted | chown … operation not permitted | chmod … failed',
    "The kubelet could not give the files of the volume to the pod's fsGroup.",
    'A server that squashes root (NFS, SMB) does not allow it: leave fsGroup out, or CSIDriver fsGroupPolicy: None. Else a read-only or damaged file system.',
    { by: ['kubelet'], rules: ['P31'] },
  ),
  SELinuxLabels: row(
    'conflicting selinux labels | selinuxmountpolicy | selinux label … conflict | failed to construct selinux label | failed to query for selinuxmount support | error checking for selinux support | failed to set selinux label | conflicts with pod … selinux | mountvolume … selinux',
    'Pods with different SELinux labels use one volume, or its label could not be set.',
    'Give the pods the same seLinuxOptions, or seLinuxChangePolicy: Recursive; the volume can have one label at a time.',
    { by: ['kubelet'], codes: ['SELinuxMismatch'] },
  ),
  ModeWrong: row(
    'but is specified in volumemounts | but is specified in volumedevices | volume has volumemode | volumemode … but',
    'The pod uses a raw block volume as a directory (volumeMounts), or a file system volume as a device (volumeDevices).',
    'Compare volumeMode of the claim with the pod: Block goes with volumeDevices, Filesystem with volumeMounts.',
    { by: ['kubelet'], about: 'pod' },
  ),
  MountOptionsRefused: row(
    'mount options are not supported for this volume type | mountoptionsupport check failed | mountoptions … not supported | does not support mount options',
    'The PersistentVolume has mountOptions, and this kind of volume takes none.',
    'Remove mountOptions from the PersistentVolume and its StorageClass.',
    { by: ['kubelet'], codes: ['PluginRemoved'] },
  ),
  PluginUnknown: row(
    'no volume plugin matched | cant use volume plugins for | failed to get plugin from volumespec | findpluginbyspec failed | findattachablepluginbyspec failed | finddetachablepluginbyspec failed | findmapperpluginbyspec failed | findmapperpluginbyname failed | findpluginbyname failed | findattachablepluginbyname failed | finddevicemountablepluginbyname failed | multiple volume plugins matched | could not find volume plugin for spec | no persistent volume plugin matched | failed to find blockvolumemapper plugin | could not find block volume plugin | could not find plugin because volume spec is nil | failed to get attachableplugin | plugin do not support attachment | failed to findpluginbyspec | findattachablepluginbyspec | spec does not reference | the volumespec does not reference | is not supported for attachment | failed to get attacher',
    'No plugin of this Kubernetes takes the volume: the in-tree plugin was removed or its migration to CSI is off, or the kind is not known.',
    'kubectl get pv NAME -o yaml: which source has it? Install the CSI driver of that kind, with the annotation pv.kubernetes.io/migrated-to where it was migrated.',
    { codes: ['PluginRemoved', 'NotMigrated'] },
  ),
  MigrationFailed: frame(
    'failed to translate intree | failed to translate in-tree | error performing csi migration checks | could not find if plugin is migratable | not a valid volume spec | csi migration | csimigration',
    'An in-tree volume could not be read as a volume of its CSI driver.',
    'Compare the source of the PersistentVolume with what the driver expects (disk URI, zone); the driver has to be installed.',
    { codes: ['NotMigrated'] },
  ),
  GitRepoOff: row(
    'git-repo volume plugin has been disabled | failed to exec git | unexpected directory contents | gitrepo',
    'gitRepo volumes are switched off in this version of Kubernetes, or the clone failed.',
    'Use an init container that clones into an emptyDir.',
    { by: ['kubelet'], about: 'pod', codes: ['PluginRemoved'] },
  ),
  HugePagesWrong: row(
    'hugepages storage requested | multiple huge page sizes | pagesize is not determined | requested medium size | error getting page size | no pagesize option specified | medium: … cant be used',
    'An emptyDir of huge pages does not fit the request for huge pages of the pod.',
    'Each size of medium HugePages-SIZE needs a request of hugepages-SIZE in a container; kubectl describe node shows what the node offers.',
    { by: ['kubelet'], about: 'pod', codes: ['HugePagesUnclear'] },
  ),
  PathFailed: frame(
    'unknown storage medium | memory storage requested, but mounter is nil | spec does not reference an emptydir | error checking if path exists | expected directory … permissions to be | failed to remove ready dir | volume ready file dir | error listing mount points | mount point for … not found | ready-file is not a file | cant mkdir | cant touch | islikelynotmountpoint | isnotmountpoint check failed | statfs( | error checking path | failed to check if path | error checking mount point | cannot validate mountpoint | failed to bind mount: source | failed to read mount refs from | failed to get volume id from mount | directory … is not mounted | cannot find mount point for | failed to bind-mount | failed to make … rshared | getdevicemountpath failed | stat file … failed | stat … failed: | lstat … failed: | lstat( … error | error stat | error running fstat on | error opening directory | error opening existing directory | cannot open directory | cannot create directory | cannot open | error reading | error deleting | error opening | error creating file | error processing | failed to read file path | failed decoding file | failed to stat path | cannot evaluate link | cannot read link | cannot lock path | closing fd for | symlink failed | unable to open | unable to count inodes for | invalid directory | error listing volumes on disk',
    'The kubelet could not make, read or remove a file or directory.',
    'volctl explain on the path says what is there: a dead mount, a file in the way, a full or read-only disk.',
    { by: ['kubelet'], envelope: true },
  ),
  QuotaOfEmptyDir: frame(
    'assign quota failed | failed to clear quota | quotas not supported on | unable to clear quota | cannot find available quota id | system project files failed | unable to run xfs_quota | no xfs_quota program | clearquota | cannot run xfs_quota | attempt to reassign quota | cannot find quota associated | unable to write project files | createprojectid | removeprojectid | couldnt find backing device for | cannot determine mountpoint for | cannot determine backing device | requesting quota | expected quota id | cannot run lsattr | attempt to remove invalid quota id | attempting to remove quota id | attempting to remove invalid quota id | attempting to assign null quota | unable to statfs | found multiple quota ids | cannot create temporary mount file | cannot write temporary mounts file | cannot sync temporary mounts file | cannot open mounts file | mismatch between supplied and returned path | unable to parse lsattr | unable to parse quota output | unable to parse project id | unable to parse data size | attempt to reassign project id | exists but is not a plain file, cannot continue | unable to lock',
    'The project quota by which the kubelet counts an emptyDir could not be set or removed. The volume works without it; it is counted by walking its files.',
    "Nothing for the pod. For quotas the file system of the kubelet's directory needs prjquota, and xfs_quota has to be installed.",
    { by: ['kubelet'] },
  ),
  ContentNotWritten: frame(
    'error creating atomic writer | error writing payload to dir | error renaming symbolic link | unable to write file | unable to create new temp directory | error creating symbolic link for atomic update | error removing old data directory | unable to change file … with owner | unable to change file … with mode | error writing payload to ts data directory | error applying ownership settings | error creating visible symlinks | error reading link for data directory | error determining user-visible files | error determining whether payload | error removing new ts directory | error removing data dir directory | error removing new data dir | error removing old visible symlinks | error pruning old user-visible path | unable to set mode on new temp directory | unable to create directory | invalid payload | skipping change of linux owner | invalid path: must | invalid path: filenames must be',
    'The kubelet could not write the content of a config map, secret or projected volume.',
    'df -h, df -i and dmesg for the disk below /var/lib/kubelet, or the memory limit of the pod for a tmpfs; a key may also be no valid file name.',
    { by: ['kubelet'], codes: ['WriteFailed'] },
  ),
  ContentNotPrepared: frame(
    'couldnt get configmap | couldnt get secret | error preparing data for | couldnt setup downwardapi | unable to setup downwardapi | unable to extract field | couldnt get configmap payload | couldnt get secret payload | failed to find the secret | fetching nodestagesecretref | fetching nodepublishsecretref | failed to get nodestagesecretref | failed to get nodepublishsecretref | failed to get nodeexpandsecretref | cannot get secret of type | couldnt get secret | cannot setup projected volume | clustertrustbundle projection | failed to get service accoount token | failed to get service account token | no defaultmode used | serviceaccounttokengetter is nil | deleteserviceaccounttoken unsupported | getsecret unsupported | getconfigmap unsupported | getserviceaccounttoken unsupported',
    'The content of a volume, or the secret for its driver, could not be read from the API or put together.',
    'kubectl get configmap,secret in that namespace: the object and each key that the pod names have to exist. A secret of a driver is named in the PersistentVolume or StorageClass.',
    { codes: ['ContentMissing', 'SecretMissing', 'ContentUnknown'], rules: ['P51'] },
  ),
  CleanUpAfterFailure: frame(
    'error cleaning up mount … after failure | create unmounter failed | error tearing down volume | failed to remove mount dir after error | failed to cleanup mount point | failed to clean up global mount | failed to remove mount dir after a nodepublish | failed to clean mount dir | failed to remove dir | failed to delete volume data file | failed to delete volume path | failed to remove publish directory | failed to delete volume staging path | failed to remove staging path | failed to remove file | failed to remove directory | failed to remove | error removing directory | removing directory … failed',
    'What was begun for a volume could not be cleaned up; directories or a mount stay, and are tried again.',
    'volctl explain on the path says what is left there and what keeps it.',
    { by: ['kubelet'], codes: ['UnexpectedFile', 'StillMounted'] },
  ),
  StillMountedAfterUmount: row(
    'is still mounted, despite call to unmount | kubelet cannot unmount volume at | already unmounted but still',
    'The volume was unmounted and is mounted still: something is mounted there twice, or mounted it again.',
    'volctl explain on the path shows each layer of mounts and whose it is.',
    { by: ['kubelet'], codes: ['StillMounted', 'ForeignMount'], rules: ['S18'] },
  ),
  StillReferenced: row(
    'is still mounted by other references | is still referenced from other pods | getdevicemountrefs check failed | getdevicebindmountrefs check failed | failed to deletevolume … it still has',
    'The staged mount or device cannot be taken down, since mounts of pods still refer to it.',
    'volctl explain on the volume lists them; a mount of a pod that was deleted is a leftover: volctl plan.',
    { by: ['kubelet'], codes: ['HeldBy', 'StagedWithoutPod'], rules: ['S24'] },
  ),
  BlockDeviceMissing: row(
    'failed to bind mount devicepath',
    'A raw block volume could not be bound into place: the driver has published no device at its publish path.',
    'ls -la of the publish path in the line, and the log of the driver on {node} (NodePublishVolume): it has to make a device there, in the mount namespace of the kubelet.',
    { by: ['kubelet'], codes: ['DeviceMissing'] },
  ),
  DeviceMapFailed: frame(
    'blkutil.mapdevice failed | blkutil.attachfiledevice failed | blkutil.detachfiledevice failed | mappoddevice failed | mapblockvolume failed | evalhostsymlinks failed | mapvolume type assertion | getloopdevice failed | makeloopdevice failed | removeloopdevice failed | losetup | failed to map device | failed to unmap device | findglobalmappathuuidfrompod failed | getdevicemajorminor failed | failed to remove map path | failed to list loop devices | couldnt find loopback device | not attachable: | failed to unmount linkpath | cannot validate map path | the map path should be absolute | pathisdevice failed | deviceopened failed | is not referring to a device | failed to lstat file | failed to stat file | failed to open file | failed to close file | failed to readlink path | failed to evaluate path',
    'A raw block volume could not be bound, linked or given a loop device on the node.',
    'volctl explain on the volume shows device, map and link. Usually the driver has published no device: its log (NodePublishVolume), then ls -la of the publish path.',
    { by: ['kubelet'], codes: ['DeviceMissing'] },
  ),
  StagingDirectory: frame(
    'attacher.mountdevice failed to create dir | mounter.setupat failed to create dir | failed to create data dir | stagevolumeforblock failed to create dir | publishvolumeforblock failed to create dir | failed to mkdir | failed to make device mount path | makedevicemountpath failed | failed to save volume data file | error creating directory',
    'The kubelet could not make the directory or the state file of a volume.',
    '"file exists" is a dead mount at that path: volctl explain on it, then volctl plan. Else the disk below /var/lib/kubelet is full or read-only.',
    { by: ['kubelet'], codes: ['DeadMount', 'WriteFailed'] },
  ),
  NodeGoneFromController: row(
    'error removing node … from desired-state-of-world | failed to delete node … from list of nodes managed | the node still contains',
    'A Node was deleted while pods or volumes still stand on it in the books of the controller.',
    'kubectl get pods -A -o wide | grep that node, and kubectl get volumeattachments: pods that are left are deleted by the garbage collector; attachments that stay: volctl plan --cluster.',
    { by: ['controller'], codes: ['NodeMissing'] },
  ),
  DetachWithoutVolume: row(
    'failed to detach: persistentvolume … not found | could not detach … persistentvolume … not found | error processing … failed to detach: persistentvolume',
    'The PersistentVolume was deleted before its volume was detached: the attacher cannot find out which volume it is, and the VolumeAttachment stays.',
    'Make sure on the node that nothing has the volume mounted (volctl plan there), and at the storage that it is detached; then volctl plan --cluster shows how the attachment is freed.',
    { rules: ['S21'] },
  ),
  ControllerBooks: frame(
    'error populating the actual state of world | error populating the desired state of world | failed to mark the volume as attached | failed to process volume attachments | error creating spec for volume of pod | failed to find unique name for volume | failed to update volume spec for node | failed to list volumeattachment | unable to lookup pv object | markvolumeasuncertain fail | metanamespacekeyfunc failed | podlister get failed | podlister list failed | get pod list failed | failed to update statusupdateneeded | failed to resetdetachrequesttime | cannot trigger detach because it fails | updatenodestatusfornode failed | unable to update … nodes | error splitting dswpodkey | failed to sync pvc | failed to set detach request time | no node with the name | does not exist in volumestoreportasattached | no longer attached to the node | couldnt get key for object | unexpected object type | failed to find pvc … in pvcinformer | failed to find pv … in pvinformer | nodename is empty | not found on node | could not initialize attach detach controller | could not initialize volume plugins | not supported by attach/detach controller | unsupported in attach/detach controller | failed to get volume attachment from lister | failed to getuniquevolumenamefromspec | failed to get uniquevolumename | volumespec cannot be nil | failed to find pvc | failed to find pv | unsupported in attachdetachcontroller',
    'The attach/detach controller could not read an object or keep its books; it goes on from the API the next time.',
    `${ITS_LOG} If attachments do not change for minutes: is the leader of kube-controller-manager alive (kubectl -n kube-system get lease)?`,
    { by: ['controller'] },
  ),
  KubeletBooks: frame(
    'error processing volume | failed to add volume to desiredstateofworld | markremountrequired failed | could not add volume information to actual state | could not add pod to volume information | could not find device mount path for volume | could not mark device is uncertain | cannot get volumes from disk | could not read volume plugin directory | markvolumemountasuncertain failed | markvolumeasunmounted failed | markdeviceasunmounted failed | markdeviceasuncertain failed | markvolumeasmounted failed | markdeviceasmounted failed | markvolumeasattached failed | no volume with the name … exists in the list of attached volumes | pod found, but error occurred during checking mounted volumes | could not read directory | failed to getvolumename from volumeplugin | failed to load volume plugin | error initializing dynamic plugin prober | error dynamically probing plugins | unknown operation on pluginname | failed to instantiate mounter | failed to getuniquevolumename | cannot split volume unique name | volumesareattached | verifyvolumesareattached failed | operation … failed with | exponentialbackoffonerror is enabled | error initializing dynamically probed plugin | markvolumeasattachedbyuniquevolumename failed | getvolumename failed | splituniquename failed | kubernetes.io/csi: attacher.attach failed | failed to get usage from response | unknown unit in volumeusage | operation … not found | getdevicemountpath failed for volume | error checking volumemode | cannot get volumemode for volume | volumeplugin should not be nil',
    'The kubelet could not note in its own books what it has or wants; it reads disk and API again at its next look.',
    `${ITS_LOG} If it repeats, the volume that the line names is stuck: volctl explain on it.`,
    { by: ['kubelet'] },
  ),
  KubeletWithoutApi: row(
    'assuming standalone kubelet | kubelet running in standalone mode | kubeclient not set | cannot get kube client | failed to get a kubernetes client | unable to get kubernetes client from host | error getting kube client | error getting csi client | cannot get kube',
    'This kubelet has no API server: CSI drivers that need one do not work with it.',
    'Compare the arguments of the kubelet (--kubeconfig) with what was meant: journalctl -u {unit} from its start.',
    { by: ['kubelet'], codes: ['KubeletUnclear'] },
  ),
  FieldMissing: row(
    'missing volume.spec | missing spec | spec is nil | volume source not found in volume.spec | missing volume id | missing target path | missing volume path | missing staging target path | missing expected parameter | volumename missing expected data | insufficient info encoded in volumename | driver name is empty | csi source driver name is empty | volume handle is empty | devicemountpath is empty | csipersistentvolumesource not defined in spec | failed to get csipersistentvolumesource | failed to get csi persistent source | failed to extract csi volume source | failed to extract volume source | volume.spec nil | volume.spec has both | unexpected api.csivolumesource | invalid volume spec for csi | pvc has empty pvc.spec.volumename | spec.persistentvolume … is nil | spec.persistentvolumesource … is nil | nil pod | nil spec for volume | file path not specified | path is empty | file was empty | is an invalid value for | does not contain any volume(s) | not a flex volume | illegal path for device | must be relative path | volume plugin has invalid name | was registered more than once',
    'A field that is needed is empty in the PersistentVolume, the pod or the call: the object was written by hand or by a tool that leaves it out.',
    'kubectl get pv NAME -o yaml: driver and volumeHandle of a CSI volume, server and path of NFS, path of hostPath and local.',
    { codes: ['InvalidSource', 'MissingField'] },
  ),
  NotInThisBuild: row(
    'not supported for this build | on this platform is not supported | nodev1clientcreator is nil | nodev1clientcreate is nil | plugin volume host does not implement | cast from volumehost to kubeletvolumehost failed | csidriverlister not found on | volumeattachmentlister not found on | serviceaccounttokengetter not found on | informerfactory not found on | driverinformer must not be nil | newwrappermounter not supported | newwrapperunmounter not supported | does not make sense for host paths | attaching volumes from the kubelet is not supported | unexpected volume mode | unexpected driver mode | blockvolumemapper or devicemounter required | fsinfo not supported | not implemented | statx syscall is not supported | does not support block volume provisioning | fileinfo sys is nil | unsupported fileinfo',
    'This build of Kubernetes, or this program, cannot do what it was asked: a feature of another platform or component, or a fault in its code.',
    'Look at the version of the program that wrote the line, and whether a newer one is out; the lines before it say what it was asked for.',
  ),
  TableUnreadable: row(
    'wrong number of fields | unexpected minor:major pair | unable to parse major device id | unable to parse minor device id | expect 3 fields in | failed to get root path and major:minor | blkid returns invalid output | wrong disk number format',
    'The mount table, or the answer of a program such as blkid, was not in the form that was expected.',
    'cat /proc/self/mountinfo and blkid on {node}: a mount whose source has line breaks or blanks, or a program that warns on its output.',
  ),
  AttachLimitNumber: row(
    'exceeded max supported attach limit | invalid attach limit value',
    'The driver reports a number of attachable volumes that does not fit into CSINode; the kubelet cuts it.',
    'Nothing for volumes that are mounted; report it to the driver.',
    { by: ['kubelet'], about: 'driver' },
  ),
  FetchingFailed: frame(
    'failed to fetch pvc from api server | failed to fetch pv … from api server | error processing pvc | verifycontrollerattachedvolume fetching pvc failed | failed fetching node from api server | failed to get volume attachment | get error for volume attachment | failed to get persistentvolume',
    'The kubelet or controller could not read an object of the volume from the API.',
    'kubectl get of that object. If it is there, the API server was slow or does not allow it; if not, the pod has to wait for it.',
    { codes: ['VolumeUnresolved'], rules: ['S4'] },
  ),
  FsckMissing: row(
    'fsck not found on system',
    'fsck is not installed, so that file systems are mounted without a check.',
    'Install e2fsprogs and xfsprogs where the mount is made.',
    { by: ['kubelet'] },
  ),
  MountLost: row(
    'targetpath … is not mounted | volume path … is not mounted | volumepath … is not mounted | target path … not mounted | volume path … does not exist | is not a mount point: | mount point … not found for',
    'Nothing is mounted where the volume of a running pod should be: somebody unmounted it, or the driver lost it.',
    'volctl explain on the path shows what is there. What the pod writes now lands on the disk of the node: restart the pod, after a look at what lies in that directory.',
    { codes: ['NotMounted', 'DataUnderMountPoint'], rules: ['O12'] },
  ),
  OtherFormat: row(
    'configured to mount disk … but current format is | failedmountonfilesystemmismatch | things might break | but it contains an unknown filesystem',
    "The device holds another file system than the volume's fsType.",
    'Correct fsType in the PersistentVolume or StorageClass, or use the right volume; nothing is formatted.',
    { by: ['kubelet'], codes: ['FilesystemMismatch'], rules: ['S15'] },
  ),
} as const

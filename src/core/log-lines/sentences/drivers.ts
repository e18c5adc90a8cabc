/** Registration of CSI drivers and plugins, the CSIDriver and CSINode objects, and what only well-known drivers say. */
import { frame, row } from './sentence.ts'

const ITS_POD =
  "See the driver's pod on {node}: kubectl get pods -A -o wide --field-selector spec.nodeName={node}; then the log of its registrar and driver containers."

export const DRIVERS = {
  RegistrationFailed: frame(
    'registerplugin error | operationexecutor.registerplugin failed | validation failed for csi driver | registrationhandler.registerplugin | plugin registration failed | registration process failed | failed to create csi client for driver | failed to get nodegetinfo from driver | failed to get plugin info using rpc getinfo | no handler registered for plugin type | error adding csi driver node info | none of the versions specified … are supported | plugin returned an empty list for supported versions | failed to send registration status | kubelet plugin registration … failed | drivernodeid must not be empty | failed to update driver',
    'A CSI driver could not be registered with the kubelet of this node: until it is, none of its volumes is mounted or unmounted.',
    `The end of the line says which step failed: the socket, NodeGetInfo, or the CSINode object. ${ITS_POD}`,
    { about: 'driver', codes: ['DriverUnavailable'], rules: ['C29'] },
  ),
  RegistrarWaits: row(
    'registration hasnt succeeded yet | registration doesnt exist',
    'The registrar of the CSI driver waits: the kubelet has not registered the driver yet.',
    'The kubelet looks below its own root directory (plugins_registry): compare --root-dir with the paths of the DaemonSet. Then journalctl -u {unit} for "RegisterPlugin".',
    { about: 'driver', codes: ['DriverUnavailable'], rules: ['C29'] },
  ),
  RegistrarElsewhere: row(
    'unknown service pluginregistration',
    "The kubelet asked the driver's own socket for a registration, which goes by the socket of its registrar; the driver is not concerned.",
    'Nothing, if the driver is in kubectl get csinode -o yaml. Else its registrar socket is missing in plugins_registry: the log of the registrar container.',
    { about: 'driver' },
  ),
  RegisteredTwice: row(
    'another driver with the same name is already registered | another driver with the same name | detected topology value collision | was owned by different node',
    'A driver of this name is registered already, or two drivers or nodes claim the same thing.',
    'kubectl get pods -A -o wide on this node: two installations of one driver. Remove the older one. A node that was made again with the same name needs nothing.',
    { about: 'driver' },
  ),
  UnregisterFailed: frame(
    'unregisterplugin error | operationexecutor.unregisterplugin failed | deregisterplugin failed | failed to unregister plugin | error uninstalling csi driver | error removing csi driver node info | failed to get plugin handler',
    'A CSI driver could not be taken off the list of this node: its entry in CSINode stays.',
    'kubectl get csinode {node} -o yaml shows what is left. If the driver is gone for good, its mounts are left too: volctl plan --driver-gone {driver|NAME}.',
    { about: 'driver' },
  ),
  PluginWatcher: frame(
    'failed to traverse plugin socket path | error when handling create event | error when handling create | fswatcher received error | failed to start plugin fswatcher | error accessing path | failed to determine if file … unix domain socket | error adding socket path | plugin watcher | error (re-)creating root | socket path is empty | failed to dial socket | failed to listen on socket | bind: permission denied | bind: address already in use | failed to watch … err:',
    'The kubelet could not look at its directory of plugin sockets, so that drivers may not be noticed.',
    'ls -la of plugins_registry below the root directory of the kubelet; limits of inotify; then systemctl restart {unit}.',
  ),
  CsiNodeMissing: row(
    'csinode … not found | cant get csinode | failed to get csinode | csinode is not yet initialized | failed to initialize csinode | csinodes … not found | could not find csinodelister | error updating csinode | failed to update csinode | error getting csinode | has no nodeid annotation | csinode … does not contain driver | error updating node object with csi driver | failed to create csinodeupdater | error deleting existing csinode | error updating node: … caused by | failed to parse nodes … annotation value | error while marshalling node id map | failed while trying to remove key | cannot find nodeid for driver',
    'The CSINode object of the node is missing, not filled yet, or lacks this driver: the controller does not know the node there.',
    'Is there still a Node of this name (kubectl get node,csinode)? If it was deleted, its VolumeAttachments stay until they are removed. Else the driver has to be registered on it.',
    { codes: ['DriverRegistration', 'NodeMissing'] },
  ),
  LifecycleModeWrong: row(
    'not supported by driver … no csidriver object | not supported by driver … only supports | mode … not supported by driver',
    'The driver may not be used in this way here: an inline (ephemeral) volume needs a CSIDriver object that lists Ephemeral in volumeLifecycleModes.',
    'kubectl get csidriver. If there is none, the driver is not installed or half installed: install it. A driver that only offers Persistent needs a claim.',
    { about: 'driver', codes: ['InvalidVolume'], rules: ['C105'] },
  ),
  CsiDriverObject: frame(
    'failed to check csidriver | failed to retrieve csidriver | error retrieving csidriver | failed to update csidriver | csidriver … not found | csidriver lister does not exist | csidrivers … not found | failed to cast csidriver | failed to check fsgroup policy | expected valid fsgrouppolicy | failed to check volume lifecycle mode | failed to add event handler for csi driver',
    'The kubelet or controller could not read the CSIDriver object of the driver.',
    'kubectl get csidriver {driver|NAME}. If it is missing, install the driver completely; if it is there, the API server did not answer in time or does not allow it: it is tried again.',
    { about: 'driver', codes: ['CsiDriverUnknown'], rules: ['C105'] },
  ),
  CapabilityUnknown: frame(
    'failed to determine if the node service has volume_mount_group | failed to check for stage_unstage_volume | failed to check stage_unstage_volume | failed to check whether stage_unstage_volume | failed to check if node supports expansion',
    'The kubelet could not ask the CSI driver what it can do: the driver gave no answer.',
    `What follows says why. ${ITS_POD}`,
    { about: 'driver', codes: ['DriverUnavailable'] },
  ),
  SecretsStoreClass: row(
    'failed to get secretproviderclass | secretproviderclass … not found | secretproviderclasses … not found',
    'The pod refers to a SecretProviderClass that does not exist in its namespace.',
    'kubectl get secretproviderclass -n NAMESPACE; it has to be in the namespace of the pod, and the CRDs of the secrets-store driver have to be installed.',
    { about: 'pod' },
  ),
  SecretsStoreProvider: row(
    'provider not found: provider | provider … not found … secrets-store | failed to lookup provider client | error connecting to provider | failed to find provider binary | secrets-store-csi-providers … no such file or directory',
    'The provider of the secrets-store driver (Vault, Azure, AWS, GCP) does not run on this node, or its socket is elsewhere.',
    "See the provider's DaemonSet on {node}: its pod and the directory of its socket (providersDir).",
    { about: 'pod' },
  ),
  SecretsStoreDenied: row(
    'an iam role must be associated | must be associated with service account | couldnt read secret | couldnt read … code: 403 | service account name not authorized | namespace not authorized | does not have secrets get permission | failed to login … vault | failed to get keyvault client | failed to acquire token … keyvault | error making mount request … permission denied | secretmanager … permission_denied | does not have secrets/get permission | keyvaulterrorexception … forbidden | caller is not authorized to perform action on resource … vaults | error making mount request: failed to login | vault … error logging in | error logging in … vault | error logging in … auth/kubernetes/login',
    'Vault or the cloud does not give this secret to the service account of the pod.',
    'Compare its role: the policy at Vault, the IAM role or identity that the service account is annotated with, and the access policy of the key vault.',
    { about: 'pod', unchecked: 'volctl does not ask the provider', open: true },
  ),
  SecretsStoreAway: row(
    'vault is sealed | code: 503. errors | code: 502. errors | code: 500. errors | vault … connection refused | keyvault … no such host | error making mount request … i/o timeout',
    'Vault, or the store of the secrets, cannot answer now: it is sealed, stands by, or is not reachable from the provider.',
    'vault status at the address in the line. A sealed Vault has to be unsealed; then the kubelet tries the mount again.',
    { about: 'pod', unchecked: 'volctl does not ask the provider' },
  ),
  DriverLacksTokens: row(
    'cannot create resource serviceaccounts/token',
    'The driver may not make tokens of service accounts, which it needs to fetch secrets for a pod.',
    "kubectl get csidriver -o yaml: tokenRequests lets the kubelet give the tokens. Else the driver's ClusterRole needs create on serviceaccounts/token: reinstall the driver in this version.",
    { about: 'driver' },
  ),
  SecretsStoreMissing: row(
    'secretnotfound | was not found in this key vault | cant find the specified secret | invalid role name | no secret exists | secret * does not exist at path | invalid secret path | failed to get objecttype | no secret found at | secretversion … not found | secrets/ … not found or has no versions',
    'The pod asks for a secret, a version, a role or a provider that does not exist under this name.',
    'Compare objectName, objectVersion, path and role in the SecretProviderClass with what is there; for a provider: its DaemonSet on {node}.',
    { about: 'pod', unchecked: 'volctl does not ask the provider', open: true },
  ),
  MessageTooLarge: row(
    'received message larger than max | trying to send message larger than max | etcdserver: request is too large | request entity too large',
    'What is sent is larger than the receiver allows.',
    'For secrets: fewer or smaller objects in one SecretProviderClass, or --max-call-recv-msg-size of the driver. A config map or secret holds at most 1 MiB.',
  ),
  SecretsStoreFailed: frame(
    'failed to mount secrets store objects | failed to mount objects | error mounting secret | failed to create/update spcps | failed to process mount request',
    'The secrets-store driver could not fetch what the pod asks for: the provider at the end of the line says why.',
    'Usually rights or names: the service account of the pod, its role at Vault or the cloud, the name and version of each object in the SecretProviderClass.',
    { about: 'pod', unchecked: 'volctl does not ask the provider' },
  ),
  EfsFailed: frame(
    'mount.efs | efs-utils | failed to locate an available port | failed to initialize tls tunnel | access point … does not exist | failed to fetch az information | mounting arguments: -t efs | efs … mount target | mount target … efs',
    'An EFS file system could not be mounted: its mount target, its access point or the TLS tunnel on the node.',
    'Each zone needs a mount target whose security group allows port 2049 from the nodes; then the log of efs-csi-node on {node} and /var/log/amazon/efs.',
    { unchecked: 'volctl does not ask the cloud' },
  ),
  LonghornNotReady: row(
    'longhorn … not ready | volume … hasnt been attached yet | cannot get client for volume | robustness … faulted | volume … is faulted | replica … rebuilding | replica scheduling failure | precheck new replica failed | longhorn … unable to attach | share manager … not | no healthy replica | all replicas are failed | failed to start share manager | there is no block device frontend for volume | volume endpoint | action [attach] not available | action [detach] not available | no healthy or scheduled replica | unable to attach volume … is not ready | engine … is not running | failed to schedule replica | share-manager … not | longhorn volume … error | tags not fulfilled | hard affinity cannot be satisfied | failed to start engine | failed to start instance | volume … is not in detached state | rebuilding failed | volume share not available | no pending workload pods | share not yet available | is not ready for workloads | monitoring failed, mark as err | set replica … to mode err | message=unable to attach | failed to auto salvage | instance … is state error | failed to open replica | failed to create backend with address | instance manager errored | detected replica … in error | crashed on instance manager | failed to add replica | failed to rebuild replica | backend … failed, mark as error | r/w timeout | to err due to | backend tcp:// | no backend available | timeout on replica | error reading from wire | error writing to wire | volume is not attached, waiting | waiting with nfs server start | cannot find the instance manager for the running instance | timeout_handler: | chain not equal to rw replica | replica must be closed | cannot purge snapshots | reusable failed replica | fail to start rebuild | failed rebuilding | bs_longhorn_request … io error | failed to startup frontend | cannot proceed to remount | failed to unbind initiator | state is failed/unknown | cannot pick up a reusable',
    'Longhorn cannot serve the volume: it is detached, degraded or faulted there, or its engine does not run.',
    'kubectl -n longhorn-system get volumes.longhorn.io,replicas.longhorn.io shows state and robustness. Salvage a faulted volume there before anything else.',
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  MayastorFailed: row(
    'child of nexus | noonlinereplicas | failed to create a bdev | create_nexus | nexus … faulted | nexus … no healthy | diskpool … offline | failing nexus i/o | all child i/os failed | child i/o failed | faulted with i/o error | retiring child device | sock connection error of tqpair | failed to connect tqpair | nvme-of fabric connect | controller reinitialization failed | resetting controller failed | cq transport error | failed to complete aio | completed with pi error | qpair … connection failed | nexus … degraded | replica … faulted | pool … offline | connect command failed, rc',
    'Mayastor could not put the volume together: a replica, its disk pool or the NVMe target on another node does not answer.',
    "kubectl mayastor get volumes,pools shows their state; the log of io-engine on the replica's node has the reason. The nodes must reach each other on ports 8420 and 10124.",
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  ZfsOrLvm: row(
    'dataset does not exist | dataset is busy | cannot open … dataset | zvol … not | volume group … not found | lvcreate failed | failed to create lvm | logical volume … already exists | failed to find vg | no volume group | openebs … not ready | volume has children | cannot process volume group | failed to find logical volume | pool i/o is currently suspended | dataset already exists | cannot mount … directory is not empty | failed to get lv | vgs failed | lvs failed | failed to vgcreate | failed to lvcreate | no such pool available | topolvm … failed | filesystem has dependent clones | zfs: … failed | zfs: … err | zfs: … could not | zfs: … unable | zfs: … not found | zfs: … cannot',
    'The local storage below the driver (LVM, ZFS, OpenEBS) failed or lacks the volume group, pool or volume.',
    'On the node of the volume: vgs, lvs or zpool status, zfs list. Local volumes exist on one node: the pod has to run there.',
    { unchecked: 'volctl does not look into volume groups and pools', open: true },
  ),
  OpenEbsNotReady: row(
    'only one wo replica | only have one wo replica | mode: readonly | update clonestatus | replicas yet to connect to controller | zpool status returned error in zrepl startup | cstorpool not found | failed to connect to … :6060',
    'OpenEBS (Jiva, cStor) cannot serve the volume, or only to be read: too few of its replicas or pools are connected, or one is being filled.',
    'kubectl get jivavolumes,cstorvolumes,cstorvolumereplicas,cspi -A, and the pods of target and replicas: more than half of the replicas have to run and reach the target. One is filled after the other.',
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  LinstorLacks: row(
    'does not support the following layers | does not support the following storage | no active connection to satellite | no connection to satellite | linstor … satellite … offline | linstor … storage pool … not found',
    'LINSTOR cannot use that node for the volume: its satellite does not run, or lacks the DRBD module, LVM or ZFS, or the pool.',
    'linstor node list and linstor node info say what each satellite can do; lsmod | grep drbd (version 9) on that node. After a module was loaded, restart its satellite.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  LvmSays: frame(
    'lvm: | zpool | vgcreate | lvchange | lvextend | pvcreate',
    'The local storage below the driver (LVM, ZFS) says this of a volume, group or pool.',
    'On the node of the volume: vgs, lvs or zpool status, zfs list; the words at the end of the line are the reason.',
    { speaker: true, unchecked: 'volctl does not look into volume groups and pools' },
  ),
  LocalPathFailed: row(
    'no local path available on node | create process timeout | no local path | local-path … failed | config doesnt contain node … no default_path | helper-pod … failed | helper-pod … error | failed to create the helper pod | helper pod … timeout',
    'The local-path provisioner could not make the directory of the volume: its helper pod did not end, or no path is set for the node.',
    'kubectl -n local-path-storage get pods,events (helper-pod-…); the config map local-path-config lists the paths of each node.',
    { open: true },
  ),
  FlexVolumeFailed: frame(
    'flexvolume: driver bug | failed to unmarshal output for command | error reading the flexvolume directory | error creating flexvolume plugin | flexvolume: … failed | flexvolume driver … failed | error adding watch on flexvolume | error (re-)creating driver directory | getvolumename failed from getdevicemountpath | error initializing watcher | unknown operation on directory | failed to marshal spec | error recursively adding watch | flexvolume prober watch | received an error from watcher | persistentvolume not found for spec',
    'A flexVolume driver, a program on the node, failed or answered in no form that the kubelet knows.',
    'The line names the program: start it by hand with the same arguments. It lies below the volume plugin directory (usually /usr/libexec/kubernetes/kubelet-plugins/volume/exec).',
    { codes: ['DriverUnavailable'] },
  ),
  DriverStandalone: row(
    'controller not configured | driver is not configured | driver not ready | driver is not ready | csi driver … not healthy | driver isnt ready | driver responded but is not ready | driver … not initialized | controller not initialized | plugin … not initialized | failed to get arg',
    'The CSI driver runs and says that it is not ready: a part of its configuration or its storage is missing.',
    "The beginning of the driver's log, right after its start, names what it lacks; then its config map, secret and arguments.",
    { about: 'driver', open: true },
  ),
  FormatFailed: frame(
    'could not format | failed to format | mkfs … failed | mkfs. … exit status | format of disk … failed | error formatting | mke2fs: | mkfs.xfs: | could not determine if disk … is formatted | failed to format and mount | disk … is not formatted | format disk failed | mkfs.ext4: | mkfs.ext3: | mkfs.btrfs: | appears to contain an existing filesystem | contains a partition table | failed to create fs | failed to create filesystem | failed to make filesystem | failed to mkfs',
    'The device could not be formatted, or nobody could see whether it holds something.',
    'lsblk -f and dmesg on {node}: a missing device, an I/O error, or something that has it open. A device that holds data must not be formatted: look before you do anything with it.',
    { rules: ['S15'], codes: ['FilesystemUnfit'] },
  ),
} as const

/** What the storage of clouds answers to drivers that attach and provision disks: limits, rights, zones, states. */
import { row } from './sentence.ts'

const CLOUD = { unchecked: 'volctl does not ask the cloud' } as const

export const CLOUDS = {
  VolumeNotAvailable: row(
    'status must be available | current status is | volume status is not | expected volume status | is in error state | is in an error state | status is error',
    'The volume is in a state in which the storage does not attach it: in use, still being made, or in error.',
    'See its state at the storage; the line has it. In use: kubectl get volumeattachments shows who should have it. In error: it has to be mended there.',
    CLOUD,
  ),
  AttachedElsewhere: row(
    'volumeinuse | is already attached to an instance | already attached to another | is currently attached to | is attached to a different instance | is already attached to node | already attached to a different | resource_in_use_by_another_resource | is already being used by | resourceinusebyanotherresource | disk is already attached | already attached to vm | already attached to server | attached to another node | volume is attached to node | is attached to other node | already attached at | still mounted on node | the disk resource … is already being used | is in use by another | currently attached to vm | currently attached to instance | failed to lock the file | already owned by vm | could not be attached to node | already attached to node … could not be attached | is attached to instance | owned by another vm | acquirediskleasefailed | blob is already in use | already attached to a server | code = aborted … is attached | already has other clients added | target already connected at | the resource * is in use | published to a different host | published to another node | published to a different node',
    'The disk is attached to another machine, and the storage gives it to one at a time.',
    'kubectl get volumeattachments shows who should have it. On that node: volctl plan. If no attachment says so, the cloud has an old one: detach it there once nothing on that machine has it mounted.',
    { ...CLOUD, codes: ['MultiAttach', 'AccessMode'], rules: ['S30'] },
  ),
  DeviceNameInUse: row(
    'attachment point * is already in use | device name * is already in use | the device is already in use | a disk at lun … already exists',
    'The cloud already uses this device name on the machine: an earlier attachment is not gone yet, or was made by hand.',
    'See the disks of the machine at the cloud, against lsblk on {node}. An attachment that nobody knows has to be detached there; the driver takes another name the next time.',
    CLOUD,
  ),
  StuckAttaching: row(
    'but was attaching | is in attaching state | state: attaching | still attaching | volume is in the attaching state | device … stuck in attaching | timeout waiting for volume to be attached | volume to be attached within the alloted time | failed to wait for volume attachment | is attaching, cant finish | failed to be attached within | not attached within | failed to attach within | power off and back on',
    'The cloud began to attach the disk and does not finish.',
    "See the disk's state at the cloud. After many minutes: the operating system of the machine does not take it (restart the machine), or the device name is in use. Detach it there and let it be attached again.",
    CLOUD,
  ),
  StuckDetaching: row(
    'but was detaching | is in detaching state | state: detaching | attachdiskwhilebeingdetached | still detaching | busy detaching | volume is still in detaching | currently being detached | last detach operation failed | is being detached',
    'The disk is still being detached from its old machine.',
    'Wait some minutes. If it stays, the old machine does not let it go: see on that node what still has it mounted (volctl plan), or whether the machine still runs.',
    CLOUD,
  ),
  CloudQuota: row(
    'quota_exceeded | quotaexceeded | volumelimitexceeded | maxiopslimitexceeded | maxioplimitexceeded | storage quota | volumesizeexceedsavailablequota | maximum number of volumes allowed | subscription quota | exceeds quota | snapshotlimitexceeded | volumes exceeded | capacity limit exceeded | volumesizeexceedslimit | overlimit',
    'A quota of the account or project at the cloud is used up.',
    'Raise the quota of disks, sizes or IOPS, or delete disks that nobody needs: first compare with kubectl get pv, since released volumes count too.',
    { ...CLOUD, open: true },
  ),
  CloudRights: row(
    'unauthorizedoperation | not authorized to perform | accessdenied | authorizationfailed | does not have authorization to perform action | required … permission for | permission … denied on resource | insufficient authentication scopes | no permission | nopermission | linkedauthorizationfailed | is not authorized | invalidauthenticationtoken | does not have permission | you are not authorized | insufficient privileges | encoded authorization failure | permission to perform this operation was denied | keybasedauthenticationnotpermitted | insufficient permission | insufficientpermissions | authorizationfailure | authorizationpermissionmismatch | does not have permission to | is not authorized to access | could not get storage key',
    "The cloud does not allow the driver's account to do this.",
    'The line names the action. Give the right to the role of the driver (IAM role, service account, managed identity); with encrypted disks also for the key (KMS).',
    { ...CLOUD, open: true },
  ),
  CloudCredential: row(
    'nocredentialproviders | failed to retrieve … security credentials | no valid providers in chain | could not load credentials | failed to refresh cached credentials | expiredtoken | security token included in the request is expired | no ec2 imds role found | failed to retrieve credentials | invalidclienttokenid | error acquiring token | adal: refresh request failed | aadsts | could not find default credentials | cannot complete login due to an incorrect user name | not authenticated | unable to get credentials | oauth2: cannot fetch token | failed to get credentials | application credential | you must provide a password | invalid_grant | get credentials: | failed to get token | identity not found | webidentityerr | assumerolewithwebidentity | keystone … could not | failed to authenticate … keystone | managed identity … not found | managed identity … failed | failed to refresh the token | no signing credentials available | no credentials available | validate the provided access credentials',
    'The driver has no valid credential for the cloud.',
    'See how it should get one: its service account (workload identity), a secret, or the metadata service of the machine (hop limit 2 for pods). Then restart its controller pod.',
    CLOUD,
  ),
  MetadataAway: row(
    'ec2 metadata … not available | get ec2 metadata | retrieve instance data from ec2 metadata | instance metadata is not available | failed to get instance metadata | could not get metadata | imds … failed | imds … timed out | failed to set up metadata service | dial tcp 169.254.169.254 | metadata server … not reachable | could not retrieve instance data',
    'The metadata service of the machine (169.254.169.254) does not answer the program: it has zone, machine id and credential from there.',
    'Often a network rule, or a hop limit of 1 where pods need 2 (AWS: metadata options of the machine). A driver that reads the Node from the API instead goes on: see the next lines of its log.',
    CLOUD,
  ),
  CloudWrongZone: row(
    'zonemismatch | is in zone … but | not in the same zone | different availability zone | in a different zone | volume and instance must be in the same | are not in the same availability zone | cannot be attached to … zone | must be in the same zone | compatible zone | availability zone * not | availability zone … does not match | badrequest … zone * not | is not available in zone | does not exist in zone',
    'Disk and machine are in different zones, and such a disk can only be attached within its own.',
    "The pod has to run in the disk's zone: kubectl get pv {persistentVolume|NAME} -o yaml (nodeAffinity). New volumes: volumeBindingMode: WaitForFirstConsumer in the StorageClass.",
    { codes: ['NodeAffinity'] },
  ),
  CloudNoDisk: row(
    'invalidvolume.notfound | itemnotfound | volume not found | no such volume | could not find volume | failed to find volume | no volume found | volume id not found | volume does not exist | cns … volume … not found | disk not found | disk * not found | disk * was not found | volume * could not be found | volume id * could not be found | volume * does not exist in the | volume * not found in the backend | disks/ * was not found | disks/ … was not found, notfound | volume not found, failed with error | could not get volume | fcd * not found | vstorageobject … was not found | invalidsnapshot.notfound | the snapshot * does not exist | volume id * does not exist | volume vol- * not found | no volume with id | volume with id * not found | volume with id * does not exist | no vsphere disk id/name found | volume with name * not found',
    'The cloud or storage has no such disk: it was deleted there, or is in another account, project or region.',
    'Compare the volume handle (kubectl get pv {persistentVolume|NAME} -o yaml) with the list at the storage. If it was deleted there, the data has to come from a snapshot or backup.',
    { ...CLOUD, codes: ['VolumeNotFound'] },
  ),
  CloudNoMachine: row(
    'invalidinstanceid.notfound | instance not found | failed to find virtual machine | no vm found | nodevm not found | could not find node | failed to get instance id | no such instance | failed to find vm | unable to find virtual machine | node with name … not found | instance does not exist | failed to get providerid | failed to find nodevm | vm * not found | virtual machine * not found | node * not found in the cloud | instance * not found | instance * was not found | instances/ … was not found, notfound | server * could not be found | nodeid * not found | node wasnt found | failed to get vm | vm … was not found | virtual machine wasnt found | failed to find virtualmachine | not present according to cloud provider | does not exist in the cloud provider | code = notfound desc = node * was not found | code = notfound desc = node * not found',
    'The cloud, or the controller of the driver, has no such machine: it was deleted or made again, or is known there by another name.',
    'kubectl get node -o yaml (spec.providerID) and kubectl get csinode -o yaml (nodeID) must name the machine that runs. A Node whose machine is gone for good: kubectl delete node.',
    CLOUD,
  ),
  CloudNoRoom: row(
    'zone_resource_pool_exhausted | insufficient capacity | insufficientcapacity | no suitable host | no valid backend | no valid host | skunotavailable | no storage could be allocated | insufficient disk space on datastore | insufficient free space | not enough free storage | insufficient storage | not enough space | no compatible datastore | failed to find datastore | no shared datastores | overprovisioned | no enough free space | no available disk candidates | insufficient space | insufficient resources | not enough available capacity | insufficient free extents | insufficient suitable allocatable extents | not enough suitable pools | not enough available nodes | out of space | no suitable pool | thin pool … full | no space left on pool | pool is full | capacity exceeded | failed to find a suitable disk | no weighed backends | datastore * not found | not enough disk space | no space in pool | not enough * storage | cannot schedule … more bytes | need to expand the vg | not enough storage | no datastores found',
    'The storage has no room for this volume: capacity, a fitting pool or datastore is missing.',
    'See the free space of the pool, volume group, datastore or zone that the StorageClass refers to. Delete released volumes, add capacity, or choose another class.',
    { ...CLOUD, open: true },
  ),
  VsphereFault: row(
    'serverfaultcode | cnsfault | cns: failed | vslm.fault | not a cns volume | vslm task failed | could not acquire file lock | unable to acquire file lock | is not registered as cns volume | is not registered as a cns volume',
    'vCenter failed to do this with the disk: its container storage (CNS) and the datastore disagree, or the disk is locked by a host.',
    'Monitor, Cloud Native Storage in vCenter shows the volume; after a migration of its datastore it has to be registered there again. vpxd and vsanvcmgmtd logs have the fault.',
    { ...CLOUD, open: true },
  ),
  LunNotMapped: row(
    'setdisklun | lun:(-1) | failed to find lun | cannot find lun | no lun found',
    'Azure says that the disk is attached, and has no LUN for it on the machine.',
    'Wait some minutes: the model of the machine is behind. If it stays, update the machine (az vmss update-instances), or let the pod start on another node.',
    CLOUD,
  ),
  ClockOff: row(
    'requesttimetooskewed | signature expired | clock skew | token used before issued | token is not valid yet',
    'The clock of the program that asks is off, so that the cloud or API server refuses its request.',
    'timedatectl on {node}, and on the node of the driver; then chronyc sources.',
    CLOUD,
  ),
  CloudKey: row(
    'kmskey | invalidkmskey | disk encryption set | cryptsetup … failed | no key available with this passphrase | failed to decrypt | keyvault … disk | luksopen | luks … failed | kms key … not | kms key … disabled | kms: … failed | client.internalerror: client error on launch | kms … not found | kms … not enabled | kms … not authorized | kms … cannot | failed to get an available volume in ec2: invalidvolume.notfound',
    'The key of an encrypted volume cannot be used: it is missing, disabled, or the account may not use it.',
    'See the key at the cloud (enabled, grants for the driver and the machine role); for LUKS the secret or KMS settings of the StorageClass.',
    { ...CLOUD, open: true },
  ),
} as const

/** Words that other programs use too: what stands further in says more. */
export const CLOUDS_IN_GENERAL = {
  CloudBusyState: row(
    'incorrectstate | operationnotallowed | conflictingusererror | invalid volume … status | the operation is not allowed in the current state | is not in the available state | resourcenotready | cannot perform operation … state | in use by another operation | another operation is in progress | operation in progress | conflict … operation | volumemodificationrateexceeded | currently optimizing | modification … optimizing | error occurred while reserving | anotheroperationinprogress | needs to be in state | badrequest … status | preempted | is in an invalid state | not in the expected state | conflictingrequest | while it is in task_state | but got 409 instead | server is locked | is locked (locked) | resource is locked | is locked by another',
    'The disk or machine is in a state in which the storage does not do this now: another operation works on it, or it is in error.',
    'See its state at the storage. Another operation ends in time; a state such as error or faulted has to be mended there. After a change of an AWS volume the next one is allowed after 6 hours.',
    CLOUD,
  ),
  CloudForbids: row(
    'forbidden: 403 | error 403 | statuscode: 403 | http response code 403 | statuscode=403 | status code: 403 | forbidden … error code',
    'The cloud or storage refuses the call (403): a right is missing, or a quota, a firewall or a rule forbids it.',
    "The words behind it say which. A right: the role of the driver's account. A storage account with a firewall has to let the network of the nodes in.",
    CLOUD,
  ),
  CloudParameter: row(
    'invalidparameter | idempotentparametermismatch | idempotent request | invalidparametervalue | invalidparametercombination | validationerror | invalid value for field | invalid parameter | badrequest | invalid input | is not a valid | invalidargument: | unsupported parameter | volume type … could not be found | invalid storage class | unknown parameter | must be specified | is required but | cannot be empty | is not supported for | cannot be used by | message= … is not supported',
    'The cloud or driver refuses a parameter: type, size, IOPS, zone, or a name.',
    'The line names it. Compare the parameters of the StorageClass (kubectl get storageclass NAME -o yaml) with what driver and cloud offer.',
    CLOUD,
  ),
  CloudDown: row(
    'internalfailure | internalservererror | internal server error | service unavailable | 503 | bad gateway | 502 | gateway timeout | 504 | no healthy upstream | statuscode: 500 | http response code 500 | internal error occurred | serviceunavailable | requestexpired | error 500 | backend … unavailable',
    'The cloud, the storage or a server in between failed with an internal error.',
    'It is tried again. If it stays: the status page or the management of the storage; a clock that is off also gives "request expired".',
    CLOUD,
  ),
} as const

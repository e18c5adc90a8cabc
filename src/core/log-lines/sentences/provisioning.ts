/** Claims, PersistentVolumes, StorageClasses and snapshots: the PV controller, provisioners, snapshotters and the scheduler. */
import { frame, news, row } from './sentence.ts'

export const PROVISIONING = {
  SelfLinkEmpty: row(
    'selflink was empty',
    'The provisioner is too old for this Kubernetes: it needs the field selfLink, which is gone since 1.20.',
    'Install a newer version of the provisioner (nfs-subdir-external-provisioner instead of nfs-client-provisioner).',
  ),
  SnapshotApiMissing: row(
    'no matches for kind volumesnapshot | volumesnapshot … could not find the requested resource | snapshot.storage.k8s.io … could not find the requested resource | no kind volumesnapshot | could not find the requested resource … snapshot.storage.k8s.io',
    'The API for snapshots is not installed in this cluster, or in another version than the program wants.',
    'Install the CRDs of external-snapshotter (VolumeSnapshot, VolumeSnapshotContent, VolumeSnapshotClass) and the snapshot-controller; kubectl api-resources | grep snapshot.',
  ),
  ObjectImmutable: row(
    'is immutable after creation | field is immutable | may not change fields other than | updates to parameters are forbidden | updates to provisioner are forbidden | updates to statefulset spec',
    'A field of an existing object cannot be changed: of a claim only the size can grow, and a StorageClass, a pod or the templates of a StatefulSet stay as they are.',
    'Make a new object. For a claim with other properties: a new claim, and copy the data; of a StatefulSet: delete it with --cascade=orphan and make it again.',
  ),
  ClassParametersWrong: row(
    'claim selector is not supported | claim.spec.selector is not supported | provisioner secrets are not specified | name and namespace template from params | failed to get secret … from params | error resolving … secret template | not all parameters are valid | invalid parameters in storageclass | missing required parameter | unknown parameters',
    'The provisioner cannot make a volume of such a claim or with these parameters of the StorageClass.',
    'The line names the field. kubectl get storageclass {class|NAME} -o yaml against the documentation of the driver; a selector works only with volumes that exist already.',
    { codes: ['ClaimUnbound'] },
  ),
  LocalDirectorySkipped: row(
    'is not an actual mountpoint | not a directory nor block device',
    'The provisioner of local volumes leaves this directory out: it takes only what is mounted below its discovery directory, and block devices.',
    'Nothing, if it is no volume. Else mount the disk there, or bind the directory onto itself (mount --bind), on the node and with HostToContainer propagation in the pod.',
  ),
  HandleWrong: row(
    'error parsing volume id | volume id is invalid | failed to get id components | should at least contain | invalid volume handle | invalid volume id | volume id invalid | failed to parse volume id | could not parse volume id | cannot parse volume id | failed to decode volume id | error decoding volume id | volume id … malformed | parsing volumeid … return with error | invalid volumeid | failed to parse volume handle | invalid volumehandle',
    'The volume handle is not in the form that this driver gives to its volumes.',
    'kubectl get pv {persistentVolume|NAME} -o yaml: volumeHandle, against what the documentation of the driver asks for. It cannot be changed: make the PersistentVolume again (reclaim policy Retain).',
    { codes: ['InvalidVolume'] },
  ),
  CloneTooSmall: row(
    'is less than the size … for the source | requested volume size … is less than the size | requested size … smaller than the source | smaller than snapshot | smaller than source volume | less than the snapshot size',
    'The new volume would be smaller than the snapshot or volume that it is made from.',
    'Request at least that size in the claim.',
  ),
  DiskConflict: row(
    'no available disk | disk conflict',
    'A disk that the pod names directly is used by another pod on each node that fits.',
    'Find the pod that uses the disk; two pods share a disk only read-only. A claim instead of a disk in the pod shows this earlier.',
    { by: ['scheduler'], about: 'pod', codes: ['MultiAttach'] },
  ),
  NamespaceEnding: row(
    'because it is being terminated | namespace … is being terminated',
    'The namespace is being deleted, and nothing new is made in it.',
    'Wait until it is gone: kubectl get namespace NAME -o yaml (conditions) says what it waits for, often a claim that a pod still uses.',
  ),
  StorageClassMissing: row(
    'storageclass … not found | storageclasses … not found | no storage class is set | storage class … not found | class * not found',
    'The claim names a StorageClass that does not exist, or none and the cluster has no default one.',
    'kubectl get storageclass. Make the class {class|of that name}, or set the annotation storageclass.kubernetes.io/is-default-class on one; the class of a claim cannot be changed later.',
    { codes: ['ClaimUnbound'] },
  ),
  ProvisionerAbsent: row(
    'waiting for a volume to be created, either by | waiting for a volume to be created either by | externalprovisioning | either by the external provisioner',
    'The claim waits for its provisioner to make the volume. If it goes on for more than a minute, the provisioner does not run or does not answer.',
    'See the provisioner that the line names: the controller pod of that driver, its log, and that the StorageClass has the same provisioner name.',
    { codes: ['ClaimUnbound'] },
  ),
  ProvisionedInTree: row(
    'no volume plugin matched name | no provisionable volume plugin matched | no deletable volume plugin matched | no recyclable volume plugin matched | failed to get provisioning plugin | error getting provisioning plugin | is disabled … provisioning in volume plugin | provisioning in volume plugin … is disabled | gcecloudprovider with error | cloud provider not initialized',
    'The StorageClass or PersistentVolume names a plugin that this Kubernetes does not have or has no cloud for: it was removed, or the name is written wrong.',
    'Compare the provisioner of the StorageClass with kubectl get csidriver. In-tree plugins were replaced by CSI drivers: install that driver.',
    { codes: ['PluginUnsupported'] },
  ),
  ClaimSizeQuota: row(
    'exceeded quota: … requests.storage | exceeded quota: … persistentvolumeclaims | forbidden: exceeded quota',
    'A ResourceQuota of the namespace does not allow this claim.',
    'kubectl describe resourcequota -n NAMESPACE.',
  ),
  NoVolumeFits: row(
    'no persistent volumes available for this claim | cannot find a matching | volumemismatch | requested pv is too small | incompatible accessmode | storageclassname does not match | persistentvolume … cannot be bound | volume size or access mode mismatch | cannot bind to requested volume | failedbinding',
    'No PersistentVolume fits the claim: size, access mode, class, selector or volumeMode differ.',
    'Compare kubectl get pvc -o yaml with kubectl get pv: all of them have to fit, and the PersistentVolume must be Available (a Released one is not).',
    { codes: ['ClaimUnbound'] },
  ),
  ClaimMisbound: row(
    'claimmisbound | bound to a different claim | two claims are bound to the same volume | is not yet bound to the claim | does not point to claim.uid | already bound to another | claimref.uid | has non-bound phase | nil pv.spec.claimref',
    'Claim and PersistentVolume do not point at each other: one of them was made again with the same name, or is bound to another one.',
    'kubectl get pv {persistentVolume|NAME} -o yaml (claimRef with its uid) and kubectl get pvc -o yaml (volumeName, uid). A Released volume is free after its claimRef.uid was removed, on purpose.',
    { codes: ['ClaimUnbound', 'NotDesired'], rules: ['S4'] },
  ),
  ClaimLost: row(
    'claimlost | lost its persistentvolume | persistentvolume * not found | persistentvolumes * not found',
    'The PersistentVolume of a bound claim was deleted; whether the data still exists depends on its storage.',
    'Look for the volume at the storage before anything else. If it is there, make the PersistentVolume again with the same name, handle and claimRef.',
    { codes: ['VolumeUnresolved'], rules: ['S4'] },
  ),
  TopologyMissing: row(
    'no topology key found | topology requirement | no available topology | failed to get topology | accessibility requirements | failed to get target node | selected node … not found | no topology keys | could not get topology',
    'The provisioner cannot find out where the volume may be: the node or its topology labels are missing, or the driver is not registered there.',
    "kubectl get csinode {node} -o yaml (topologyKeys) and kubectl get node --show-labels; the driver's pod has to run on the node that was chosen.",
    { codes: ['DriverRegistration'] },
  ),
  DeletingVolumeFailed: frame(
    'volumefaileddelete | error deleting … volume | still attached to node | persistentvolume … is still attached | deletion of volume … failed | failed to delete volume | delete … volume is in use | error getting deleter volume plugin | host_path deleter only supports | is still attached to a server | is still attached to | delete of volume',
    'A PersistentVolume that nobody needs could not be deleted at the storage, usually since it is still attached or has snapshots.',
    'kubectl get volumeattachments shows the node; there: volctl plan. The deletion is tried again.',
    { codes: ['StillInUse'] },
  ),
  ProvisioningFailed: frame(
    'failed to provision volume | provisioningfailed | error creating volume | error creating * volume | failed to create volume | createvolume failed | createvolume error | volume provisioning failed | could not create volume | provision … failed | retrying syncing claim | retrying syncing volume | error syncing claim | error syncing volume | final error received, removing pvc | temporary error received, adding pvc | unable to provision volume',
    'The volume of a claim could not be made at the storage; the claim stays Pending. It is tried again.',
    "What follows is the driver's own reason: parameters of the StorageClass, quota, rights, zone, or a driver that is not ready. kubectl describe pvc has the whole of it.",
    { codes: ['ClaimUnbound'] },
  ),
  SnapshotFailed: frame(
    'failed to create snapshot | snapshotcreationfailed | snapshotcontentcreationfailed | failed to create snapshot content | snapshotcontentcheckandupdatefailed | cannot get default volumesnapshotclass | failed to get input parameters to create snapshot | error creating snapshot | snapshotfinalizererror | failed to check and update snapshot | volumesnapshotclass … not found | failed to take snapshot | createsnapshot | failed to sync content | could not sync snapshot | failed to sync snapshot | createsnapshot for content … returned error | unable to create snapshot | createsnapshotcontentfailed | error backing up item | awaiting reconciliation of volumesnapshot | volume snapshotter',
    'A snapshot of a volume could not be made.',
    'kubectl describe volumesnapshot, and its VolumeSnapshotContent: the class, the bound claim, and the reason of the driver.',
    { unchecked: 'volctl does not look at snapshots' },
  ),
  SnapshotNotReady: row(
    'snapshot … is not ready | snapshot … not ready to use | error getting snapshot | snapshot … being deleted | failed to get snapshot | volumesnapshot … not found | snapshotmissing | snapshotcontentmissing | volumesnapshotcontents … not found | cannot find snapshot | snapshotdeletepending | failed to delete snapshot | snapshot not found | volumesnapshots.snapshot.storage.k8s.io … not found',
    'The snapshot from which a volume is made, or that is to be deleted, does not exist or is not ready.',
    'kubectl get volumesnapshot,volumesnapshotcontent: READYTOUSE has to be true, in the namespace of the claim.',
    { unchecked: 'volctl does not look at snapshots' },
  ),
  BoundToMissingVolume: row(
    'bound to non-existent persistentvolume | bound to non-existent pv',
    'The claim of the pod is bound to a PersistentVolume that does not exist any more.',
    'Look for the volume at the storage. If it is there, make the PersistentVolume again with the same name, handle and claimRef.',
    { by: ['scheduler'], codes: ['VolumeUnresolved'], about: 'pod' },
  ),
  NoVolumeZone: row(
    'no available volume zone',
    'The volume of the pod is in a zone in which no node fits the pod.',
    'kubectl get pv {persistentVolume|NAME} -o yaml (nodeAffinity, zone label) against kubectl get nodes -L topology.kubernetes.io/zone.',
    { by: ['scheduler'], about: 'pod', codes: ['NodeAffinity'] },
  ),
  NotEnoughStorage: row(
    'did not have enough free storage | insufficient ephemeral-storage | not enough free storage | node(s) did not have enough free',
    'No node has enough free storage for the pod: the capacity that the driver reported, or the ephemeral storage that the pod requests.',
    'kubectl get csistoragecapacities -A; kubectl describe node (Allocatable, ephemeral-storage).',
    { by: ['scheduler'], about: 'pod' },
  ),
  BindingFailed: frame(
    'binding volumes: | prebind plugin … volumebinding | failed to bind volumes | bindvolume | error syncing … volumebinding | provisioning timed out | bind volumes timed out | pv … node affinity doesnt match node | selectednode annotation',
    'The scheduler chose a node, and its volumes could not be bound or made in time. It chooses again.',
    'kubectl describe pvc says what the provisioner waits for.',
    { by: ['scheduler'], about: 'pod', codes: ['ClaimUnbound'] },
  ),
  ReadWriteOncePodUsed: row(
    'readwriteoncepod … already in use | persistentvolumeclaim with readwriteoncepod access mode already in-use | readwriteoncepod',
    'Another pod uses a claim that allows one pod at a time (ReadWriteOncePod).',
    'Find that pod: kubectl describe pvc (Used By). The new pod starts when the other is gone.',
    { by: ['scheduler', 'kubelet'], about: 'pod', codes: ['AccessMode'] },
  ),
  RecyclerFailed: frame(
    'recycler pod | failed to recycle volume | volumerecycled | recyclefailed | pod failed, pod.status.message unknown',
    'The pod that empties a volume for its next claim (reclaim policy Recycle, deprecated) failed.',
    'kubectl get pods -A | grep recycler shows it. Use Delete or Retain instead of Recycle.',
  ),
  ClaimProtected: news(
    'pvc-protection | pv-protection | pvc … is being used by pod | keeping pvc',
    'The claim or volume was deleted and stays until no pod uses it: that protects the data.',
    'Nothing, if that is meant. It goes when the last pod that uses it is gone: kubectl describe pvc (Used By).',
  ),
} as const

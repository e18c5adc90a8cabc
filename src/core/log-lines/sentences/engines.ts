/** The engines below the drivers, in their own logs: what the line is about and where the rest is; causes stand in other tables. */
import { frame } from './sentence.ts'

const STORAGE = { speaker: true, unchecked: 'volctl does not ask the storage' } as const

export const ENGINES = {
  LonghornSays: frame(
    'controller=longhorn | longhorn-manager | longhorn-instance-manager | longhorn-engine | longhorn-backend | longhorn volume | longhorn-volume | longhorn replica | longhorn-replica | io.longhorn | engine-binaries | bs_longhorn_request | response_process: | func=dataconn | longhorn_ | receive_msg: | lh_client_ | error when shutting down frontend | cannot find process',
    'The line is about Longhorn: a volume, its engine or a replica.',
    'kubectl -n longhorn-system get volumes.longhorn.io,replicas.longhorn.io shows state and robustness; the log of its instance-manager on {node} the lines around this one.',
    STORAGE,
  ),
  MayastorSays: frame(
    'mayastor:: | io_engine:: | core_agent | agent-core | agents:: | svcerror :: | svcerror:',
    'The line is about Mayastor: a volume, a replica or its disk pool.',
    'kubectl mayastor get volumes,pools shows their state; the log of io-engine on {node} has the lines around this one.',
    STORAGE,
  ),
  GlusterSays: frame(
    'msgid: | glusterfs | glusterd | glusterfsd | glustershd',
    'The line is about GlusterFS: a volume or one of its bricks.',
    'gluster volume status on a server shows bricks and their ports; on {node} the log of the mount below /var/log/glusterfs or beside the plugin.',
    STORAGE,
  ),
  CephSays: frame(
    'libceph: | ceph: | rbd: | osd. | mds. | log_channel(cluster) | cluster [wrn] | cluster [err] | op-osd: | op-mon: | ceph-csi: | rados: | cephosd: | cephclient: | cephcmd: | pgmap | op-cluster: | ceph-spec: | clusterdisruption-controller:',
    'The line is about Ceph: the cluster, its client on a node or its operator.',
    'ceph -s and ceph health detail have the whole of it; dmesg on {node} the side of the client.',
    STORAGE,
  ),
  NfsServerSays: frame(
    'ganesha | mountd: | exportfs: | nfsd: | smbd: | errors found in configuration block',
    'The line is of the program that serves the share.',
    'exportfs -v and the log of the server around this line; which nodes have the share mounted: volctl plan there.',
    STORAGE,
  ),
  IscsiTargetSays: frame(
    'tcmu-runner: | istgt_ | istgt: | tgtd: | jiva- | cstor- | zrepl | read bhs failed | iscsi connection',
    'The line is about the program that serves an iSCSI disk: a session or a replica.',
    "The log of the volume's target and replica pods around this line; iscsiadm -m session -P 3 on {node} has the other side.",
    STORAGE,
  ),
  PortworxSays: frame(
    'px-oci-mon | oci-monitor | pxctl | portworx | driver=pxd | px-storage | pxprocs | px daemon',
    'The line is about Portworx: a volume or a node.',
    'pxctl status and pxctl volume inspect on {node} have the whole of it.',
    STORAGE,
  ),
  VsphereSays: frame(
    'cns volumes | cns queryallvolume | cns queryvolume | cns updatevolume | from vcenter | vcenter: | vsphere-syncer | csi full sync',
    'The line is about vCenter and the volumes that it knows.',
    'Monitor, Cloud Native Storage in vCenter shows the volumes; the log of vsphere-csi-controller the lines around this one.',
    STORAGE,
  ),
  ObjectStoreSays: frame(
    'mountpoint_s3 | mountpoint pod | mount-s3 | awscrt:: | s3fs: | geesefs | goofys | gcsfuse | blobfuse | blobfuse2 | juicefs: | juicefs | seaweedfs | rclone',
    'The line is about a program that mounts object storage.',
    "Its log is in the pod of the mount or of the driver on {node}. Mostly the end point, the credential, or the bucket's rights.",
    STORAGE,
  ),
  CsiDriverSays: frame(
    'loglayer= | component=grpc-server | service=democratic-csi | grpc.call= | csi_node:: | csi-node | csi-controller | csi-unity | csi-powerstore | csi-driver | csidriver | csi_driver | stagingpath= | staging_target_path | nodeserver.go | controllerserver.go | node_server.go | controller_server.go | identityserver.go | igroup | ontap-san | ontap-nas | trident | powerstore | powermax | ebs.csi.aws.com | ebs-plugin | efs.csi.aws.com | efs-plugin | disk.csi.azure.com | azuredisk | file.csi.azure.com | azurefile | gce-pd-driver | pd.csi.storage.gke.io | gcp-compute-persistent-disk-csi-driver | filestore.csi.storage.gke.io | hcloud-csi-driver | cinder-csi-plugin | openstack | nfs.csi.k8s.io | smb.csi.k8s.io | secrets-store | topolvm | lvmd | csi.hpe.com | isilon | vxflexos | spectrumscale | local-path-provisioner | reporting failure status',
    'The line is about a volume or a call of a CSI driver.',
    "The lines around it in the driver's log have the call and the volume; volctl explain on the volume shows how far it came.",
    { ...STORAGE, about: 'driver' },
  ),
  SidecarSays: frame(
    'csi_handler.go | trivial_handler.go | snapshot_controller.go | snapshot_controller_base.go | node_register.go | csi-provisioner | csi-attacher | csi-resizer | csi-snapshotter | node-driver-registrar | liveness-probe',
    'The line is of a program beside a CSI driver: attacher, provisioner, resizer, snapshotter or registrar.',
    "The driver's own log at the same second has the other side of the call.",
    { speaker: true },
  ),
  BackupSays: frame(
    'velero | restic | kopia | volsync',
    'The line is about a backup or restore of volumes.',
    'velero backup describe NAME --details (or restore) lists each volume; kubectl get volumesnapshot,volumesnapshotcontent -A and the log of snapshot-controller have the other side.',
    { speaker: true, unchecked: 'volctl does not look at snapshots' },
  ),
  VolumeManagerSays: frame(
    'operation_generator.go | operation_executor.go | reconciler_common.go | reconciler_new.go | reconstruct.go | desired_state_of_world_populator.go | volume_manager.go | csi_mounter.go | csi_attacher.go | csi_plugin.go | csi_block.go | csi_client.go | attach_detach_controller.go',
    'The line is about an operation of the kubelet or of the attach/detach controller on a volume.',
    'volctl explain on the volume or pod of the line shows how far it came; the lines before this one in the same log say more.',
    { speaker: true },
  ),
  UdevSays: frame(
    'udevd:',
    'The line is about a device, or a rule that udev has for it.',
    'udevadm info {device|/dev/NAME} on {node} shows what is known of the device; lsblk whether it and its links are there.',
    { speaker: true },
  ),
  TriedAgain: frame(
    'will retry | retrying | will be retried | will try again | try again later | temporary error received | requeuing',
    'Something failed, or did not come in time, and is tried again.',
    'If the line does not say why, the lines before it do, of the same program. It matters if it goes on for minutes.',
    { speaker: true },
  ),
} as const

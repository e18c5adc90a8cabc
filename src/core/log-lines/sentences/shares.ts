/** mount(8), mount.nfs, mount.cifs and FUSE: what they say of servers, exports, shares and options. */
import { row } from './sentence.ts'

const NFS = { unchecked: 'volctl does not ask the server' } as const

export const SHARES = {
  EfsDenied: row(
    'access denied by server while mounting 127.0.0.1',
    'EFS refuses the mount: its policy, the IAM role of the driver or the access point does not allow this client.',
    "Compare the file system policy and the access point of EFS with the role of the driver's service account; with tls,iam as mount options the role of the node counts.",
    { unchecked: 'volctl does not ask the cloud' },
  ),
  TunnelDead: row(
    'server 127.0.0.1 not responding, timed out | server 127.0.0.1 not responding, still trying | server 127.0.0.1 not responding | check lease failed on nfsv4 server 127.0.0.1 with error | tls tunnel for … is not running | unhealthy stunnel',
    'A share that is mounted through a tunnel on this node (EFS with TLS) does not answer: stunnel or efs-proxy has ended, or does not reach the server.',
    'ps -ef | grep -e stunnel -e efs-proxy on {node}, and the log of the driver pod there, which starts it again. Reads and writes hang until then; two programs that both keep such tunnels (driver and host) end them for each other.',
    { codes: ['DeadMount'], rules: ['P62'] },
  ),
  ShareNotMounted: row(
    '6789:/ … cant read superblock | 3300:/ … cant read superblock | cant read superblock on … 6789:/ | cant read superblock on … 3300:/ | -t ceph … cant read superblock | -t ceph … cannot read superblock | -t nfs … cant read superblock | mount.ceph … cant read superblock',
    'The kernel could not mount this share (CephFS, NFS): its server did not answer, refused it, or does not offer an option. No disk is meant.',
    'dmesg on {node}: lines of libceph, ceph or nfs at that second have the reason. CephFS: ceph fs status (is an MDS active?), and monitors, MDS and OSDs must be reachable from the node itself.',
    { unchecked: 'volctl does not ask the server' },
  ),
  NfsAuth: row(
    'requires stronger authentication | rpc call returned error 13 | sec= … not supported by server | rpc.gssd … not running | gss_auth … failed',
    'The NFS server asks for another kind of authentication (sec=) than this node uses.',
    'Compare sec= of the export (exportfs -v on {server|the server}) with mountOptions; for krb5: rpc-gssd and a keytab on {node}.',
    NFS,
  ),
  NfsDenied: row(
    'mount.nfs … access denied | access denied by server while mounting | reason given by server: permission denied | mount.nfs … permission denied | nfs … mnt3err_acces | nfs4err_access | mount.nfs … operation not permitted',
    'The NFS server refuses this node: the export does not allow its address, or not in this way.',
    'On the server: exportfs -v. The address with which {node} arrives must be allowed (the node itself, not the pod), with sec= and the port (insecure) as they are used.',
    NFS,
  ),
  NfsNoExport: row(
    'mount.nfs … no such file or directory | reason given by server: no such file or directory | mount.nfs … does not exist | nfs4err_noent | mnt3err_noent | mounting … failed, reason given by server',
    'The NFS server answers, and has no such export or directory.',
    'Compare the path of the volume with showmount -e {server|SERVER}; with NFS 4 paths begin at the root that the server shows (fsid=0). The provisioner may not have made the directory.',
    NFS,
  ),
  NfsNoStatd: row(
    'rpc.statd is not running | statd … not running but is required | lockd: cannot monitor | rpc.statd is not running … an incorrect mount option was specified',
    'rpc.statd, which NFS 3 needs for locks, does not run on this node.',
    'systemctl start rpc-statd (package nfs-common or nfs-utils); or mountOptions nolock, where one client alone uses the files; or NFS 4.',
  ),
  NfsVersion: row(
    'requested nfs version or transport protocol is not supported | mount.nfs … protocol not supported | mount.nfs … an incorrect mount option was specified | nfs: bad mount option | mount.nfs … invalid argument',
    'The server does not offer the NFS version, transport or option that is asked for.',
    'rpcinfo -p {server|SERVER} shows what it offers. Set mountOptions (nfsvers=4.1, nfsvers=3, proto=tcp) in the PersistentVolume or StorageClass.',
    NFS,
  ),
  MountHelperMissing: row(
    'you might need a /sbin/mount | need a /sbin/mount.<type> helper program | missing codepage or helper program … nfs | bad option; for several filesystems | unknown filesystem type nfs | unknown filesystem type cifs | unknown filesystem type ceph | unknown filesystem type glusterfs | cifs filesystem not supported by the system | mount: /sbin/mount | unknown filesystem type efs | unknown filesystem type lustre | mount program didnt pass remote address | special device fs- … does not exist',
    'The program or kernel module that mounts this kind of file system is not installed where the mount is made.',
    'Install it on {node}: nfs-common or nfs-utils, cifs-utils, ceph-common, glusterfs-client, amazon-efs-utils. Then the kubelet mounts the volume.',
  ),
  CephMountDenied: row(
    'mount error 13 = permission denied | mount error 1 = operation not permitted | no secret set (for auth_x | auth method x error -1 | auth method cephx error | failed to parse ceph_options | reconnect denied | session blocklisted | ceph: … closed our session | ceph: … dropping dirty | session blacklisted | was blocklisted | was blacklisted | mount error 13 = … ceph | rejected session | evicting unresponsive client | evicting (and blocklisting | evicting (and blacklisting',
    'Ceph refuses the user: key or capabilities do not fit, or this client was put on the blocklist after it did not answer.',
    'ceph auth get client.USER; ceph osd blocklist ls shows whether {node} is on it. A mount of a client that was evicted is dead: restart the pods that use it.',
    { codes: ['DeadMount'], unchecked: 'volctl does not ask the storage' },
  ),
  CephMountOptions: row(
    'mount error 22 = invalid argument | mount error 95 = | mount error 3 = | unable to get monitor info | unable to parse mount source | fuse failed to start | failed to load ceph kernel module | mount error 2 = no such file | subvolume group * does not exist | subvolumegroup … does not exist | while running ceph-fuse | subvolume group * not found | subvolumegroup * not found | 6789:/ … operation not supported | 3300:/ … operation not supported | 6789:/ … invalid argument | 3300:/ … invalid argument',
    'CephFS could not be mounted on its options, names or version: file system, path, monitors, or a feature that this kernel lacks.',
    'Compare fsName, rootPath and monitors with ceph fs ls and ceph mon dump; dmesg on {node} names an option that the kernel does not know. Quotas need kernel 4.17.',
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  CifsDenied: row(
    'mount error(13) | status_logon_failure | status_access_denied | mount error(1) | status_account_locked_out | status_password_expired | cifs_mount failed w/return code = -13 | send error in sesssetup = -13 | cifs_mount failed w/return code = -128 | user name or password is incorrect',
    'The SMB server refuses user or password, or the user may not use this share.',
    'Check user, password and domain in the secret of the volume, and the rights of the share. mount error(13) also comes of vers= or sec= that the server does not allow.',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsNoShare: row(
    'mount error(2) | bad_network_name | status_bad_network_name | mount error(6) | status_object_name_not_found | status_object_path_not_found | cifs_mount failed w/return code = -2 | cifs_mount failed w/return code = -6 | specified share does not exist | sharenotfound | share not found',
    'The SMB server has no such share or directory.',
    'smbclient -L //{server|SERVER} -U USER lists the shares. Compare the source of the volume, also its case.',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsUnreachable: row(
    'mount error(115) | mount error(112) | mount error(111) | mount error(113) | mount error(110) | mount error(101) | mount error: could not resolve address | could not resolve address for | mount error(11) | cifs_mount failed w/return code = -115 | cifs_mount failed w/return code = -113 | cifs_mount failed w/return code = -112 | cifs_mount failed w/return code = -111 | cifs_mount failed w/return code = -110 | cifs_mount failed w/return code = -101 | cifs_mount failed w/return code = -11',
    'The SMB server does not answer this node.',
    'nc -vz {server|SERVER} 445 from {node}. Port 445 is often blocked on the way to a cloud. error(112) "host is down" also comes of an SMB version that the server does not speak (vers=3.0).',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsOptions: row(
    'mount error(22) | mount error(95) | mount error(126) | mount error(16) | mount error(5) | mount error(20) | mount error(121) | mount.cifs … bad option | cifs_mount failed w/return code = -22 | cifs_mount failed w/return code = -95 | cifs_mount failed w/return code = -126 | cifs_mount failed w/return code = -5 | cifs_mount failed w/return code = -121 | send error in sesssetup = -126 | dialect not supported by server | not permitted when mounting with | mount error(79) | mount error(77) | vers= … not supported | newsmbglobalmapping failed',
    'The SMB mount failed on its options or version: the server and the kernel do not agree.',
    'dmesg shows which (CIFS: VFS). Try vers=3.0 and a plain sec=ntlmssp; error(126) is a missing Kerberos key, error(16) a mount that is there already.',
    { unchecked: 'volctl does not ask the server', open: true },
  ),
  CephMount: row(
    'no mds server is up | mount error 110 | mount error: no mds | ceph … laggy | mds … is laggy | mds0 hung | mds0 caps stale | ceph: mds … caps went stale | cluster might be laggy | mount error 5 = input/output error | mount error 110 = connection timed out',
    'CephFS does not answer: no metadata server is up, or the monitors cannot be reached.',
    'ceph -s and ceph fs status. From {node}: nc -vz MONITOR 3300 and 6789.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  DeviceLinkWrong: row(
    'failed to manually set link for disk | failed to find and re-link disk | couldnt find a device path | error verifying gce pd | serial check failed | with mismatched serial | path wwid appears to have changed | wwid … has changed | google_nvme_id … failed | inappropriate ioctl for device | failed to get serial num | failed to verify multipath device serial',
    'The name of the disk below /dev leads to nothing or to another disk: a disk went and its link, or its multipath map, stayed.',
    'On {node}: ls -l /dev/disk/by-id and lsblk -o NAME,SERIAL,WWN; udevadm trigger makes the links again. A map or link of a disk that is gone has to go first; mount nothing until they agree.',
    { codes: ['DeviceUnknown'] },
  ),
  MountNoSource: row(
    'could not mount at | cant find in /etc/fstab | no such file or directory: unknown source | cant find uuid | mount: no source | special device does not exist | source is empty',
    'The mount was asked for without a source: the volume handle, server or path is empty or was not understood.',
    'kubectl get pv {persistentVolume|NAME} -o yaml: volumeHandle and volumeAttributes as the documentation of the driver has them.',
    { codes: ['InvalidVolume'] },
  ),
  SpecialDeviceMissing: row(
    'stat /dev/ … no such file or directory | lstat /dev/ … no such file or directory | failed to find device path | devicepath is empty | unable to find device | could not find device path | could not find attached | device /dev … not found | no device found | failed to find disk | unable to find the device | device path … does not exist | timeout waiting for device | waiting for device to show up | failed to get device path | device * was not found | not attached to node | timeout waiting for device node | device node to appear | device path cant be found | failed to get devicepath | device size reported to be zero | cant find device | unable to find * device | device … is not present | does not exist and no size was specified | rbd … is not a block device | failed to stat source device | volumedevicenotfound | devicenotfound | finddiskbylun | file not found for pattern /dev | device not found with serial | failed to find device | waiting device ready | device did not appear | multipath device not found | special device /dev … does not exist | cannot find device for volume | cannot find device with | attached but not found | device attach timeout',
    'The device of the volume is not on this node, though the volume should be attached.',
    'lsblk and ls -l /dev/disk/by-id on {node}. If it is missing: the VolumeAttachment and the log of the attacher; a rescan or udev (udevadm trigger) where the disk is there without its link.',
    { codes: ['DeviceUnknown'] },
  ),
  BindSourceMissing: row(
    'special device … does not exist',
    'The directory or file that is to be bound into the pod does not exist on this node: a local volume, a hostPath or a staged mount.',
    'ls -ld of the first path behind "-o bind" on {node}. A disk that should be mounted there may be missing since the last restart; a kubelet in a container needs the path bound in.',
    { codes: ['HostPathType'] },
  ),
  MountPointMissing: row(
    'mount point … does not exist | no mount point specified',
    'The directory to mount on does not exist (where the program runs: for a driver in its container).',
    'A driver needs the root directory of the kubelet bound in with mountPropagation: Bidirectional, at the same path. Compare its manifest with the --root-dir of the kubelet.',
  ),
  AlreadyMounted: row(
    'already mounted on | mount point busy | will not make a filesystem here | device or resource busy … mkfs | mkfs … device or resource busy | is in use. e2fsck | is mounted. e2fsck | cant open blockdev | is apparently in use | contains a mounted filesystem',
    'The device cannot be mounted, since something else has it: multipath, LVM or another mount.',
    'lsblk and dmsetup ls show what stands on the device. Keep multipath away from disks of a CSI driver (blacklist in multipath.conf); volctl explain on the device shows the rest.',
    { codes: ['HeldBy'] },
  ),
  SidecarNotInjected: row(
    'failed to inject the sidecar container | sidecar container … was not injected | failed to find the sidecar container in pod',
    'The driver mounts in a container beside those of the pod, and its webhook did not add that container when the pod was made.',
    "See that the driver's webhook runs and answers, and that the pod has the annotation that asks for it. Then make the pod new: a pod that exists gets no container.",
  ),
  BlobFuseFailed: row(
    'unable to start blobfuse | blobfuse … failed | blobfuse2 … failed | gcsfuse … failed | mounting gcsfuse | mount-s3: … error | mount-s3: … failed | failed to mount … s3 | goofys | s3fs: | rclone: | juicefs … failed | alluxio-fuse … failed | sshfs: | failed to create mount process: mount-s3 | mount point is not ready | juicefs … not ready | mount point is not available',
    'A bucket or container could not be mounted as a file system: its daemon did not start, or the store refuses it.',
    'The end of the line, or the log of the driver on {node}, has the reason of the daemon: usually the credential, the name of the bucket, or the network.',
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  FuseFailed: row(
    'fusermount | fuse: device not found | fuse: mount failed | fuse … transport endpoint | fuse: failed to | mount.fuse | /dev/fuse | fuse process seems dead',
    'A FUSE mount could not be made or ended.',
    "Its daemon (often in the driver's pod) has the reason in its log. /dev/fuse must exist, and the pod be privileged. A daemon that ended leaves a dead mount: restart the pods that use it.",
    { codes: ['DeadMount'], open: true },
  ),
  WriteProtected: row(
    'is write-protected, mounting read-only | cannot mount … read-only | write-protected but | is write-protected',
    'The device can only be read: it is attached read-only, or write-protected in the storage.',
    'See the access mode and readOnly of the PersistentVolume and its attachment, and blockdev --getro of the device.',
    { codes: ['ReadOnlyFileSystem'] },
  ),
  MountRights: row(
    'must be superuser to use mount | mount: only root can | mount: … permission denied | mount: … operation not permitted',
    'The mount was refused: the program that mounts has not the rights for it.',
    'The container of the driver has to be privileged (CAP_SYS_ADMIN); AppArmor or SELinux may also refuse it: dmesg | grep -i denied.',
  ),
} as const

/** mount(8), mount.nfs, mount.cifs and FUSE: what they say of servers, exports, shares and options. */
import { row } from './sentence.ts'

const NFS = { unchecked: 'volctl does not ask the server' } as const

export const SHARES = {
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
    'rpc.statd is not running | statd … not running but is required',
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
    'you might need a /sbin/mount | need a /sbin/mount.<type> helper program | missing codepage or helper program … nfs | bad option; for several filesystems | unknown filesystem type nfs | unknown filesystem type cifs | unknown filesystem type ceph | unknown filesystem type glusterfs | cifs filesystem not supported by the system | mount: /sbin/mount | unknown filesystem type efs | unknown filesystem type lustre',
    'The program or kernel module that mounts this kind of file system is not installed where the mount is made.',
    'Install it on {node}: nfs-common or nfs-utils, cifs-utils, ceph-common, glusterfs-client, amazon-efs-utils. Then the kubelet mounts by itself.',
  ),
  CifsDenied: row(
    'mount error(13) | mount error 13 | status_logon_failure | status_access_denied | mount error(1) | status_account_locked_out | status_password_expired',
    'The SMB server refuses user or password, or the user may not use this share.',
    'Check user, password and domain in the secret of the volume, and the rights of the share. mount error(13) also comes of vers= or sec= that the server does not allow.',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsNoShare: row(
    'mount error(2) | mount error 2 | bad_network_name | status_bad_network_name | mount error(6) | status_object_name_not_found | status_object_path_not_found',
    'The SMB server has no such share or directory.',
    'smbclient -L //{server|SERVER} -U USER lists the shares. Compare the source of the volume, also its case.',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsUnreachable: row(
    'mount error(115) | mount error(112) | mount error(111) | mount error(113) | mount error(110) | mount error(101) | mount error: could not resolve address | could not resolve address for | mount error(11)',
    'The SMB server does not answer this node.',
    'nc -vz {server|SERVER} 445 from {node}. Port 445 is often blocked on the way to a cloud. error(112) "host is down" also comes of an SMB version that the server does not speak (vers=3.0).',
    { unchecked: 'volctl does not ask the server' },
  ),
  CifsOptions: row(
    'mount error(22) | mount error(95) | mount error(126) | mount error(16) | mount error(5) | mount error(20) | mount error(121) | mount.cifs … bad option',
    'The SMB mount failed on its options or version: the server and the kernel do not agree.',
    'dmesg shows which (CIFS: VFS). Try vers=3.0 and a plain sec=ntlmssp; error(126) is a missing Kerberos key, error(16) a mount that is there already.',
    { unchecked: 'volctl does not ask the server' },
  ),
  CephMount: row(
    'no mds server is up | mount error 110 | mount error: no mds | ceph … laggy | mds … is laggy | mds0 hung | mds0 caps stale',
    'CephFS does not answer: no metadata server is up, or the monitors cannot be reached.',
    'ceph -s and ceph fs status. From {node}: nc -vz MONITOR 3300 and 6789.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  SpecialDeviceMissing: row(
    'special device … does not exist | mount: special device | stat /dev/ … no such file or directory | lstat /dev/ … no such file or directory | failed to find device path | devicepath is empty | unable to find device | could not find device path | could not find attached | device /dev … not found | no device found | failed to find disk | unable to find the device | device path … does not exist | timeout waiting for device | waiting for device to show up | failed to get device path | device … was not found',
    'The device of the volume is not on this node, though the volume should be attached.',
    'lsblk and ls -l /dev/disk/by-id on {node}. If it is missing: the VolumeAttachment and the log of the attacher; a rescan or udev (udevadm trigger) where the disk is there without its link.',
    { codes: ['DeviceMissing', 'DeviceUnknown'] },
  ),
  MountPointMissing: row(
    'mount point does not exist | mount point … does not exist',
    'The directory to mount on does not exist (where the program runs: for a driver in its container).',
    'A driver needs the root directory of the kubelet bound in with mountPropagation: Bidirectional, at the same path. Compare its manifest with the --root-dir of the kubelet.',
  ),
  AlreadyMounted: row(
    'already mounted or mount point busy | already mounted on | mount point busy',
    'The device cannot be mounted, since something else has it: multipath, LVM or another mount.',
    'lsblk and dmsetup ls show what stands on the device. Keep multipath away from disks of a CSI driver (blacklist in multipath.conf); volctl explain on the device shows the rest.',
    { codes: ['HeldBy'] },
  ),
  FuseFailed: row(
    'fusermount | fuse: device not found | fuse: mount failed | fuse … transport endpoint | fuse: failed to | mount.fuse | /dev/fuse',
    'A FUSE mount could not be made or ended.',
    "Its daemon (often in the driver's pod) has the reason in its log. /dev/fuse must exist, and the pod be privileged. A daemon that ended leaves a dead mount: restart the pods that use it.",
    { codes: ['DeadMount'] },
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

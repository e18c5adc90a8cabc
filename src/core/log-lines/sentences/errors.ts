/** Error numbers of the kernel in words, and exit statuses of the programs that mount and check: any program may end with them. */
import { byNumber, frame, row } from './sentence.ts'

export const ERRORS = {
  Busy: row(
    `resource busy | ebusy | text file busy | ${byNumber(16)}`,
    'The kernel says "busy": a process, a mount or another device still uses the path or device.',
    'volctl explain on the path or device of the line names who uses it. Stop that; what failed is then tried again.',
    { codes: ['HeldBy'], rules: ['O15'] },
  ),
  AccessDenied: row(
    `permission denied | access denied | eacces | apparmor=denied | accessdeniedexception | has wrong ownership | attempt to write a readonly database | unable to open database file | not writable | not writeable | must be writable | cant create test file | ${byNumber(13)} | does not have the access rights | on a read-only directory`,
    'Access is denied: by file modes, by the server (an export or share that does not allow this node or user), or by SELinux or AppArmor.',
    'On a share: check what the server exports to this node, and the secret. On a local path: ls -ldn of every directory above it, and ausearch -m avc for SELinux.',
  ),
  NotPermittedHere: row(
    `operation not permitted | eperm | ${byNumber(1)} | unable to apply new capability set`,
    'The kernel does not permit the operation: a right (capability) is missing, the file system does not offer it, or the server refuses it.',
    'chown on NFS or SMB: the server squashes root; leave fsGroup out or use fsGroupChangePolicy. A mount inside a container: the driver has to be privileged.',
  ),
  InputOutputError: row(
    `input/output error | eio | nfs4err_io | i/o error with error code | i/o error | io error | ${byNumber(5)} | sigbus: bus error | bus error (core dumped)`,
    'A read or write failed (EIO): the disk or server below the path has errors, or it is gone while it is still mounted.',
    'dmesg on {node} names the device or server. A path that cannot even be listed is a dead mount: volctl explain on it says whose it is.',
    { codes: ['DeadMount'], rules: ['O19'] },
  ),
  NoSuchDevice: row(
    `no such device or address | no such device | enodev | enxio | no medium found | ${byNumber(6, 19)}`,
    'The device is not there, or the kernel has no driver for it (a file system or protocol module that is not loaded).',
    'lsblk shows the disks of this node, lsmod the modules. A disk that should be attached: kubectl get volumeattachments. A missing module: modprobe, then install it for good.',
  ),
  NoSuchFile: row(
    `no such file or directory | cannot find the path specified | path not found | nosuchfileexception | filenotfoundexception | ${byNumber(2)}`,
    'A file or directory that is needed does not exist: the path stands before these words.',
    'See who should have made it: a hostPath or local volume needs its directory on {node}, an export its directory on the server, a driver its socket below /var/lib/kubelet/plugins.',
  ),
  FileExists: row(
    'file exists | eexist | filealreadyexistsexception',
    'Something of this name exists already. For mkdir on a mount point this is usually a dead mount: it can neither be read nor replaced.',
    'volctl explain on the path of the line says what stands there. A dead mount has to be unmounted; volctl plan shows whether it can be.',
    { codes: ['DeadMount', 'UnexpectedFile'], rules: ['O19'] },
  ),
  NotADirectory: row(
    'not a directory | enotdir | notdirectoryexception',
    'A file stands where a directory should be, or the other way round.',
    'Compare what the pod mounts (file or directory, subPath) with what is in the volume; on the node: ls -ld of the path in the line.',
  ),
  IsADirectory: row(
    'is a directory | eisdir',
    'A directory stands where a file should be.',
    'Often a mount made the directory since the file was missing. Compare subPath or hostPath type with what is there: ls -ld of the path.',
  ),
  NotEmpty: row(
    'directory not empty | enotempty | directorynotemptyexception',
    'The directory has content, and only an empty one is removed.',
    'volctl explain on the path counts what is in it and says whose it is. Do not remove it with rm -rf: what is mounted below would be deleted.',
    { codes: ['UnexpectedFile', 'DataUnderMountPoint'], rules: ['S13'] },
  ),
  InvalidArgument: row(
    'invalid argument | einval',
    'An argument was refused as invalid: of a mount usually an option, of an unmount a path that is no mount point.',
    'For a mount: compare mountOptions of the PersistentVolume with the file system, and read dmesg. For an unmount: nothing is mounted there any more. Else the words before it say whose argument it is.',
  ),
  LinkLoop: row(
    'too many levels of symbolic links | eloop | symbolic link loop',
    'A path leads through links in a circle, or through a link that must not be followed.',
    'namei -l of the path shows each link.',
  ),
  TooManyFiles: row(
    'too many open files | too many open files in system | emfile | enfile | no space left on device: inotify | inotify_add_watch | inotify: too many | no file descriptors available',
    'A limit of open files or of inotify watches is reached.',
    'Find who has so many: lsof | wc -l by process. Raise fs.file-max, fs.inotify.max_user_instances and max_user_watches, or LimitNOFILE of the unit.',
  ),
  NoMemory: row(
    'cannot allocate memory | out of memory | enomem | oom-kill | oomkilled',
    'Memory is used up, of the node or of the container that needs it.',
    'dmesg shows whom the kernel killed. Raise the memory limit of the pod (a driver that unpacks or checks large volumes needs more), or free memory on the node.',
  ),
  ConnectionTimedOut: row(
    `connection timed out | etimedout | timed out connecting | ping timeout | ${byNumber(110)}`,
    'The server did not answer: it is down, or something drops the packets.',
    'From {node}: nc -vz {server|SERVER} PORT (2049 for NFS, 445 for SMB, 3260 for iSCSI, 6789 and 3300 for Ceph). Then firewall, routes and the server.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  ConnectionRefused: row(
    `connection refused | econnrefused | ${byNumber(111)}`,
    'The machine answers and nothing listens on that port or socket: the server program does not run.',
    'Start the server, or correct address and port. For a socket of a CSI driver: see its pod on {node}. For a stat of a mounted path: the daemon behind the mount is dead.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  HostDown: row(
    `host is down | ehostdown | no route to host | ehostunreach | network is unreachable | enetunreach | network unreachable | host is unreachable | ${byNumber(112, 113)}`,
    'The server cannot be reached from this node: it is off, or there is no way to it.',
    'From {node}: ping {server|SERVER} and ip route get. Then the server itself, VLAN and firewall. Mounts of it hang or fail until it is back.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  ConnectionLost: row(
    'connection reset by peer | econnreset | broken pipe | unexpected eof | error reading from server: eof | transport is closing | connection closed',
    'The other side ended the connection in the middle: the program behind it was restarted or crashed, or a firewall cut it.',
    'Nothing, if it is tried again and works. If it repeats: the restarts of the driver or server (kubectl get pods, column RESTARTS) and its last log.',
  ),
  RemoteError: row(
    'remote i/o error | eremoteio',
    'The server failed with an internal error.',
    "Read the server's log; for NFS also its disk and quota.",
  ),
  NotSupported: row(
    'operation not supported | eopnotsupp | enosys | protocol not supported | socket type not supported | not implemented | failed to find extents … invalid argument',
    'The kernel, file system or server does not offer this: an option, a protocol version, a kind of file.',
    'For NFS: try vers=4.1 or 3 as the server offers (rpcinfo -p {server|SERVER}). Else compare options and kernel with what the driver needs.',
  ),
  TryAgain: row(
    'resource temporarily unavailable | eagain',
    'A resource was not free at that moment: a lock, a process or a device.',
    'Nothing, if it works the next time. If it repeats: limits of processes (pids) of the unit or container, or somebody who keeps the lock.',
  ),
  NoLocks: row(
    `no locks available | enolck | ${byNumber(37)}`,
    'The file system or its server gives no locks: on NFS the lock service (statd, lockd) does not answer.',
    'NFS 3: rpc.statd on {node} and on the server, and the ports of lockd between them; NFS 4 needs neither (mountOptions nfsvers=4.1). A database belongs on a disk rather than on a share.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  KeyMissing: row(
    'required key not available | key was rejected by service | key has expired | enokey',
    'A key is missing: of an encrypted file system, of Kerberos or of Ceph; or Secure Boot refuses an unsigned kernel module.',
    'Kerberos: klist -k and the time on {node}. Encryption: the secret of the volume. Secure Boot: a signed module.',
  ),
  BadMessage: row(
    'bad message | ebadmsg | exec format error | value too large for defined data type | fork/exec … invalid argument',
    'What was read is not in a form that the kernel can use: a damaged file system, or a program for another kind of machine.',
    'dmesg says more. A damaged file system: stop the pods, copy the volume, fsck. "exec format error": the image is for another architecture.',
  ),
  NameTooLong: row(
    'file name too long | enametoolong | filename too long',
    'A name or path is longer than the file system allows.',
    'Shorten the name of the volume, claim or file; encrypted or overlay file systems allow 143 bytes.',
  ),
  QuotaExceeded: row(
    'edquot | quota exceeded | exceeded quota | over quota | quota has been exceeded',
    'A quota is used up: of the file system, of the namespace (ResourceQuota), or of the project at the cloud.',
    'The words before it say which. kubectl describe resourcequota -A; df and repquota on the server; the quota page of the cloud.',
  ),
  ModuleMissing: row(
    'module is not loaded | modprobe: fatal | modprobe: error | kernel module … not loaded | kernel module … not found | while running … modprobe | modprobe … exit status | could not load module | module not found | module … not found in directory | failed to load … module | nvme_core … no such file or directory | failed to set nvme_core | nvme_core … os error 2',
    'A kernel module that the driver needs is not loaded and could not be loaded.',
    "On {node}: modprobe NAME (the line names it: rbd, ceph, nbd, nvme_tcp, iscsi_tcp, dm_crypt, nfs); then for good in /etc/modules-load.d. The driver's container needs /lib/modules of the host.",
  ),
  ProgramMissing: row(
    'executable file not found in $path | command not found | exit status 127 | exec: … not found | no such file or directory: unknown program | cant execute … no such file or directory | fork/exec … no such file or directory | no such file or directory) while executing | no valid executable found | no valid executable found … invalid argument',
    'A program that is needed is not installed: on the node, or in the image of the driver.',
    'The line names it: iscsiadm (open-iscsi), mount.nfs (nfs-common, nfs-utils), mount.cifs (cifs-utils), mkfs.xfs or xfs_growfs (xfsprogs), resize2fs (e2fsprogs), cryptsetup, multipath. Install it there.',
  ),
  Killed: row(
    'signal: killed | exit status 137 | signal: terminated | exit status 143 | killed after timeout',
    'The program was killed: a time limit, a lack of memory, or a stop of the container.',
    'dmesg shows whether memory was the reason. Else the caller gave up after its time limit: look what the program waited for.',
  ),
  FsckFailed: row(
    'fsck … exit status 4 | fsck … exit status 8 | fsck … exit status 12 | fsck failed | fsck … with error',
    'fsck could not bring the file system in order (4: errors are left, 8: it could not work; 12: both).',
    'Stop the pods that use the volume, take a snapshot or copy, then run fsck by hand on the device while nothing has it mounted. 8 also means that the device is in use or gone.',
    { codes: ['FilesystemUnfit'], rules: ['S15'], unchecked: 'volctl does not check file systems' },
  ),
  ProgramCrashed: row(
    'segmentation fault | caught signal | core dumped | nil pointer dereference',
    'A program crashed: the fault is in the program, or in memory or disk below it.',
    'Its restarts and the lines before its end: kubectl logs --previous of its pod, or journalctl and coredumpctl on {node}. While it is down, what it serves hangs or fails.',
  ),
  MountProgramFailed: frame(
    'mount failed: exit status | mount failed: exit status 32 | mount failed: exit status 1 | mount failure | mount failed: | failed to mount | mounting failed | could not mount | error mounting | refer to the … manual page | mount system call failed | .mount: mount process exited | .mount: failed with result',
    'Something could not be mounted. The words of whoever tried stand behind "Output", or at the end of the line.',
    "What the program wrote is the reason; dmesg on {node} has the kernel's, if it was asked. Then what is mounted: the device (lsblk -f), the server or bucket, and the options.",
    { codes: ['MountFailed'] },
  ),
  UnmountProgramFailed: frame(
    'unmount failed: exit status | unmount failed: exit status 1 | unmount failed: exit status 32 | umount failed | failed to unmount | unmount failed | umount … exit status 32',
    'The program umount failed. Its own words stand behind "Output", or at the end of the line.',
    'volctl explain on the path says what is mounted there and who uses it.',
    { codes: ['UnmountFailed', 'HeldBy'] },
  ),
  ProgramNotStarted: frame(
    'fork/exec',
    'A program could not be started.',
    'The words behind its path say why: it is not there, not executable, for another machine, or the limit of processes is reached.',
  ),
  ProgramFailed: frame(
    'exit status 32 | exit code 32 | exit status 1 | exit status 2 | exit status 3 | exit status 5 | exit status 6 | exit status 255 | exit code: 1 | exit status 16 | exit status 21 | exit status 64 | returned an error: exit status | exited with error code',
    'A program ended with an error; what it wrote stands beside its exit status, or in another line.',
    "Look in the log of whoever started it (the kubelet: journalctl -u {unit}; or the driver's pod) for the lines before this one: they have the program's own words.",
    { envelope: true },
  ),
} as const

/** Words of any program that say little: whatever else the line says is nearer to the cause. */
export const VAGUE = {
  Missing: row(
    'does not exist | doesnt exist | no longer exists | 404 not found | responded with 404 | status code 404',
    'What the line names does not exist: it was deleted, was never made, or is known there under another name.',
    'The words before say what: a path (ls -ld on {node}), an object of the API (kubectl get), a volume, snapshot or pool at the storage (its own list). Compare the names letter by letter.',
  ),
  PartAway: row(
    'is offline | went offline | is faulty | is faulted | is degraded | lost quorum | quorum lost | no quorum | without quorum | not enough replicas | no healthy replicas | is unhealthy | is unreachable | is not reachable | is not healthy | out of sync | is down | replica … failed | failed … replica | replica … error | rebuild … failed | failed … rebuild',
    'A part of the storage (a disk, a replica, a server) is away or has failed, so that it serves the volume slowly, only to be read, or not at all.',
    "The line names the part. See its state with the storage's own program, then the disk (dmesg), node or network below it. Let it rebuild before another part is stopped.",
    { unchecked: 'volctl does not ask the storage' },
  ),
  NotReady: row(
    'is not ready | not yet ready | not ready yet | is not running | is not available | isnt ready | hasnt been',
    'What is needed is not ready, or does not run, at that moment.',
    'The words before say what: a pod (kubectl get pods -A), a volume at the storage, a service of {node} (systemctl status). It is tried again; if it stays, look why that does not come up.',
  ),
} as const

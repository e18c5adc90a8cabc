/** Lines of the kernel's own log about disks and file systems. */
import { frame, news, row } from './sentence.ts'

export const KERNEL = {
  JournalAborted: row(
    'aborting journal | detected aborted journal | journal has aborted | jbd2: … error | error while writing to journal | xfs … filesystem has been shut down | xfs … shutting down filesystem | corruption of in-memory data | force_shutdown | ext4_journal_check_start | journal superblock … error | journal commit i/o error | xfs_do_force_shutdown',
    'The kernel has given a file system up: it could not write its journal. Nothing can be written any more, and what was not yet written is lost.',
    'Find out why the device failed (the lines before), stop the pods, then unmount, run fsck or xfs_repair on {device|the device}, and mount again.',
    {
      by: ['kernel'],
      codes: ['ReadOnlyFileSystem', 'FilesystemUnfit'],
      unchecked: 'volctl does not check file systems',
    },
  ),
  DiskErrors: row(
    'blk_update_request: i/o error | blk_update_request: critical | i/o error, dev | buffer i/o error | critical target error | lost page write | lost async page write | lost sync page write | end_request: i/o error | failed command: | unrecovered read error | medium error | ata bus error | exception emask | error: { unc } | status: { drdy err } | irq_stat | uncorrectable error | i/o error during system call | sense key : hardware error | i/o error 10 writing | i/o error while writing superblock | error while async write back metadata | ext4_end_bio | log i/o error -5 | writeback error on inode | page discard on page | failing async write on buffer block | detected io errors while flushing | i/o error detected | writing to inode | read error at location | i/o error on dev | xfs_log_force: error | failed to convert unwritten extents | result: hostbyte | logical unit not supported | unit not ready | sense not available | aborting i/o requests | smart failure predicted | sense key: hardware error | i/o cmd … i/o error | sense key : | add. sense: |  cdb: | log mount/recovery failed: error -5 | xfs … metadata i/o error | metadata i/o error in | log mount failed with error -5 | error -5 numblks | returned error -5 | ext4-fs error … i/o failure | error reading directory block | ext4-fs error … i/o error | buffer_io_error: … callbacks suppressed | blk_update_request: … callbacks suppressed | print_req_error: … callbacks suppressed | errs: wr | btrfs … lost page write due to io error on | btrfs … error writing',
    'A disk, or the storage behind it, does not read or write: the kernel reports I/O errors.',
    'dmesg names the device. A network disk: its connection, or it was detached while it was mounted. A local one: smartctl -a {device|/dev/NAME}. Stop the pods before you check the file system.',
    { unchecked: 'volctl does not test disks' },
  ),
  DeviceOffline: row(
    'device offlined | offline device | device … is offline | synchronizing scsi cache … failed | device not ready | killing request | i/o to dead device | removing after probe failure | receive control failed | shutting down sockets | nbd … connection timed out | nbd … stopped by user | beyond end of device … limit=0',
    'The kernel has taken a disk offline: the storage does not answer, or the disk was detached while it was in use.',
    'See the attachment (kubectl get volumeattachments) and the storage. What was mounted from the disk is dead: volctl explain {device|/dev/NAME} shows which pods.',
    { by: ['kernel'], codes: ['MountedButNotAttached', 'DeadMount'], rules: ['O7'] },
  ),
  BeyondEnd: row(
    'beyond end of device | bad geometry: block count | exceeds size of device | want= … limit=',
    'The file system is larger than its device: the disk was shrunk or exchanged, or the node does not see its new size yet.',
    'blockdev --getsize64 {device|/dev/NAME}, against the size at the storage; a rescan (echo 1 > /sys/class/block/NAME/device/rescan). Mount nothing until the two agree.',
    { by: ['kernel'], unchecked: 'volctl does not compare sizes' },
  ),
  XfsLogDirty: row(
    'valuable metadata changes in a log | destroy the log and attempt a repair',
    'The journal of the XFS file system holds changes that were not written to their places: the machine or the disk went away while it was mounted.',
    'Mount {device|the device} once and unmount it again: that replays the journal. xfs_repair -L throws those changes away; take a copy or snapshot before.',
    { codes: ['FilesystemUnfit'], rules: ['S15'], unchecked: 'volctl does not check file systems' },
  ),
  SuperblockUnread: row(
    'cant read superblock | cannot read superblock',
    'The kernel could not read the beginning of the file system: the device does not answer reads, or the file system is damaged there.',
    'dmesg on {node} says which. I/O errors are the disk or the way to it (iSCSI and RBD: their server; DRBD: drbdadm status, some copy must be UpToDate). Without them: fsck or xfs_repair of {device|the device}, after a copy.',
    { codes: ['FilesystemUnfit'], rules: ['S15'], unchecked: 'volctl does not check file systems' },
  ),
  DuplicateUuid: row(
    'duplicate uuid',
    'XFS does not mount a file system whose UUID is mounted already: it is a clone or a restored snapshot of a volume in use on this node.',
    'Mount one of the two with the option nouuid (mountOptions), or give the copy a new UUID (xfs_admin -U generate) while it is not mounted.',
  ),
  KernelTooOld: row(
    'unsupported optional features | unknown incompatible features | cannot be safely mounted by this kernel | incompatible features … enabled | feature set mismatch, my | missing required protocol features | wrong mount options … kernel',
    'The file system or cluster has features that the kernel of this node does not know: it was made by a newer one.',
    'Mount it on a node with a newer kernel, or make such file systems without the feature (mkfs options of the StorageClass). Data is not lost.',
    { by: ['kernel'], unchecked: 'volctl does not check file systems' },
  ),
  FsckNoFileSystem: news(
    'fsck error fsck from … bad magic number in super-block',
    'fsck finds no file system of its kind on the disk: a new disk has none yet, and is formatted next; a disk with XFS is mounted.',
    'Nothing, if the volume is new. If it held data: stop the pod, and look what is on the device (blkid, lsblk -f).',
  ),
  NoFileSystemFound: row(
    'cant find ext4 filesystem | vfs: cant find | no valid superblock | invalid superblock magic number | bad magic number in super-block | superblock checksum | couldnt find valid filesystem superblock | bad magic number | unable to read superblock | cant find a valid fat filesystem',
    'What is on the device is not the file system that was expected: it is new and empty, holds another one, or its beginning is damaged.',
    'A new disk is formatted next, and the line ends there. Else blkid and lsblk -f on {device|the device}, against fsType of the PersistentVolume. Do not format it: take a copy first.',
    { codes: ['FilesystemUnfit'], rules: ['S15'] },
  ),
  NfsServerAway: row(
    'nfs: server … not responding | nfs: server … timed out | nfs: … still trying | rpc: … not responding | nfs: nfs4_discover_server_trunking | lockd: server … not responding',
    'The NFS server does not answer. Everything that touches its mounts hangs, also umount and df.',
    'Bring {server|the server} back: what hangs goes on. If it is gone for good: umount -f of its mounts, after the pods that use them were deleted; volctl plan names them.',
    { by: ['kernel'], codes: ['DeadMount'], rules: ['P62'] },
  ),
  NfsLeaseLost: row(
    'nfs: state manager | check lease failed | nfs4_reclaim_open_state | nfs: lease … expired | nfs4err_expired | nfs4err_stale_clientid | error: fileid changed',
    'The NFS client of this node and its server do not agree any more on what is open or locked: the server was restarted, or refuses the client.',
    'Behind "error" stands why: 13 (or 10016) the server refuses this client, 5, 110 or 512 it does not answer. The server\'s log; then restart the pods that get errors.',
    { by: ['kernel'], unchecked: 'volctl does not ask the storage' },
  ),
  CifsLost: row(
    'cifs: vfs: … has not responded | cifs … server … reconnecting | status_network_name_deleted | cifs … no response to cmd | cifs … no response for cmd | cifs … error connecting to socket | cifs … send error in | cifs … server not responding | cifs: status: … server',
    'The SMB connection is lost, or the server refuses it.',
    'See the server and its log; nc -vz {server|SERVER} 445 from {node}. The kernel connects again.',
    { by: ['kernel'], codes: ['DeadMount'] },
  ),
  CifsSays: frame(
    'cifs vfs: | cifs: vfs: | cifs: status',
    'The SMB client of the kernel says this of a share or its server.',
    'The words behind it are the reason; nc -vz {server|SERVER} 445 from {node}, and the log of the server.',
    { by: ['kernel'], speaker: true },
  ),
  TaskBlocked: row(
    'hung_task_timeout_secs disables this message | blocked for more than | hung_task | call trace: … nfs | soft lockup | task … blocked for',
    'A process hangs in the kernel (state D), usually in a read or write to a disk or server that does not answer. It cannot be killed.',
    'The trace below the line names what it waits for (nfs, xfs, jbd2, rbd, fuse). Bring that storage back; else only a restart of the node ends the process.',
    { by: ['kernel'] },
  ),
  ReservationConflict: row(
    'reservation conflict | persistent reservation | pr: … conflict',
    'Another machine has reserved the disk (SCSI reservation), so that this one may not write it.',
    'sg_persist -r {device|/dev/NAME} shows who holds the reservation. Only its owner, or the storage, may clear it: make sure that nobody else writes the disk.',
    { by: ['kernel'], codes: ['MultiAttach'] },
  ),
  DrbdFailed: row(
    'drbd … state change failed | drbd … need access to uptodate data | drbd … refusing | drbd … standalone | drbd … connection lost | drbd … split-brain | drbd … quorum | drbd … auto-promote failed | drbd … state change was refused | drbd … not in primary role | drbd … sock_recvmsg returned | drbd … declined by peer | drbd … disk( … failed | drbd … local io failed | failed to adjust drbd | failed to set source device readwrite | failed to set source device readonly | did not become ready on node | generated resource file … invalid',
    'DRBD (LINSTOR, Piraeus) does not give the volume: no up-to-date copy, no quorum, or its peers are away.',
    'drbdadm status on {node}, and linstor resource list: at least one copy must be UpToDate. After a split brain somebody has to choose which copy stays.',
    { unchecked: 'volctl does not ask the storage', open: true },
  ),
  SELinuxQueues: news(
    'same superblock, different security settings for (dev mqueue',
    'SELinux says this of the message queues of each container that starts, and it does no harm; no volume is meant.',
  ),
  SELinuxSameSuperblock: row(
    'selinux: mount invalid | same superblock, different security settings',
    'The volume is mounted here already with another SELinux context; the kernel allows one for each file system.',
    'Give all pods of the volume the same seLinuxOptions, or seLinuxChangePolicy: Recursive; the first mount has to go before another context holds.',
    { by: ['kernel'], codes: ['SELinuxMismatch'] },
  ),
  FabricLinkLost: row(
    'adapter aborted all i/o | loop down | logo nexus | rport … blocked | blocked fc remote port | link down … fc | fc … link down | lpfc … link down | qla2xxx … link is down',
    'The Fibre Channel or SAN adapter of the node lost its link or its target: disks behind it hang or fail.',
    'The line has the adapter; cat /sys/class/fc_host/*/port_state. Then cable, switch port and zoning; multipath -ll shows what paths are left.',
    { by: ['kernel'], unchecked: 'volctl does not ask the storage' },
  ),
  LunsChanged: row(
    'lun assignments on this target have changed | reported luns data has changed | capacity data has changed',
    'The storage target gives this node other LUNs, or other sizes, than before; the kernel does not look again unasked.',
    'rescan-scsi-bus.sh, or iscsiadm -m session --rescan, on {node}; a disk of a LUN that is gone has to be removed first, once nothing uses it (volctl explain {device|/dev/NAME}).',
    { by: ['kernel'], unchecked: 'volctl does not ask the storage' },
  ),
  BusyInodes: row(
    'busy inodes after unmount | self-destruct in',
    'A file system was unmounted while the kernel still used files of it.',
    'Detach nothing of this disk before a restart of the node; it is a fault of the kernel or of a driver in it.',
    { by: ['kernel'], rules: ['S21'] },
  ),
  DeviceMapperFailed: row(
    'device-mapper: table | device-mapper: ioctl | device-mapper: … out of data space | switching pool to read-only | device-mapper: reload | out-of-data-space | reached low water mark | no free metadata blocks',
    'The device mapper (LVM, crypt, multipath) refuses a table, or its pool is full.',
    'dmesg says which; dmsetup table and lvs -a. A thin pool that is full has to be extended before anything is written.',
    { by: ['kernel'], unchecked: 'volctl does not look into volume groups and pools', open: true },
  ),
  FileSystemSays: frame(
    'ext4-fs warning | btrfs warning',
    'The kernel says this of a file system.',
    'The words behind it say what; the lines before it in dmesg, whether its device failed.',
    { by: ['kernel'], speaker: true, unchecked: 'volctl does not check file systems' },
  ),
} as const

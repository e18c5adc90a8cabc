/** iSCSI, Fibre Channel, multipath, NVMe over fabrics, Ceph RBD: disks that come over a network. */
import { frame, news, row } from './sentence.ts'

const STORAGE = { unchecked: 'volctl does not ask the storage' } as const

export const NETWORK_DISKS = {
  IscsiNoSession: row(
    'iscsiadm: no session found | iscsiadm: no active sessions | iscsi: failed to rescan session | iscsiadm: no matching sessions found | no records found',
    'There is no iSCSI session or record of this target. Before the first login that is normal.',
    'Nothing, if a login follows. After the login: iscsiadm -m session on {node}, and journalctl -u iscsid.',
    { codes: ['IscsiFailed'], harmless: true },
  ),
  IscsiLogin: row(
    'login failed to authenticate with target | initiator reported error (24 | iscsi login failed due to authorization | chap … failed | failed to update node with chap | failed to update discoverydb with chap | initiator reported error (19 | encountered non-retryable iscsi login failure | initiator failed authorization | login rejected: target error | login rejected: initiator | iscsi … authorization failure | iscsi … exit status 19 | iscsi … exit status 24',
    'The iSCSI target refuses the login: the initiator name or the CHAP secret is not the one that it expects.',
    'Compare /etc/iscsi/initiatorname.iscsi of {node} with the access list of the target, and the CHAP keys in the secret of the volume.',
    STORAGE,
  ),
  IscsiUnreachable: row(
    'iscsiadm: cannot make connection to | initiator reported error (8 | initiator reported error (4 | iscsiadm: connection to discovery portal … failed | iscsiadm: connection login retries | connect to … failed (connection timed out) | connect to … failed (no route to host) | could not perform sendtargets discovery | iscsid: connect to | iscsid: cannot make a connection | cannot make a connection to | iscsiadm: initiator reported error (11 | portals but found | cant find active iscsi session | iscsi … exit status 4 | iscsi … exit status 8 | iscsi … exit status 11 | unable to attach any iscsi devices | failed to log in to any iscsi | timeout executing: … iscsiadm … --login | connection to discovery address … failed | iscsiadmin discover error',
    'The iSCSI portal does not answer, or the login did not come about on any path.',
    'nc -vz {server|PORTAL} 3260 from {node}; iscsiadm -m session; journalctl -u iscsid has the reason of each login.',
    { ...STORAGE, codes: ['IscsiFailed'] },
  ),
  IscsiNotLoggedIn: frame(
    'iscsiadm: could not log into all portals | iscsiadm: could not login to | iscsi: failed to sendtargets | iscsi: failed to attach disk | failed to get any path for iscsi disk | login to iscsi target failed | error logging in to iscsi target',
    'The iSCSI login did not come about on any path.',
    'journalctl -u iscsid on {node} has the reason of each login; iscsiadm -m node the portals that are tried.',
    { ...STORAGE, codes: ['IscsiFailed'] },
  ),
  IscsiSessionExists: row(
    'initiator reported error (15 | session exists',
    'There is a session with this target already: nothing is wrong with the login.',
    'Nothing. If the disk does not come: iscsiadm -m session -P 3 shows its LUNs; iscsiadm -m session --rescan.',
    { harmless: true },
  ),
  IscsiDaemonFailed: row(
    'initiator reported error (9 | sendmsg: bug? ctrl_fd | semop down failed | initiator reported error (6 | initiator reported error (5 | initiator reported error (7 | initiator reported error (18 | initiator reported error (22 | iscsiadm: could not logout of | iscsiadm: could not make | iscsi database failure',
    'iscsid could not do what it was asked for: it is busy, its records are damaged, or a disk of the session is in use.',
    'journalctl -u iscsid on {node}; iscsiadm -m session -P 3 shows the sessions and their disks. A session whose disks are in use is not logged out.',
    { codes: ['IscsiFailed'], open: true },
  ),
  NsenterFailed: row(
    'nsenter: cannot open | nsenter: failed to | nsenter: reassociate | nsenter: neither',
    "The program could not enter the namespaces of the host, or of iscsid there: that process has ended, or the container may not see the host's processes.",
    'systemctl status iscsid on {node}: once it runs, restart the pod that wrote the line. The pod needs hostPID, /proc of the host and to be privileged.',
  ),
  IscsiNoName: row(
    'properly formatted initiatorname | initiatorname is required | initiatorname.iscsi does not exist | no initiatorname | initiatorname required | invalid initiatorname … could not perform sendtargets discovery',
    'This node has no iSCSI initiator name, so that iscsid does not start or no target accepts it.',
    'On {node}: echo "InitiatorName=$(iscsi-iname)" > /etc/iscsi/initiatorname.iscsi, a name that no other node has; then systemctl restart iscsid.',
  ),
  IscsiNoDaemon: row(
    'can not connect to iscsi daemon | cannot connect to iscsid | iscsid … is not running | initiator reported error (20 | iscsid … could not connect | failed to connect to iscsid | initiator reported error (12 | could not insert module | iscsi driver not found | installed on the host … iscsiadm | iscsiadm/open-iscsi installed on the host | nsenter … iscsiadm … not found | open-iscsi … not installed | failed to login with target … failed to connect to bus | could not connect to iscsid | iscsi … exit status 20 | iscsi … exit status 12 | daemon died',
    'iscsid does not run on this node, or the kernel module iscsi_tcp is missing.',
    'systemctl enable --now iscsid (package open-iscsi or iscsi-initiator-utils); modprobe iscsi_tcp.',
  ),
  IscsiConnectionLost: row(
    'detected conn error | ping timeout of … expired | session recovery timed out | connection … is operational after recovery | kernel reported iscsi connection … error | reported iscsi connection | iscsi: cmd … timed out | conn error (1 | iscsi_eh_ | session … recovery',
    'The connection of an iSCSI session was lost. While it is away, the disk hangs; after the recovery time it fails and file systems on it break.',
    'iscsiadm -m session -P 3 shows the state; then the network and the target. A file system that has seen errors has to be unmounted and checked before it is used again.',
    STORAGE,
  ),
  IscsiStillUsed: frame(
    'iscsi detach disk | failed to detach iscsi disk | failed to finish detachiscsidisk | iscsi: failed to detach disk | iscsi: could not determine',
    'The iSCSI disk could not be logged out or removed.',
    'volctl explain on the volume shows which LUNs of the session are in use. Logged out is only when none is.',
    { codes: ['IscsiFailed', 'HeldBy'], rules: ['S25'] },
  ),
  IscsiSettings: frame(
    'iscsi: failed to create new iface | iscsi: failed to parse iface | iscsi: failed to show iface | iscsi: failed to update iface | iscsi: cannot clone iface | invalid iface setting | could not parse iface file | iscsi: failed to delete iface | iscsi: failed to update iscsi node | iscsi: failed to update discoverydb | iscsi: failed to update node session | iscsi: encode err | iscsi: decode err | iscsi: open … err | iscsi: create … err | iscsi: failed to save | iscsi: failed to load | could not get number from iscsi host | iscsi: failed to modify | iscsi: failed to get interface | attachdisk: lun is not a number | failed to get iscsi mounter | iscsi: failed to setup | iscsi: failed to delete the directory | failed to retrieve lun from | failed to retrieve iface from | no data written to file | iscsi: could not read iface | iscsi: failed to clone iface | failed to set iscsi login mode to manual | could not get scsi host number for portal | iscsi: could not find transport name | iscsi: last error occurred during iscsi init | iscsi delete devices: | failed to delete block device | failed to validate devicepath | iscsi: failed to delete node record | node.session.scan=manual',
    'The kubelet could not read or change the iSCSI settings of the node (interfaces, node records), or its own record of the disk.',
    'iscsiadm -m iface and iscsiadm -m node on {node}; the records lie below /var/lib/iscsi or /etc/iscsi.',
  ),
  FibreChannelNoDisk: row(
    'no fc disk found | fc: no fc disk information | no wwn in | fc: failed to find corresponding device',
    'No disk with these WWNs and this LUN, or with this WWID, has come to the node.',
    'ls -l /dev/disk/by-path on {node} and the zoning of the switch; for i in /sys/class/scsi_host/*/scan; do echo "- - -" > $i; done looks again.',
  ),
  FibreChannelDetach: frame(
    'fc: detachfcdisk failed | fc: failed to detach disk | fc: last error occurred during detach | fc detach disk | fc: failed to unmount | failed to flush device | failed to flush multipath device',
    'The Fibre Channel disk could not be taken off the node.',
    'volctl explain on the volume shows who uses the disk; multipath -ll and lsblk what stands on it.',
    { codes: ['HeldBy'], rules: ['S25'] },
  ),
  FibreChannelFailed: frame(
    'fc: failed to setup | fc: failed to get device from mnt | fc: failed to delete the directory | failed to get fc mounter | failed to retrieve volume plugin information | couldnt fetch globalpdpath',
    'The kubelet could not set the Fibre Channel volume up or down.',
    'The words at the end of the line are the reason; volctl explain on the volume shows what is mounted of it.',
  ),
  MultipathNoId: news(
    'failed to get sgio uid | failed to get udev uid | failed to get sysfs uid | add missing path | failed to get path uid | failed to get wwid',
    'multipathd looks at a disk without an id, and leaves it alone. Virtual disks often have none.',
    'Nothing for mounts. The vSphere driver needs disk.EnableUUID=TRUE on the machine; else blacklist such disks in /etc/multipath.conf, and the line ends.',
  ),
  MultipathNoDaemon: row(
    'multipathd … not running | multipath-tools … not installed | multipath: not found | find_multipaths … value | multipath.conf does not exist',
    'The driver wants multipath, and multipathd does not run on this node, or not as the driver needs it.',
    "On {node}: systemctl enable --now multipathd (package multipath-tools or device-mapper-multipath), and /etc/multipath.conf as the driver's documentation has it (find_multipaths no).",
  ),
  MultipathMapFailed: row(
    'failed in domap | domap … failed | multipathd … reload failed | failed to reload | multipath: error getting device | error getting map | addmap: | uevent trigger error | failed to flush map | ioctl on … failed: device or resource busy',
    'multipathd could not make or change a map: the disk is in use without multipath, or the map is.',
    'multipath -ll and lsblk on {node} show who has the disk. Keep multipath away from disks that a CSI driver mounts directly (blacklist in /etc/multipath.conf).',
    { codes: ['HeldBy'] },
  ),
  PathsFailing: row(
    'failing path | remaining active paths | multipath: failing | checker msg is … path | device-mapper: multipath | no path available | all paths down | path is down | state down, checker not called | path offline | failed faulty | path * down | unusable path | entering recovery mode | disable queueing | checker failed path',
    'Multipath has lost paths to a disk. With no path left, reads and writes fail or hang.',
    'multipath -ll shows which; then cable, switch, portal or target of that path. multipathd takes paths back.',
    STORAGE,
  ),
  MultipathInUse: row(
    'map in use | multipath … in use | cannot remove map',
    'A multipath map cannot be removed, because a mount, LVM or a partition map stands on it.',
    'volctl explain {device|/dev/mapper/NAME} (the map) names what stands on it; lsblk shows it as a tree.',
    { codes: ['HeldBy'] },
  ),
  NvmeLost: row(
    'nvme … controller is down | nvme … i/o … timeout | nvme … reconnecting | nvme … failed to connect | nvme … keep-alive timed out | nvme … removing after probe failure | nvme: … connect | device not ready; aborting reset | invalid_ns | controller is dead | nvme … failed to write | failed to connect nvme | unable to attach any nvme devices | nvme … starting error recovery | nvme … failed reconnect attempt | nvme … failed to mark controller live | nvme … connect rejected | nvme … connect command failed | nvme … failed to connect queue | nvme … failed to connect socket | failed to parse ctrl info | attach failed: … transport=tcp,traddr= | nvme … timeout request',
    'An NVMe controller, local or over a network, does not answer.',
    'nvme list-subsys shows the paths. Then the target and the network, or the disk itself (nvme smart-log).',
    { ...STORAGE, open: true },
  ),
  NvmeInterruptLost: row(
    'timeout, completion polled',
    'The NVMe disk answered a command, and the kernel learned of it only when it asked for the state itself: an interrupt was lost or came late.',
    'Nothing, if it is rare: no data is lost. If it repeats, reads and writes wait 30 seconds each time: firmware of the disk, the hypervisor, or kernel and irqbalance of {node}.',
    { by: ['kernel'], unchecked: 'volctl does not measure how fast a volume is' },
  ),
  NvmeConnected: row(
    'nvme-fabrics: operation already in progress | nvme … already connected',
    'This NVMe target is connected on the node already, by an earlier try or by something else.',
    'nvme list-subsys shows it, lsblk its disk. If no pod of the node uses the disk (volctl explain {device|/dev/NAME}): nvme disconnect -n NQN, and the next try connects again.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  RbdBlocklisted: row(
    'map failed: (108) | cannot send after transport endpoint shutdown | result -108 | error: -108 | failed to map, status: 108 | map failed … exit status 108) occurred',
    'Ceph has put this node on its blocklist: it did not answer for a while, or somebody fenced it. What it has mapped is lost to it.',
    'ceph osd blocklist ls. When nothing on {node} writes the image any more: ceph osd blocklist rm ADDRESS, or restart the node; then the pods that use it.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  RbdLockLost: row(
    'exclusive-lock release timed out | lock transition deadlock | encountered watch error | failed to unlock header | breaking header lock | lock request … expired | failed to acquire exclusive lock | no lock owners | rbd … failed to acquire lock',
    'The lock of an RBD image changes hands or was lost: another client has the image, or the cluster did not answer this one.',
    'rbd status POOL/IMAGE and rbd lock ls POOL/IMAGE name the clients. A node that is off for good: ceph osd blocklist add ADDRESS. Reads and writes hang or fail until then.',
    { by: ['kernel'], codes: ['MultiAttach'], unchecked: 'volctl does not ask the storage' },
  ),
  RbdDeviceHidden: row(
    'is host /dev mounted | mapping succeeded but | mapping succeeded but … map failed: (22) | rbd: sysfs is not accessible',
    "The RBD image is mapped, and the driver's container does not see its device: /dev or /sys of the host is not in it.",
    "Compare the DaemonSet of the driver with its manifest: hostPath /dev, /sys and /lib/modules, privileged. Some distributions keep the kubelet's directory elsewhere (--root-dir).",
    { about: 'driver' },
  ),
  CephOsdDown: row(
    'osds down | osd(s) down | health_err | pgs … inactive | full osd | (probing) | (electing) | out of quorum | libceph: … wrong peer | libceph: * down | libceph … down | osd * is marked down | marked down | heartbeat_check: no reply | mon_down | mds_all_down | osd * failed | admin_socket: exception | failed to wait for mon quorum | is not in quorum list',
    'A part of the Ceph cluster is down: reads and writes of images on it may hang.',
    'ceph -s and ceph health detail on the cluster. What hangs on {node} goes on once the placement groups are active.',
    { unchecked: 'volctl does not ask the storage' },
  ),
  CephDenied: row(
    'failed to blocklist | failed to blacklist | rbd: … (13) permission denied | rbd: … (1) operation not permitted | rados: ret=-13 | rados: ret=-1, | map failed: (1) | map failed: (13) | failed to blocklist client | rados … permission denied | caps … insufficient | auth: unable to authenticate | map failed … exit status 1) occurred | map failed … exit status 13) occurred | ceph … (13) permission denied | ceph … error eacces | ceph … error eperm | ceph … (1) operation not permitted | rados … operation not permitted',
    'The Ceph user may not do this: its capabilities lack something (rbd: profile rbd for mon and osd, which allows to blocklist).',
    "ceph auth get client.USER; give it mon 'profile rbd' and osd 'profile rbd pool=POOL', and put its key into the secret of the StorageClass.",
    { ...STORAGE, open: true },
  ),
  CephPoolUnfit: row(
    'rados … operation not supported | erasure coded pool … not supported | rbd … operation not supported',
    'The Ceph pool does not offer this: an erasure-coded pool holds no metadata of images, and data only with allow_ec_overwrites.',
    'ceph osd pool ls detail. In the StorageClass a replicated pool as pool, the erasure-coded one as dataPool.',
    STORAGE,
  ),
  CephRecordsWrong: row(
    'internal state inconsistent | omap … mismatch | failed to fetch … omap | missing omap | error getting omap value … no such',
    'What ceph-csi has noted in the pool about the volume (its omap) does not agree with what is there.',
    'rados -p POOL listomapvals csi.volumes.default, against rbd ls POOL. Report it to ceph-csi with the log of the provisioner; remove a note only when no image and no PersistentVolume is behind it.',
    STORAGE,
  ),
  CephNoRecordYet: news(
    'omap not found | rbd: no watchers on',
    'ceph-csi finds no note or user of that name in the pool: so it is before the first volume of it, or while nobody uses the image.',
    'Nothing, if the call goes on. If it fails, a later line says why.',
  ),
  CephDiskNotTaken: row(
    'osd orchestration status … failed | op-osd: failed to provision osd | unable to complete a new osd | error creating empty object store',
    'Rook or ceph-volume could not make an OSD of a disk: it holds something already, or cannot be written.',
    'The log of the rook-ceph-osd-prepare pod of {node} has the reason; lsblk -f and dmesg there. A disk that held an OSD before has to be wiped first, after a look at whether its data is still needed.',
    STORAGE,
  ),
  RbdImageUsed: row(
    'is still being used | image has watchers | image still has watchers | rbd … is locked by other nodes | rbd: image … is locked | has a watcher',
    'Another client still has the RBD image open: a node where it is mapped, or one that was lost and whose watch has not run out.',
    'rbd status POOL/IMAGE names the watcher by its address. If that node is up: volctl plan there. If it is off for good: ceph osd blocklist add ADDRESS, or wait 30 seconds.',
    { ...STORAGE, codes: ['MultiAttach'] },
  ),
  RbdFeatures: row(
    'rbd feature disable | image … unsupported features | feature set mismatch | map failed: (6) | map failed: (22) | map failed: (95) | rbd: … (6) no such device or address | map failed … exit status 6) occurred | map failed … exit status 22) occurred | map failed … exit status 95) occurred',
    'The kernel of the node cannot map this RBD image: it lacks a feature that the image has.',
    'dmesg on {node} names the feature. Set imageFeatures: layering in the StorageClass, disable the feature of the image, use a newer kernel, or mounter: rbd-nbd.',
  ),
  RbdMapFailed: row(
    'rbd: sysfs write failed | map failed: (5) | map failed: (5) input/output error | map failed … exit status 5) occurred | map failed: (16)',
    'The kernel of the node did not map the RBD image; the reason is in its log only.',
    'dmesg on {node}, lines of rbd and libceph: a feature of the image, a key or right of the Ceph user, a monitor that does not answer, or a pool without room or active placement groups.',
    STORAGE,
  ),
  RbdImageMissing: row(
    'rbd: error opening image | rbd: … (2) no such file or directory | map failed: (2) | error opening default pool | rbd image … not found | rbd: error opening | failed to find image | image not found | pool not found | map failed … exit status 2) occurred',
    'The pool has no such RBD image, or there is no such pool.',
    'rbd ls POOL shows the images. If the image of a bound PersistentVolume is missing, its data is gone: look in rbd trash ls POOL.',
    STORAGE,
  ),
  CephSettings: row(
    'missing id field … in secrets | missing configuration for cluster id | failed to fetch monitor list using clusterid | clusterid … not found | failed to get userid | csi … configuration … cluster id | failed to parse migration | volume id … no clusterid | cluster id … not found | userkey in secrets | unable to find a keyring',
    'A setting of ceph-csi is missing: keys of the secret (userID, userKey, adminID) or the clusterID in its config map.',
    'Compare the secret that the StorageClass refers to, and the config map ceph-csi-config, with the clusterID of the volume.',
    { open: true },
  ),
  CephConfMissing: row(
    'error calling conf_read_file | did not load config file',
    'A program of Ceph finds no configuration file, and so no monitors.',
    'ls -l /etc/ceph/ceph.conf where the program runs: on the host, or in its container, which may need it from a config map. --conf names another file.',
    { open: true },
  ),
  CephUnreachable: row(
    'timeout waiting for process rbd | timeout waiting for process ceph | rbd: map failed: (110) | map failed: (110) connection timed out | monclient … timeout | rados … timed out | failed to get connection: connecting failed | connecting failed: rados: | libceph: … socket closed | libceph: … connect error | libceph: … session lost | libceph: … socket error | mon … session lost | rados: ret=-110 | couldnt connect to the cluster | error connecting to the cluster | errno: 110 | map failed … exit status 110) occurred | failed to get mon address | failed to get mon address … (2) no such file or directory | failed to connect to mons | tcmu_rbd_handle_timedout_cmd | handler connection lost',
    'This node, or the driver, does not reach the monitors or a disk daemon (OSD) of Ceph, or they do not know the user.',
    "ceph -s on the cluster; from {node}: nc -vz to monitors (3300, 6789) and OSDs (6800 and up). Compare the monitors in the driver's config map (clusterID) with ceph mon dump.",
    STORAGE,
  ),
  GlusterFailed: row(
    'glusterfs: mount failed | glusterfs … failed to fetch volume | endpoints … glusterfs | failed to get endpoints | glusterfs: failed | all subvolumes are down | failed to get the port number for remote subvolume | client-quorum is not met | disconnected from client | disconnected from … will keep trying to connect | server … has not responded in the last … disconnecting | brick … not running | failed to connect with remote-host | volume … is not started',
    'GlusterFS does not give the volume: its endpoints, its daemon or some of its bricks do not answer.',
    "kubectl get endpoints in the pod's namespace, and gluster volume status on a server. The in-tree plugin was removed in Kubernetes 1.26.",
    { ...STORAGE, open: true },
  ),
} as const

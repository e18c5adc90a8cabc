/** Disks, hosts and paths: local, iSCSI, FC and hostPath volumes, and what they find on the host (volume-plugins.md 11.3). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const LOCAL = 'privileged/set-up/local'
const ISCSI = 'apply/iscsi'
const SET_UP = not('only a kubelet sets up iSCSI and Fibre Channel volumes')
const FC_NAMES = by('names/iscsi-disk', 'the name of an FC directory, and udev’s links (P79, P80, P82)')
const FC = 'apply/fc'

export const DEVICES: Table = {
  'pkg/volume/util/device_util_linux_test.go': {
    'multipath parent': {
      'a map over a path, none': by(FC, 'a WWID leads to its multipath map'),
    },
    'name of the disk behind a path': {
      'links, another device': by(FC, 'a single path, and a mount of its partition', 'a link by path that is $name'),
    },
    'slaves of a map': {
      'all of them': by(FC, 'unmounts, flushes the multipath map, removes exactly its paths, and the directory (P81)'),
    },
    'hosts of portals': {
      'address, and what was asked for': by(
        ISCSI,
        'a portal whose host name has hyphens, $name',
        'IPv6 in another spelling is the same portal',
      ),
    },
    'devices of a LUN': {
      'of this target alone': by(
        ISCSI,
        'unmounts, removes the device, logs out and deletes the record, in that order (P76)',
        'LUN 1, while LUN 10 of the same target is in a session of its own',
        'a target whose name is the beginning of another’s, at the same portal',
      ),
    },
  },
  'pkg/volume/util/hostutil': {
    TestIsSharedSuccess: {
      'shared, or on a shared mount': not(
        'a kubelet shares its directory when it starts (P135), and volctl leaves it as it is',
      ),
    },
    TestIsSharedFailure: {
      'no such table': not('a kubelet shares its directory when it starts (P135), and volctl leaves it as it is'),
    },
    TestGetSELinuxSupport: {
      'seclabel or not': not(
        'it tells a runtime whether it may relabel files; of mounting volctl asks the host and the driver (R310)',
      ),
    },
    TestGetSELinuxMountContext: {
      'quotes trimmed, none': by(
        'reconcile/mount-volumes/selinux',
        'a pod keeps what it has, a mount with $there, and what differs is said (R808, R824)',
      ),
      'no SELinux: none': by('reconcile/mount-volumes/selinux', 'none without SELinux'),
    },
    TestGetFileType: { 'each type, and none': by('plugins/host-path-type', 'lines of stat(1)') },
  },
  'pkg/volume/local/local_test.go': {
    'global path': {
      'a directory, a block device': by(
        LOCAL,
        'is bound, is there, and goes with its pod; its data stays',
        '%s is mounted once, for two pods, and goes with them',
      ),
      'another file, nothing: error': by(LOCAL, 'is refused by a path that is bad, missing, or a file'),
    },
    'mount, map and their undoing': {
      'paths of both': byAll(
        by('plugins/local-volume', 'as the PersistentVolume says', "is made in the kubelet's order"),
        by(LOCAL, 'is mapped for two pods, and goes with them (P98-P102)'),
      ),
      'fsGroup, and who has it already': by(LOCAL, "is given to the first pod's group, and to no other's (P68)"),
      'read-only': by(LOCAL, 'is bound in two calls where it has options: one pod writes, another only reads (P125)'),
    },
    reconstruction: {
      'a directory: no path': by(
        'reconcile/observed',
        'O32: a local volume of a pod that is gone goes the way of failed reconstruction',
      ),
      'a device: its node': by(LOCAL, '%s is mounted once, for two pods, and goes with them'),
    },
    'mount options': { joined: by('plugins/local-volume', 'as the PersistentVolume says') },
    TestFilterPodMounts: {
      'a path that begins alike is not inside': by('files/path-within', 'isWithin', '%s within %s: %s'),
      'of other pods alone': by('plugins/local-volume', 'is given to a group only where no other pod has it (P68)'),
    },
  },
  'pkg/volume/iscsi': {
    'names of directories': {
      'iqn, eui, IPv6': by('names/iscsi-disk', 'the name of an iSCSI directory (P72, P77)'),
      'no LUN: error': by('names/iscsi-disk', 'tells nothing: %s'),
      'no interface': by('names/iscsi-disk', 'the interface is what the directory above says, and else unknown'),
    },
    TestGetVolCount: {
      'directories that begin with the target’s name': instead(
        'S25, P78: directories by their whole names, and whoever uses a LUN of the session',
        by(
          ISCSI,
          'that $name would come back for: $want',
          'S25: a session of which another LUN is used stays whole, and that is no failure where its record is not the last',
        ),
      ),
      'cloned interfaces, and maps': by(
        ISCSI,
        'only directories of another target and another interface',
        'a block map’s directory',
      ),
    },
    'portals named twice': { 'once each': by('names/iscsi-disk', 'a portal that is named twice') },
    'cloning of an interface': {
      'its settings': SET_UP,
      'it fails: deleted again': SET_UP,
      'settings that are unknown: no matter': SET_UP,
    },
  },
  'pkg/volume/fc': {
    TestParsePDName: { 'one and several WWIDs and WWNs; no WWN; no LUN': FC_NAMES },
    reconstruction: {
      'by the mount': by(
        FC,
        'a single path, and a mount of its partition',
        'unmounts, flushes the multipath map, removes exactly its paths, and the directory (P81)',
      ),
      'no mount any more': by(FC, 'nothing is mounted any more, as after a tear-down that was ended half-way (R837)'),
    },
    'search for the disk': {
      'at once, after a look of the hosts': SET_UP,
      none: SET_UP,
    },
  },
  'pkg/volume/hostpath': {
    'types of paths': {
      'what each type allows': by('plugins/host-path-type', 'what a type allows'),
      'what is made': by(
        'privileged/set-up/host-path',
        'what is missing is made where the type says so, and is there then',
      ),
    },
    'paths that lead back': { error: by('plugins/host-path-type', '%s is refused whatever its type is') },
  },
}

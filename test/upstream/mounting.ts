/** Mount tables, mount(8), umount(8), file systems on devices (volume-plugins.md 11.1, volume-manager.md 9.8). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const MU = 'staging/src/k8s.io/mount-utils'
const PARSE = 'mountinfo/parse-mountinfo'
/** The kubelet's references are the mounts of one directory in one table. */
export const USERS = instead(
  'every other mount of it counts, by device and root, in every mount namespace (S24)',
  by('privileged/safety/rules', 'S24: what somebody else has mounted as well is not unstaged, nor detached'),
)
const DEVICE = 'apply/disks/mount-device'
const BIND = by('apply/mounts/mount-step', 'what is called')
const FORMATS = not('volctl makes no file system (S15)')
const NO_SECRETS = not('only flexVolumes have secret options in 1.36, and only a kubelet mounts these')
const UNSAFE = 'P115, S27: what umount(8) says decides nothing; the mount table is read after it'
const TABLE_AFTER = by(
  'privileged/unmounting',
  'S27: unmounts hundreds in one go, believes the mount table read after it, and names who holds the one that is busy',
)
const BY_TABLE = by(
  'privileged/dead-mounts',
  'S18: are unmounted without being looked at, though their daemon never answers',
)

export const MOUNTING: Table = {
  [`${MU}/mount_helper_unix_test.go`]: {
    TestParseMountInfo: {
      'a directory bound onto itself': by(PARSE, 'a bind of a directory onto itself, private: no optional field'),
      'a sub-directory, two optional fields': by(PARSE, 'a bind of a sub-directory with two optional fields'),
      'cgroups: tmpfs, controller, named controller': by(
        PARSE,
        'the tmpfs above the controllers',
        'a comma in a path',
        'a named controller',
      ),
      'a quoted comma in super options': by(PARSE, 'a quoted comma, colons in the path'),
    },
    TestBadParseMountInfo: {
      'one line without its newline': by(PARSE, 'more fields than today'),
      'no major:minor': by(PARSE, 'has no major:minor'),
      'half of it missing, or letters': by(
        PARSE,
        'has no major',
        'has no minor',
        'has letters in major',
        'has letters in minor',
      ),
    },
    TestIsMountPointMatch: {
      'equal, the root, deleted, other': by(PARSE, 'finds every layer at $path, oldest first'),
      'both empty': not('no path of volctl is empty: all are absolute (P161)'),
    },
  },
  [`${MU}/mount_linux_test.go`]: {
    TestReadProcMountsFrom: {
      'entries, and lines that are none': instead(
        'P110, P115: /proc/PID/mountinfo tells all that /proc/mounts does, and is the one table that is read',
        by(PARSE, 'reads $name', 'refuses a table with a line that $name, and names the line'),
      ),
    },
    TestGetMountRefs: { 'the other paths of the device': USERS, 'an unknown path: none': USERS },
    TestGetDeviceNameFromMount: {
      'device, and how often it is mounted': by(PARSE, 'finds both exports of one server by their device'),
    },
    TestPathWithinBase: { '12 pairs': by('files/path-within', 'isWithin', '%s within %s: %s') },
    TestSensitiveMountOptions: { 'all are given, none is logged': NO_SECRETS },
    TestDetectSafeNotMountedBehavior: { 'what umount(8) says of what is not mounted': instead(UNSAFE, TABLE_AFTER) },
    TestCheckUmountError: {
      'no child processes': not('an artefact of Go (P123)'),
      'not mounted: no error': by('apply/operation/preconditions', 'unmounted meanwhile'),
      'not mounted, between the look and the call': instead(UNSAFE, TABLE_AFTER),
      'another failure: error': by('apply/batch', 'fails one by one: the busy one with its reason, the others go on'),
    },
    TestGetBindMountOptions: {
      'each flag, and several': by(
        'apply/mounts/mount-step',
        'what a bind mount has of its source is named again when it is given options (TestGetBindMountOptions)',
      ),
    },
    TestFormatConcurrency: { 'so many at once': FORMATS },
    TestFormatTimeout: { 'one more after the time-out': FORMATS },
    TestSearchMountPoints: {
      'directory, unused': USERS,
      'directory, used, beside a path with the same beginning': USERS,
      'tmpfs, none and two users': USERS,
      'a sub-directory of a tmpfs through a bind': USERS,
      'a directory bound onto itself, none and one user': USERS,
      'block file system, none to two users': USERS,
    },
    TestIsLikelyNotMountPoint: {
      'plain directory': by(PARSE, 'finds every layer at $path, oldest first'),
      'missing path, links, links to nothing': instead(
        'P115: the mount table answers by itself, so that no path is touched that might hang or lead elsewhere',
        by(PARSE, 'finds every layer at $path, oldest first'),
        by('node/read-tree', 'follows no link'),
      ),
    },
  },
  [`${MU}/mount_helper_test.go`]: {
    TestDoCleanupMountPoint: {
      'mounted: unmounted, removed': by(
        'apply/apply-plan',
        'unmounts, removes, journals, and says that nothing is left',
      ),
      'gone already': by('apply/steps', 'is idempotent: what is gone is fine (R837)'),
      'corrupted: unmounted without a look, removed': byAll(
        BY_TABLE,
        by('privileged/dead-mounts', 'are told from living ones, and unmounted, when their daemon is gone'),
      ),
      'the look fails otherwise: error, kept': instead(
        'P115: the table tells that it is mounted; nobody looks at it',
        BY_TABLE,
      ),
      'no look at all': BY_TABLE,
      'umount fails: kept': by('privileged/devices', 'leaves a busy file system, and takes it once it is free'),
      'not to be removed: error': by('apply/steps', 'keeps what lies in the directory that it left'),
    },
    IsCorruptedMnt: { 'which errors': by('node/dead-mounts', 'P116: "%s" shows %s') },
  },
  [`${MU}/mount_test.go`]: {
    TestMakeBindOpts: { 'no bind, bind, _netdev, remount given': BIND },
    TestMakeBindOptsSensitive: { 'no bind, bind, _netdev, remount given': BIND, 'hidden among secrets': NO_SECRETS },
    TestOptionsForLogging: { 'as many masks as secrets': NO_SECRETS },
  },
  [`${MU}/safe_format_and_mount_test.go`]: {
    TestSafeFormatAndMount: {
      'formatted, read-only; writable: fsck': by(DEVICE, 'formatted, read-only', 'formatted, writable'),
      'unformatted, read-only: error': by(DEVICE, 'unformatted, read-only'),
      'unformatted, writable: formatted, with the arguments of its type': instead(
        'S15: never; the command is named',
        by(DEVICE, 'unformatted, writable', 'names the command that a person would run'),
      ),
      'fsck says 1, 8: goes on; 4: error': by(DEVICE, 'fsck ends with ', 'fsck leaves errors'),
      'a partition table: error': by(DEVICE, 'partitions', 'partitions and another type'),
      'mkfs fails, or its mount; its options come first; its secrets are masked': FORMATS,
      'the mount fails': by(DEVICE, 'the mount fails', 'another type than wanted, and the mount fails'),
      'ext3, xfs': by(
        DEVICE,
        'ext4 where ext3 is wanted, and the kernel does not mind',
        'another type than wanted, and the mount fails',
      ),
      'blkid fails': by(DEVICE, 'blkid fails', 'not to be opened by blkid', 'blkid is not understood'),
    },
  },
  [`${MU}/resizefs_linux_test.go`]: {
    TestGetFileSystemSize: {
      'what btrfs says of its size': instead(
        'P131: the program is called, and does nothing where there is nothing to grow',
        by('apply/expand/local-expand', '$fsType'),
      ),
    },
    TestNeedResize: {
      'read-only: no': by('apply/expand/local-expand', 'read-only: nothing is called'),
      'ext, xfs: yes': by('apply/expand/local-expand', '$fsType'),
      'btrfs, larger or as large': instead(
        'P131: the program is called, and does nothing where there is nothing to grow',
        by('apply/expand/local-expand', '$fsType'),
      ),
      'another type: error': by('apply/expand/local-expand', 'another file system: an error, and nothing is called'),
    },
  },
}

/** Cases that are missing upstream, and that volctl needs: they have names of ours, T130 to T148. */
import { by, byAll, type Table } from './verdict.ts'

const POPULATE = 'populator/populate'
const SAFETY = 'reconcile/safety'
const OBSERVED = 'reconcile/observed'
const STEPS = 'apply/steps'
const LOST_RECORDS = byAll(
  by(SAFETY, 'vol_data.json with %j tells nothing'),
  by('plugins/csi', 'a state file that is %s: it is written anew, or not (C93, C94)'),
)
const STILL_MOUNTED = by(STEPS, 'fails, and removes nothing, when it says OK and the mount is still there (T141, R832)')
const FOREIGN = by(SAFETY, 'a foreign layer blocks', 'a foreign mount %s blocks')
const TWO_PODS = by(OBSERVED, 'O30: one of two pods of a shared volume gone')

export const GAPS: Table = {
  'none upstream (volume-manager.md 9.9)': {
    T130: {
      'a claim that may not be read': byAll(
        by(POPULATE, 'T130 claim forbidden', 'T130 claim unread by the kubelet'),
        by(SAFETY, 'a claim that may not be read blocks every unstage and detach'),
      ),
    },
    T131: {
      '32 hex digits, no mirror pod': by(
        SAFETY,
        'a manifest without its mirror pod freezes directories that are no UUID',
      ),
    },
    T132: {
      'the mirror pod’s own UID has no directory': byAll(
        by(POPULATE, 'T132, R225: a static pod is known by the UID of its directory'),
        by('desired/pods', 'a mirror pod'),
      ),
    },
    T133: {
      'a portal with and without its port': byAll(
        by('populator/volume-plugins', 'T133, R014: a portal without port keeps its name without port'),
        by('reconcile/session-devices', 'the same LUN, written without a port (R014)'),
      ),
    },
    T134: {
      'a name with a slash': byAll(
        by(
          POPULATE,
          'T134, R151: an inline in-tree volume has a synthetic PersistentVolume, whose name is its directory',
        ),
        by('reconcile/migrated', 'an inline one is known by its directory, whose name is escaped (T134, R815)'),
      ),
    },
    T135: { 'an empty globalmount': by(OBSERVED, 'an empty globalmount without a state file is nothing (R025, T135)') },
    T136: {
      'no pod directory: unstaged': by(OBSERVED, 'a global mount is unstaged'),
      'a foreign bind mount of it: blocked': by(SAFETY, 'a reader outside the operation blocks'),
    },
    T137: {
      'in the order of R451': by(
        OBSERVED,
        'of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)',
      ),
      'the directory stays until then': by(
        OBSERVED,
        'its state file lost: blocked until the handle is given, and the directory stays',
      ),
    },
    T138: { 'blanks and a newline': by(OBSERVED, 'a mount point with blanks and a newline is recognised (T138)') },
    T139: {
      'two mounts on one path': byAll(
        by('apply/batch', 'takes every layer of a stack'),
        by('privileged/unmounting', 'S18: takes a stack of mounts off layer by layer'),
        by(SAFETY, 'a stack of the same device and root is unmounted by the driver'),
      ),
    },
    T140: {
      'a mount below an emptyDir': byAll(
        FOREIGN,
        by(
          'privileged/safety/rules',
          'S12: a bind mount of the same device below an emptyDir keeps it, and what is behind',
        ),
      ),
    },
    T141: { 'OK, and still mounted': STILL_MOUNTED },
    T142: { 'a container appears': by('apply/operation/preconditions', 'a container appeared (T142)') },
    T143: {
      'Succeeded, its sandbox ready': by(
        SAFETY,
        'a ready sandbox keeps what a finished pod has, its containers over (T143, R825)',
      ),
    },
    T144: {
      'a label wanted, none on record': by(
        'reconcile/mount-volumes/selinux',
        'so does one of which no label is on record (T144)',
      ),
    },
    T145: {
      'a claim that no container uses': byAll(
        by(POPULATE, 'R105, T145: a volume that no container uses is not desired, and no finding'),
        by('populator/controller-wanted', 'R708, T145 unused by any container'),
      ),
    },
    T146: { 'a record cut off': LOST_RECORDS },
    T147: {
      'killed between unmount and removal': byAll(
        by(
          'privileged/killing',
          'comes to the same end in the next run, lock and all, and no content has changed (R837)',
        ),
        by(OBSERVED, 'an empty directory that an unfinished unstage has left is removed (R837)'),
      ),
    },
    T148: {
      'a claim that is going, and protected': by(
        POPULATE,
        'T148, R113: a terminating claim that is protected stays desired',
        'R113 deleted, unprotected',
      ),
    },
  },
  'none upstream (csi.md 11.9)': {
    'the target before and after': {
      'mounted before': FOREIGN,
      'dead at the tear-down': by(
        'privileged/dead-mounts',
        'are told from living ones, and unmounted, when their daemon is gone',
      ),
      'OK, and still mounted': STILL_MOUNTED,
    },
    'vol_data.json': { 'empty, {}, null, cut off, a number, two values': LOST_RECORDS },
    'NOT_FOUND and ABORTED': {
      'from NodeUnpublishVolume and NodeUnstageVolume': by(
        STEPS,
        '$code: $state, in the driver’s words, and nothing is removed (C76)',
        '%s of an unstage: it fails, and keeps its record (C125)',
        'waits for a pending call (C119): %s',
      ),
    },
    'every code': {
      'from NodeStageVolume and NodePublishVolume': byAll(
        by(
          'privileged/set-up/csi-codes',
          '$rpc, every code, always and once: what is left is what the rules say, and the next apply ends it',
        ),
        by('apply/csi-bring-up', '$code: $state'),
      ),
    },
    VolumeAttachment: {
      'attached and going': by(
        'apply/csi-bring-up',
        'an attachment that is being deleted, though it is attached (C37)',
      ),
      'attached, with an error': by(
        'reconcile/mount-waits',
        'an attachment with an error of before, and attached by now (C37)',
      ),
    },
    sharing: {
      'two PersistentVolumes, one handle': by(SAFETY, 'a second PersistentVolume behind the same attachment blocks'),
      'one volume, two pods, one goes': TWO_PODS,
    },
    'a device of another pod': {
      'still mapped while the device goes': by(OBSERVED, 'of two pods, one of which lives: only the other’s part goes'),
    },
    'a driver that mounts nothing to stage': {
      'a healthy node: no operation': byAll(
        by('privileged/set-up/csi', 'withoutStageMount'),
        by(
          'privileged/set-up/csi-faults',
          'keeps the state file of what is staged where the driver mounts nothing for it (C51, C54)',
        ),
      ),
    },
    sockets: {
      'never answers': byAll(
        by('csi/discover-csi-sockets', 'sockets that say nothing cost one deadline in all, and are named'),
        by('privileged/set-up/csi-faults', 'gives up what hangs, dies or lies, and goes on where it was'),
      ),
      'a stale file': by('csi/discover-csi-sockets', 'a driver that is registered but dead'),
      resets: by('privileged/set-up/csi-faults', 'gives up what hangs, dies or lies, and goes on where it was'),
    },
  },
}

/** Unpublishing, and what keeps an orphan's directory (csi.md 11.6, volume-manager.md 6.3). */

import { USERS } from './mounting.ts'
import { by, byAll, instead, type Table } from './verdict.ts'

const ORPHANS = 'reconcile/orphan-volumes'
const OBSERVED = 'reconcile/observed'
const EMPTY = 'an empty %s never reaches the driver'

export const UNPUBLISHING: Table = {
  'pkg/volume/csi/csi_mounter_test.go': {
    TestUnmounterTeardown: {
      'unpublished, state file removed': by(
        'apply/steps',
        'removes target, state file and directory once it has answered; the file goes into the journal first (S14)',
      ),
      'success, though the target stays mounted': instead(
        'C16, R441, S16 (contract): a driver that says OK and leaves the mount is a failed operation',
        by('apply/steps', 'fails, and removes nothing, when it says OK and the mount is still there (T141, R832)'),
      ),
    },
    TestUnmounterTeardownNoClientError: { 'driver not registered': by('apply/steps', 'must be there') },
  },
  'pkg/volume/csi/csi_client_test.go': {
    TestClientNodeUnpublishVolume: {
      'all is set': by('csi/csi-node-client', 'every operation sends what it was given'),
      'no volume ID': by('csi/csi-node-client', EMPTY, 'NodeUnpublishVolume: volumeId'),
      'no target path': by('csi/csi-node-client', EMPTY, 'NodeUnpublishVolume: targetPath'),
      'the call fails': byAll(
        by('csi/csi-node-client', '%s: what the driver answers is the failure, once'),
        by('apply/steps', '$code: $state, in the driver’s words, and nothing is removed (C76)'),
      ),
    },
  },
  'pkg/kubelet/kubelet_volumes_linux_test.go': {
    TestPodVolumesExistWithMount: {
      'no pod directory': by(ORPHANS, 'no directory'),
      'empty volumes': by(ORPHANS, 'an empty "volumes"'),
      'other plugin, not mounted': by(ORPHANS, 'a volume that is not mounted'),
      'other plugin, mounted': by(ORPHANS, 'a volume that is mounted'),
      'other plugin, its child mount mounted: no volume': instead(
        'O14, R615: nothing is removed around a mount, wherever it is',
        by(ORPHANS, 'something mounted below a volume that is not: nothing is removed, and the mount is named (O14)'),
      ),
      'CSI without mount': by(ORPHANS, 'a CSI volume without a target'),
      'CSI, mount a plain directory': by(ORPHANS, 'a CSI volume whose target is not mounted'),
      'CSI, mount a mount point': by(
        ORPHANS,
        'a CSI volume that is mounted',
        'a CSI volume that is mounted, of which nothing tells what it is: blocked, and the directory stays',
      ),
    },
    TestCleanupOrphanedPodDirs: {
      'nothing on disk': by(ORPHANS, 'no directory'),
      'pods directory missing: error': by(
        'reconcile/odd-snapshots',
        'the directory of pods is not there: another directory than the kubelet’s, or its disk is not mounted',
      ),
      'unknown, no volume: gone': by(OBSERVED, 'directories without a volume', 'an empty pod directory'),
      'known, with volume: kept': by(
        ORPHANS,
        'a pod that is in the list keeps a volume that it does not want, mounted or not',
      ),
      'unknown, empty volume: gone': by(OBSERVED, 'an empty volume directory'),
      'unknown, volume with an empty sub-directory: gone only in the next round': instead(
        'O11, R610 (contract): a pass is whole, all of it goes at once, bottom up',
        by(OBSERVED, 'a volume with an empty subdirectory', 'removes bottom up, by plain rmdir and unlink'),
      ),
      'unknown, empty sub-path: gone': by(OBSERVED, 'an empty sub-path'),
      'unknown, top of sub-paths alone: gone': by(OBSERVED, 'sub-paths at the top only'),
      'unknown, volume with content: kept': by(OBSERVED, 'a file in a volume'),
      'unknown, volume with content: nothing is said': instead(
        'O12: what is kept is reported, with path and size',
        by(OBSERVED, 'O12: data in an unmounted directory is kept and reported with size and path'),
      ),
      'unknown, sub-path with content: kept': by(
        OBSERVED,
        'a file in a sub-path directory',
        'a sub-path file with content',
      ),
    },
  },
  'pkg/volume/util/util_test.go': {
    TestHasMountRefs: {
      none: USERS,
      'the plugin’s path under other prefixes: none': USERS,
      'another path': USERS,
    },
  },
}

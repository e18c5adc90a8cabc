/** Raw block volumes, and removing without crossing mounts (csi.md 11.7, volume-plugins.md 11.3). */
import { by, byAll, instead, type Table } from './verdict.ts'

const BRING_UP = 'apply/csi-bring-up'
const MAPPED = by('privileged/set-up/csi', 'maps a raw block volume for two pods, and finds the data again')
const FAULTS = by(
  'privileged/set-up/csi-faults',
  'a raw block volume: what is left is what the rules say, and the next apply ends it (C72, C73)',
)
const NOT_REGISTERED = by(BRING_UP, 'the driver is not registered')
const MUST_BE_THERE = byAll(by('apply/steps', 'must be there'), by('reconcile/drivers', 'no socket'))
const COMPUTED = 'C18: both paths are computed, and never empty'
const IDEMPOTENT = by('apply/steps', 'is idempotent: what is gone is fine (R837)')
const NO_CROSSING = by('privileged/deleting', '$scenario: $outcome, and nothing outside has changed')

export const BLOCK: Table = {
  'pkg/volume/csi/csi_block_test.go': {
    TestBlockMapperSetupDevice: {
      'staged at its own path': by(
        BRING_UP,
        'that is attached is published on its own file, below a directory that is made',
      ),
    },
    TestBlockMapperSetupDeviceError: { 'INVALID_ARGUMENT: nothing is left': FAULTS },
    TestBlockMapperSetupDeviceNoClientError: { 'driver not registered': NOT_REGISTERED },
    TestBlockMapperMapPodDevice: {
      'published on its own file, whose directory is made': by(
        BRING_UP,
        'that is attached is published on its own file, below a directory that is made',
      ),
    },
    TestBlockMapperMapPodDeviceNoClientError: { 'driver not registered': NOT_REGISTERED },
    TestBlockMapperMapPodDeviceNotSupportAttach: {
      'no attachment needed': by(
        BRING_UP,
        'of a driver that does not attach needs no attachment; the pod’s information goes along whole (C59)',
      ),
    },
    TestBlockMapperMapPodDeviceWithPodInfo: {
      'five keys, the service account empty': by(
        BRING_UP,
        'of a driver that does not attach needs no attachment; the pod’s information goes along whole (C59)',
      ),
    },
    TestBlockMapperMapPodDeviceGetStageSecretsError: {
      'publish secret does not exist': by(BRING_UP, 'a raw block volume likewise, and its record stays with it'),
    },
    TestBlockMapperTearDownDevice: {
      'nothing staged on disk: success, nothing left': instead(
        'S16: the driver is asked to unstage all the same',
        by(
          'reconcile/state-files',
          'with nothing staged on disk the driver is asked all the same (S16), and nothing of it is left',
        ),
      ),
    },
    TestBlockMapperTearDownDeviceNoClientError: { 'driver not registered': MUST_BE_THERE },
    TestUnmapPodDeviceNoClientError: { 'driver not registered': MUST_BE_THERE },
    TestVolumeSetupTeardown: {
      'every path in turn, and nothing at the end': byAll(
        MAPPED,
        by('privileged/set-up/csi', 'leaves directories, modes, links and state files as a kubelet leaves them (C10)'),
      ),
    },
  },
  'pkg/volume/util/volumepathhandler/volume_path_handler_test.go': {
    TestMapDevice: {
      'a link is made': MAPPED,
      'a link that leads elsewhere is replaced': by('apply/disks/link-device', 'a link that leads elsewhere'),
      'empty or relative paths: error': instead(
        COMPUTED,
        by('plugins/csi-paths', 'is staged, published and mapped under its own name'),
      ),
    },
    TestUnmapDevice: {
      'a link, removed; a file that is not mounted, removed': by(
        'reconcile/observed',
        'of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)',
      ),
      'no link, no file: no error': IDEMPOTENT,
      'no path: error': instead(
        COMPUTED,
        by('plugins/csi-paths', 'is staged, published and mapped under its own name'),
      ),
    },
    TestRemoveMapPath: { 'there, removed; not there, no error': byAll(MAPPED, IDEMPOTENT) },
    TestIsSymlinkExist: {
      'there, not there': by('plugins/local-volume', 'all of them', 'no link'),
    },
  },
  'pkg/volume/util/volumepathhandler/volume_path_handler_linux_test.go': {
    TestCleanBackingFilePath: {
      plain: by('node/host-facts', 'lists those with a backing file, in order of their number'),
      'white space after it': by('node/host-facts', 'lists those with a backing file, in order of their number'),
      '" (deleted)" after it, of a map that is released': by('apply/steps', 'on a file that was removed'),
      '" (deleted)" after it, elsewhere': instead(
        'S21, S25 (contract, Snapshot): a loop device whose file was deleted is on what nobody knows, and counts as a use',
        by('apply/iscsi', 'whose file was deleted, and is there again'),
      ),
    },
  },
  'pkg/util/removeall/removeall_test.go': {
    TestRemoveAllOneFilesystem: {
      'empty, or a tree without mounts: gone': NO_CROSSING,
      'a mount at the top or deeper: error': byAll(
        NO_CROSSING,
        by(
          'privileged/safety/rules',
          'S12: a bind mount of the same device below an emptyDir keeps it, and what is behind',
        ),
      ),
      'a mount test that fails: error': instead(
        'S12: what is open tells its mount by itself, and a way that was changed meanwhile ends the walk',
        by('privileged/swapping', 'parents: the way to the volume itself leads elsewhere 10,000 times'),
      ),
    },
    TestRemoveDirsOneFilesystem: {
      'empty directories: gone': by('reconcile/observed', 'removes bottom up, by plain rmdir and unlink'),
      'any file: error': by('reconcile/observed', 'a file in a volume', 'a stray file'),
      'a mount, at the top or deeper: error': by('reconcile/observed', 'a foreign mount'),
    },
  },
}

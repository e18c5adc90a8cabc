/** Staging and unstaging (csi.md 11.4). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const CODES = byAll(
  by('apply/csi-bring-up', '$mode, $method, after its mount: $after (C49, C54, C72, C73)'),
  by(
    'privileged/set-up/csi-codes',
    '$rpc, every code, always and once: what is left is what the rules say, and the next apply ends it',
  ),
  by('csi/csi-node-client', '%s: what the driver answers is the failure, once'),
)
const EMPTY = 'an empty %s never reaches the driver'
const CAPABILITIES = by('csi/csi-node-client', 'capabilities come by name; entries without one are skipped (C7)')
const INLINE = byAll(
  by('plugins/csi', 'an inline volume is published alone'),
  by('plugins/csi-paths', 'is nowhere for a volume without its %s'),
)
const NOT_REGISTERED = by('apply/csi-bring-up', 'the driver is not registered')
const STORIES = by(
  'privileged/set-up/csi-faults',
  '%s: of a pod that goes after it, exactly what may be there is undone',
)
const GROUP = by('apply/csi-bring-up', 'the group of the pod goes along where the driver takes it: $name')
const TIME_OUT = by('privileged/set-up/csi-faults', 'gives up what hangs, dies or lies, and goes on where it was')
const NO_STAGING = byAll(
  by('plugins/csi', 'a driver without staging gets the empty directory all the same (C50)'),
  by('privileged/set-up/csi', 'withoutStaging'),
)
const STAGED = by(
  'apply/csi-bring-up',
  'is one call with the PersistentVolume’s own options, and what the attachment says',
)
const NO_PATH = 'a path is computed from driver and handle, and never empty (C10)'

export const STAGING: Table = {
  'pkg/volume/csi/csi_attacher_test.go': {
    TestAttacherMountDevice: {
      normal: byAll(
        STAGED,
        by('privileged/set-up/csi', 'stages once, publishes for each pod, undoes it, and finds the data again'),
      ),
      'mount options': STAGED,
      'missing attachment: no call': by('apply/csi-bring-up', 'no attachment any more'),
      'no volume name': by('populator/populate', 'C52 no handle'),
      'no device path: success': by(
        'apply/csi-bring-up',
        'no device path is needed: a driver of which nothing is attached gets no publish context (C38)',
      ),
      'no device mount path': not(NO_PATH),
      'no stage capability: success, nothing staged': NO_STAGING,
      inline: INLINE,
      'time-out: may still happen': TIME_OUT,
      'parent not writable: no state file, and what is beside it stays': by(
        'apply/csi-bring-up',
        'a state file that cannot be written: no call, and what is beside it stays',
      ),
      'mount group': GROUP,
      'driver not registered': NOT_REGISTERED,
    },
    TestAttacherMountDeviceWithInline: {
      'the same, and no source': byAll(STAGED, INLINE, by('populator/populate', 'P3 no plugin')),
    },
    TestAttacherUnmountDevice: {
      'driver and handle of the file, which is removed': byAll(
        by('reconcile/observed', 'a global mount is unstaged'),
        by('privileged/set-up/csi', 'stages once, publishes for each pod, undoes it, and finds the data again'),
      ),
      'no stage capability: no call, the file removed': by(
        'reconcile/unstage',
        'loses the directory and state file that an older one left',
      ),
      'no stage capability, and mounted: no call, the file removed': instead(
        'R444: what is mounted there was not staged by such a driver, and stays until somebody has looked',
        by('reconcile/unstage', 'unmounts nothing that is staged'),
      ),
      'no file: success, and still staged': instead(
        'O9, S17: the identity is recovered where the hash confirms it, else the operation is blocked',
        by('reconcile/observed', 'O9: the global state file lost, the pod gone too'),
        by(
          'reconcile/safety',
          'a global state file that is lost as well is found by a PersistentVolume whose handle has the hash',
        ),
      ),
      'no JSON: failure': by(
        'reconcile/state-files',
        'a file %s: nothing is unstaged where nothing else tells what it is',
      ),
      'unknown driver': by('reconcile/safety', 'a driver that is not registered blocks both'),
    },
  },
  'pkg/volume/csi/csi_client_test.go': {
    TestClientNodeStageVolume: {
      'all is set': by('csi/csi-node-client', 'every operation sends what it was given'),
      'no volume ID': by('csi/csi-node-client', EMPTY, 'NodeStageVolume: volumeId'),
      'no staging path': by('csi/csi-node-client', EMPTY, 'NodeStageVolume: stagingTargetPath'),
      'a file system that the driver refuses': CODES,
      'the call fails': CODES,
      fsGroup: GROUP,
    },
    TestClientNodeUnstageVolume: {
      'all is set': by('csi/csi-node-client', 'every operation sends what it was given'),
      'no volume ID': by('csi/csi-node-client', EMPTY, 'NodeUnstageVolume: volumeId'),
      'no staging path': by('csi/csi-node-client', EMPTY, 'NodeUnstageVolume: stagingTargetPath'),
      'the call fails': CODES,
    },
    TestNodeSupportsStageUnstageReturnNewUncertainProgressError: {
      UNAVAILABLE: instead(
        'C49: a question changes nothing, so nothing of the volume is in progress and nothing is left behind',
        by(
          'apply/csi-bring-up',
          'the driver goes away while it is asked what it can do: nothing of the volume is in progress',
        ),
      ),
    },
    TestClientNodeSupportsStageUnstage: { 'listed, not listed': CAPABILITIES },
    TestClientNodeSupportsNodeExpand: {
      'listed, not listed': byAll(
        CAPABILITIES,
        by(
          'apply/expand/csi-expand',
          'pending: called, and finished',
          'pending, and the driver has no part in it: failed',
        ),
      ),
    },
    TestClientNodeSupportsVolumeStats: { 'listed, not listed': CAPABILITIES },
    TestClientNodeSupportsVolumeMountGroup: { 'listed, not listed': byAll(CAPABILITIES, GROUP) },
  },
  'pkg/kubelet/volumemanager/reconciler/reconciler_test.go': {
    Test_UncertainDeviceGlobalMounts: {
      'time-out: unstaged once, later': STORIES,
      'final failure: not mounted, no unstage': STORIES,
      'time-out, then final failure: no unstage': instead(
        'C120: what the first call has begun may still come, so the driver is asked to undo it',
        STORIES,
      ),
      'staged, then a failure at the next try: stays, unstaged once': instead(
        'O1: what is staged is not staged again; published again and failed, or after a reboot, it is undone once',
        STORIES,
      ),
    },
  },
}

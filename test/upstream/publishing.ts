/** Publishing (csi.md 11.5). */
import { by, byAll, instead, type Table } from './verdict.ts'

const REQUESTS = 'apply/csi/csi-requests'
const FAULTS = 'privileged/set-up/csi-faults'
const STORIES = by(FAULTS, '%s: of a pod that goes after it, exactly what may be there is undone')
const EVERY_CODE = byAll(
  by('apply/csi-bring-up', '$mode, $method, after its mount: $after (C49, C54, C72, C73)'),
  by(
    'privileged/set-up/csi-codes',
    '$rpc, every code, always and once: what is left is what the rules say, and the next apply ends it',
  ),
)
const TIME_OUT = by(FAULTS, 'gives up what hangs, dies or lies, and goes on where it was')
const EMPTY = 'an empty %s never reaches the driver'
const NO_SOURCE = by('populator/populate', 'P3 no plugin')
const FILE = by(REQUESTS, 'pod, persistent')
const PUBLISH = by(REQUESTS, 'NodePublishVolume: the PersistentVolume’s own readOnly is the controller’s (C57)')
const INLINE = by(REQUESTS, 'inline: no publish context, no staging path, no mount flags, its own readOnly')
const INLINE_REAL = by(
  'privileged/set-up/csi',
  'publishes an inline volume with pod information and secret, and undoes it',
)
const MODES = by(REQUESTS, 'TestCSI_VolumeAll: lifecycle modes (C106) %#')
const SUPPORTS = 'Test_csiMountMgr_supportsFSGroup (C63, C64)'
const LABEL = 'reconcile/mount-volumes/selinux'
const TOKENS = by('privileged/set-up/csi', 'hands secrets and tokens to the driver, and to nobody else')
const WHOLE = by('privileged/set-up/csi', 'stages once, publishes for each pod, undoes it, and finds the data again')
const NO_DRIVER = by('plugins/csi', 'no CSIDriver: persistent volumes alone (C105)')

export const PUBLISHING: Table = {
  'pkg/volume/csi/csi_mounter_test.go': {
    TestMounterSetUp: {
      'pod information off, unset, no CSIDriver': by(REQUESTS, 'no CSIDriver', 'unset', 'false'),
      'pod information on: five keys, and the attributes': by(
        REQUESTS,
        'true: five keys, which win over attributes of the same name',
      ),
      'a label, and a driver that takes it': by(
        REQUESTS,
        'C68: the SELinux label goes last, between quotes, to both calls and not to an expansion',
      ),
      'a label, and a driver that does not, or no CSIDriver': by(
        LABEL,
        'none where the driver does not say that it can',
      ),
      'no label': by(LABEL, 'none without options', 'none with empty options'),
      'mount options in order, no fsType made up, target path': PUBLISH,
      'the state file': FILE,
    },
    TestMounterSetupJsonFileHandling: {
      'time-out: kept': byAll(TIME_OUT, EVERY_CODE),
      'final failure: removed': EVERY_CODE,
      'the group cannot be set: kept': instead(
        'C66: a volume that must not be used is not left mounted, where the next look would take it for done; the publication is taken back, file and all',
        by('privileged/set-up/csi', 'takes the publication back where the group could not be set'),
      ),
    },
    TestMounterSetUpSimple: {
      'inline without CSIDriver': NO_DRIVER,
      'fsType, staging path, Persistent in the file': byAll(PUBLISH, FILE),
      'no fsType: none': by(
        REQUESTS,
        'NodeExpandVolume (C100): no mount group, the staging path with or without the capability',
      ),
      'no source': NO_SOURCE,
      'driver not registered': by('apply/csi-bring-up', 'the driver is not registered'),
    },
    TestMounterSetupWithStatusTracking: {
      success: WHOLE,
      'no attachment: nothing begun': by('apply/csi-bring-up', 'no attachment any more'),
      'time-out: may still happen': TIME_OUT,
      'publish secret does not exist: nothing begun': by(
        'apply/csi-bring-up',
        'a file system stays staged, and nothing more is there',
      ),
    },
    TestMounterSetUpWithInline: {
      'inline: handle made for it, no staging path, fsType as given': byAll(INLINE, INLINE_REAL),
      'PersistentVolume: staging path': PUBLISH,
      'no source': NO_SOURCE,
    },
    TestMounterSetUpWithFSGroup: {
      'no mount group without the capability': by(REQUESTS, 'no group', 'no capability'),
      'capability and group': by(REQUESTS, 'group and capability'),
      'access modes, fsType, read-only, policy: who sets the group': by(REQUESTS, SUPPORTS),
      'read-only with policy File, which a title says gets the group': by(REQUESTS, 'File, read-only'),
    },
    Test_csiMountMgr_supportsFSGroup: {
      'no group asked for': by('plugins/ownership', 'the fsGroup of a pod'),
      File: by(REQUESTS, 'File'),
      'no fsType': by(REQUESTS, 'no CSIDriver, no fsType'),
      'no spec source': NO_SOURCE,
      'no access modes, absent or empty': by(REQUESTS, 'no CSIDriver, no access modes', 'empty access modes'),
      'ext4 and RWO': by(REQUESTS, 'RWO'),
      'ext4 and inline': by(REQUESTS, 'inline'),
    },
    TestMounterGetFSGroupPolicy: {
      'default, File, None': by(REQUESTS, 'no CSIDriver, no fsType', 'File', 'None'),
    },
    TestMounterSetUpFWithNodePublishFinalError: {
      'reconstructed: kept': STORIES,
      'new: removed': EVERY_CODE,
      'remount: kept': by(
        'privileged/set-up/csi',
        'publishes again with a fresh token where --remount names it, and never undoes anything for it (C70)',
      ),
    },
    TestPodServiceAccountTokenAttrs: {
      'none asked for': by(
        REQUESTS,
        'NodePublishVolume: the PersistentVolume’s own readOnly is the controller’s (C57)',
      ),
      'empty audience; whole seconds': TOKENS,
      'an audience': TOKENS,
      'in secrets instead': by(REQUESTS, 'secrets instead'),
    },
  },
  'pkg/volume/csi/csi_client_test.go': {
    TestClientNodePublishVolume: {
      'all is set': by('csi/csi-node-client', 'every operation sends what it was given'),
      'no volume ID': by('csi/csi-node-client', EMPTY, 'NodePublishVolume: volumeId'),
      'no target path': by('csi/csi-node-client', EMPTY, 'NodePublishVolume: targetPath'),
      'refused file system, failure of the call': byAll(
        by('csi/csi-node-client', '%s: what the driver answers is the failure, once'),
        EVERY_CODE,
      ),
      fsGroup: by('apply/csi-bring-up', 'group and capability'),
    },
    TestAccessModeMapping: { 'eight rows': by(REQUESTS, 'TestAccessModeMapping (C56)') },
  },
  'pkg/volume/csi/csi_test.go': {
    TestCSI_VolumeAll: {
      'PersistentVolume, no CSIDriver': byAll(NO_DRIVER, MODES),
      'PersistentVolume, [Persistent]: the whole life': WHOLE,
      'PersistentVolume, [Ephemeral]: staged, then refused': instead(
        'C106: refused before anything is staged',
        by('plugins/csi', 'persistent, and it lists Ephemeral alone'),
      ),
      'inline, [Ephemeral]: the whole life': INLINE_REAL,
      'inline, both': byAll(MODES, by('plugins/csi', 'an inline volume is published alone')),
      'inline, no CSIDriver': NO_DRIVER,
      'inline, no modes': MODES,
      'inline, [Persistent]': by('plugins/csi', 'inline, and the CSIDriver lists Persistent alone'),
      'no or incomplete source': byAll(NO_SOURCE, by('populator/populate', 'C52 no handle', 'C52 no driver')),
    },
  },
  'pkg/kubelet/volumemanager/reconciler/reconciler_test.go': {
    Test_UncertainVolumeMountState: {
      'time-out: unpublished once, later': STORIES,
      'time-out of a raw block volume that left nothing: unpublished once, later': instead(
        'C13: nothing on disk says for which pod that call was, which a kubelet knows as long as it runs; volctl unstages',
        STORIES,
      ),
      'final failure: not mounted, unstaged once': STORIES,
      'time-out, then final failure: no unpublish': instead(
        'C120: what the first call has begun may still come, so the driver is asked to undo it',
        STORIES,
      ),
      'published, then a failure at the next try: stays, undone once': STORIES,
      'mounted, and the expansion fails: undone once': instead(
        'S23: an expansion is an operation of its own, and its failure leaves the mount as it is',
        by('privileged/set-up/csi', 'an expansion that fails with %s leaves the claim at %s (C101)'),
      ),
    },
    TestReconstructedVolumeShouldUnmountSucceedAfterSetupFailed: {
      'set-up fails finally, the pod goes: undone': STORIES,
    },
  },
}

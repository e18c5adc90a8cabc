/** Populator, caches, reconciler and volume manager of the kubelet (volume-manager.md 9.1 to 9.3, 9.5). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const POPULATE = 'populator/populate'
const SAFETY = 'reconcile/safety'
const OBSERVED = 'reconcile/observed'
const SELINUX = 'reconcile/mount-volumes/selinux'
const EXPANSION = 'desired/expansion'
const EVIDENCE = 'O1: volctl remembers nothing between two calls and judges by evidence'
const HEALTHY = by(OBSERVED, 'a volume that is as it should be gets no operation')
const NO_CACHE = not('a cache that lives as long as a kubelet; volctl reads the node anew each time')
const STATUS = not(
  "volumesInUse and volumesAttached are the kubelet's and the controller's words; volctl reads and never writes them (R331)",
)
const KUBELET_ATTACHES = not(
  'where a kubelet attaches by itself: CSI volumes it never does (C41), and volctl attaches none in node scope',
)
const SET_UP = by(SAFETY, 'is planned where the volume is attached and in use')
const TORN_DOWN = by(SAFETY, 'after the unmount and the unstage')
const RUNNING = by(OBSERVED, 'O2: nothing of a pod whose containers run, and it says which')
const ENDING = by(OBSERVED, 'O4: a pod being deleted is wanted while it lives, Finished after')
const MODE = by(POPULATE, 'T9-T12, R116: mode and use')

export const RECONCILING: Table = {
  'pkg/kubelet/volumemanager/populator/desired_state_of_world_populator_test.go': {
    TestFindAndAddNewPods_WithDifferentConditions: {
      'at the start, terminating, containers running: added': byAll(
        ENDING,
        by(POPULATE, 'T1, R102: the caller decides about pods, so a terminating one is desired like any other'),
      ),
      'later, terminating: not added': by(
        'reconcile/mount-waits',
        'a pod that is being deleted gets nothing that it does not have, and loses nothing while it lives (R102)',
      ),
      'removed from the runtime: not added': ENDING,
      other: byAll(SET_UP, by(POPULATE, 'R110, R005: a claim gives its PersistentVolume')),
    },
    TestFindAndAddNewPods_WithReprocessPodAndVolumeRetrievalError: {
      'a later look fails: the volume stays desired': instead(
        'S4, S5: without a memory nothing of the pod, and no device, is touched',
        by(
          SAFETY,
          'a claim that may not be read blocks every unstage and detach',
          'S5: an existing pod keeps what it does not want any more',
        ),
      ),
    },
    TestFindAndAddNewPods_WithVolumeRetrievalError: {
      'not processed': by(POPULATE, 'R111#6 PV forbidden', 'T3, R103: what resolves is desired though a sibling fails'),
    },
    TestFindAndAddNewPods_FindAndRemoveDeletedPods: {
      'gone, and still in the runtime: kept; then removed': byAll(RUNNING, by(SAFETY, 'an orphan is unmounted')),
    },
    TestFindAndRemoveDeletedPodsWithActualState: {
      'gone everywhere: removed': by(SAFETY, 'an orphan is unmounted'),
      'still listed, nothing mounted: kept': byAll(
        SET_UP,
        by(OBSERVED, 'O31: a wanted volume that was damaged on the host is to be mounted'),
      ),
    },
    TestFindAndRemoveDeletedPodsWithUncertain: {
      'gone, mount uncertain: removed': by(SAFETY, 'after a reboot the driver is called where nothing is mounted'),
    },
    TestFindAndRemoveNonattachableVolumes: {
      'attachRequired becomes false: desired, not attachable': by('populator/volume-plugins', 'attachRequired: false'),
    },
    TestEphemeralVolumeOwnerCheck: { 'a claim of somebody else': by(POPULATE, 'R006, T8: generic ephemeral volumes') },
    TestFindAndAddNewPods_FindAndRemoveDeletedPods_Valid_Block_VolumeDevices: {
      'desired, later removed': byAll(
        by(POPULATE, 'T9'),
        by(OBSERVED, 'of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)'),
      ),
    },
    TestCreateVolumeSpec_Valid_File_VolumeMounts: { 'mode and use agree': by(POPULATE, 'T10') },
    TestCreateVolumeSpec_Valid_Block_VolumeDevices: { 'mode and use agree': by(POPULATE, 'T9') },
    TestCreateVolumeSpec_Valid_Nil_VolumeMounts: { 'no mode: error': by(POPULATE, 'T11') },
    TestCreateVolumeSpec_Invalid_File_VolumeDevices: { 'they do not: error': by(POPULATE, 'T12') },
    TestCreateVolumeSpec_Invalid_Block_VolumeMounts: { 'they do not: error': by(POPULATE, 'T12') },
    TestCheckVolumeFSResize: {
      'no growth': by(EXPANSION, 'did not grow'),
      'read-only': by(EXPANSION, 'read-only'),
      'not mounted: mounted first': by('plugins/local-volume', 'one that is not mounted yet is mounted first'),
      'file system, block': by(EXPANSION, 'grew, file system', 'grew, block'),
      ephemeral: by(EXPANSION, 'grew, the claim of an ephemeral volume'),
    },
    TestCheckVolumeSELinux: {
      'RWOP, all options': by(SELINUX, "the pod's user and level, and neither its role nor its type"),
      'RWOP, some options: completed': by(SELINUX, "the pod's level"),
      'RWX, gate off and on': by(SELINUX, 'none for another access mode', 'every access mode with the feature gate'),
      'a plugin without it; no options': by(
        SELINUX,
        'none where the driver does not say that it can',
        'none without options',
      ),
      'a second pod, the same label': by(SELINUX, 'equal labels'),
      'a second pod, another label, RWX, gate off: no label, no error': by(SELINUX, 'other labels, no feature gate'),
      'a second pod, another label, RWX, gate on: refused, the first keeps its own': by(SELINUX, 'other labels'),
      'a second pod, another label, RWOP: refused': instead(
        'O3, R430: a second pod of such a volume waits, whatever its label is',
        by(SAFETY, 'ReadWriteOncePod: a second pod waits (O3)'),
      ),
    },
  },
  'pkg/kubelet/volumemanager/cache/desired_state_of_world_test.go': {
    AddPodToVolume: { 'once, and again': by(POPULATE, 'T20: a pod listed twice is desired once') },
    NamesForDifferentPodsAndDifferentVolumes: {
      'neither, device-mountable, attachable': by(
        POPULATE,
        'neither attachable nor device-mountable',
        'device-mountable',
        'attachable',
      ),
    },
    MultiOuterNames: {
      'one volume, two names': by(
        POPULATE,
        'T22, R004: two outer names of one claim are one volume; the later spec counts',
      ),
    },
    DeletePodFromVolume: {
      'the last pod leaves': byAll(
        by(POPULATE, 'T23: without its last pod a volume is not desired'),
        by(SAFETY, 'a mounted volume is unmounted by its driver, then unstaged'),
      ),
    },
    MarkVolumesReportedInUse: {
      'only what the last report names': by(
        'privileged/set-up/csi',
        'asks for nothing where attachment, node or other nodes have changed since the plan (S22, S30)',
      ),
    },
    WithEmptyDirSizeLimit: {
      'of an emptyDir on disk': not(
        'that size is for eviction and project quotas, which measure and limit nothing when a volume is set up (R126, P150)',
      ),
    },
    SELinuxSinglePod: {
      'gate and access mode': by(
        SELINUX,
        "the pod's level",
        'none for another access mode',
        'every access mode with the feature gate',
      ),
      'all, some and no options': by(
        SELINUX,
        "the pod's user and level, and neither its role nor its type",
        "the pod's level",
        'none without options',
      ),
      'a plugin without it': by(SELINUX, 'none where the driver does not say that it can'),
      'policies Recursive, MountOption': by(
        SELINUX,
        'none where the pod wants its files relabelled',
        'the policy that a pod has by default',
      ),
    },
    SELinux_MultiplePods: {
      'equal labels': by(SELINUX, 'equal labels'),
      'other labels: an error only where a label is mounted with': by(
        SELINUX,
        'other labels',
        'one has none',
        'other labels, no feature gate',
        'other labels, a driver that takes none',
      ),
      'both Recursive, with other options': by(SELINUX, 'both have, with other options'),
      'one Recursive, one not: an error': by(SELINUX, 'only one has its files relabelled'),
      'the first label stays': by(SELINUX, 'the first is the one that has it'),
    },
    GetVolumeNamesForPod: {
      'unique names by outer name': by(
        POPULATE,
        'R110, R005: a claim gives its PersistentVolume',
        'T22, R004: two outer names of one claim are one volume; the later spec counts',
      ),
    },
  },
  'pkg/kubelet/volumemanager/cache/actual_state_of_world_test.go': {
    MarkVolumeAsAttached: { 'entry with device path': NO_CACHE },
    AddPodToVolume: {
      'one pod, two pods': by(
        'reconcile/state-files',
        'two pods with one volume: each is undone, and it is unstaged once, after both',
      ),
      'another label than the one that is there': by(
        SELINUX,
        'a volume that runs keeps it, and it is said (R824)',
        'staged with "$label"',
      ),
    },
    FoundDuringReconstruction: { 'no longer, once mounted or removed': NO_CACHE },
    MarkVolumeAsDetached_Negative_PodInVolume: {
      'a pod remains: the volume stays': by(SAFETY, 'not while a pod that is gone still runs on it'),
    },
    AddPodToVolume_Negative_VolumeDoesntExist: { 'not attached': by(SAFETY, 'not attached') },
    MarkDeviceAsMounted: { 'with a label, kept and compared': by(SELINUX, 'staged with "$label"') },
    TestUncertainVolumeMounts: {
      'possibly mounted': by(
        'privileged/set-up/csi-faults',
        '%s: of a pod that goes after it, exactly what may be there is undone',
      ),
    },
  },
  'pkg/kubelet/volumemanager/reconciler/reconciler_test.go': {
    DoNothing: { 'nothing there, nothing done': by('reconcile/orphan-volumes', 'no directory') },
    VolumeAttachAndMount: { 'attach, wait, stage, publish': KUBELET_ATTACHES },
    VolumeAttachAndMountMigrationEnabled: {
      'the same of a migrated volume': KUBELET_ATTACHES,
      'attached by the controller: staged, published': by(
        'reconcile/migrated',
        'is staged and published by the driver',
      ),
    },
    VolumeAttachAndMap: { 'the same of a block volume': KUBELET_ATTACHES },
    VolumeMountControllerAttachEnabled: { 'wait, stage, publish': SET_UP },
    BlockVolumeMapControllerAttachEnabled: {
      'the same of a block volume': by(
        'privileged/set-up/csi',
        'maps a raw block volume for two pods, and finds the data again',
      ),
    },
    Negative_VolumeMountControllerAttachEnabled: {
      'attached, not reported in use: no calls': by(SAFETY, 'attached, not reported in use'),
      'and no back-off': not('one call is one try; volctl has no back-off'),
    },
    VolumeAttachMountUnmountDetach: { 'torn down, unstaged, detached': TORN_DOWN },
    BlockVolumeAttachMapUnmapDetach: {
      'the same of a block volume': byAll(
        by(OBSERVED, 'of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)'),
        by('reconcile/detach', 'of a block volume it bears name and mode, by which an apply finds its loop devices'),
      ),
    },
    VolumeUnmountControllerAttachEnabled: {
      'no detach, which is the controller’s': instead(
        'S21 (contract): with the kubelet held down volctl detaches as well, by a rule stricter than the controller’s',
        TORN_DOWN,
      ),
    },
    VolumeUnmapControllerAttachEnabled: {
      'the same of a block volume': instead(
        'S21 (contract)',
        by(OBSERVED, 'of a pod that is gone: loop device, link, map, driver, then the device (T137, R451)'),
      ),
    },
    GenerateMapVolume_Plugin_Not_Found: {
      'no plugin: error': by('reconcile/block-mode', 'is blocked for $plugin, which has no devices'),
    },
    GenerateUnmapVolume_Plugin_Not_Found: {
      'no plugin: error': by(OBSERVED, 'a device link of a plugin that nobody knows'),
    },
    GenerateUnmapDevice_Plugin_Not_Found: {
      'no plugin: error': by('reconcile/detach', 'a map that nobody can name is held to be of any volume'),
    },
    VolumeFSResizeControllerAttachEnabled: {
      'file system and block grow': by(
        'privileged/set-up/csi',
        '%s: grows with --expand, and the claim says so (R458, R459)',
      ),
      'in use: not tried again': instead(
        'C98, S23: there is no memory of it; the claim says in progress, and the next --expand tries again',
        by('apply/expand/csi-expand', 'in use: failed, and still in progress'),
      ),
      'not supported: counts as done': by(
        'apply/expand/csi-expand',
        'an old controller, and the driver has no part in it: finished',
      ),
    },
    VolumeMountControllerAttachEnabledRace: {
      'wanted again while its device is unmounted': byAll(
        by(
          'apply/schedule',
          'holds back what shares a volume or a pod with a running operation',
          'starts an operation only after all that comes before it',
        ),
        by('apply/operation/preconditions', 'may be pods that want the volume again'),
      ),
    },
    TestReconcileWithUpdateReconstructedFromAPIServer: {
      'in the status, or not: told once the Node was read': instead(
        EVIDENCE,
        by(OBSERVED, 'O7: mounted and not attached, or not reported in use, is an error'),
        HEALTHY,
      ),
      'no unmount before': by(SAFETY, 'a pod list that failed makes nobody gone', 'no such node refuses'),
    },
  },
  'pkg/kubelet/volumemanager/volume_manager_test.go': {
    TestGetMountedVolumesForPodAndGetVolumesInUse: {
      'file system in mounts, block in devices': by(POPULATE, 'T10', 'T9'),
      'mode and use do not agree': MODE,
      'in use': STATUS,
    },
    TestWaitForAttachAndMountError: {
      'what is not attached apart from what failed': byAll(
        by(SAFETY, '%s waits', 'a claim that is shown not to exist holds up nobody else'),
        by(OBSERVED, 'what cannot be filled is blocked, and says why'),
      ),
    },
    VolumeAttachLimitExceededError: {
      'a typed error': instead(
        'C46: the type is for the scheduler; a person is shown the attachment’s own words',
        by('reconcile/mount-waits', 'an attachment that failed: its own words'),
      ),
    },
    TestInitialPendingVolumesForPodAndGetVolumesInUse: { 'desired alone: in use': STATUS },
    TestGetExtraSupplementalGroupsForPod: {
      'the annotation of a group': not('the group is given to the pod’s containers, never to a volume (R115)'),
    },
    TestWaitForAllPodsUnmount: {
      'a time-out for each pod': not(
        'a wait of the kubelet’s shutdown; volctl has no command that waits yet (contract, wait)',
      ),
    },
  },
  'pkg/kubelet/volumemanager/metrics/metrics_test.go': {
    TestMetricCollection: {
      'counts by plugin and state': not('metrics are the kubelet’s; a plan counts what it does in its summary'),
    },
  },
}

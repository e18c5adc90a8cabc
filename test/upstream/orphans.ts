/** Volumes of pods by their directories, sub-paths, and who else touches them (volume-manager.md 6.3, 9.6, 9.8; volume-plugins.md 11.2). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const SUB_PATHS = 'privileged/sub-paths'
const CONTAINERS = not(
  'sub-paths are bound when a container starts, by the kubelet (contract, UnmountVolume); volctl takes leaked ones down and makes none',
)
const SET_UP = by('reconcile/safety', 'is planned where the volume is attached and in use')
const TORN_DOWN = by('reconcile/safety', 'after the unmount and the unstage')

export const ORPHANS: Table = {
  'pkg/kubelet/kubelet_volumes_test.go': {
    ListVolumesForPod: {
      'both its volumes; unknown pod, none': by(
        'reconcile/decisions',
        'every pod, volume and staging directory can be asked why',
      ),
    },
    PodVolumesExist: { 'three pods, each with a mount': by('reconcile/orphan-volumes', 'a volume that is mounted') },
    AttachAndMount: {
      'without the controller: attached by the kubelet': not(
        'CSI volumes are never attached by a kubelet (C41), and volctl attaches none in node scope (contract)',
      ),
      'with the controller: no attach': SET_UP,
    },
    UnmountAndDetach: {
      'without the controller: one tear-down, one detach': TORN_DOWN,
      'with the controller: no detach': instead(
        'S21 (contract): with the kubelet held down volctl detaches as well, by a rule stricter than the controller’s',
        TORN_DOWN,
      ),
    },
    WaitsEndWithTheCaller: {
      'the caller is interrupted': byAll(
        by('api/kube-client', 'stops at once when interrupted', 'stops waiting for a retry when interrupted'),
        by('e2e/interruptions', 'a second one leaves at once, and names what is unfinished'),
      ),
      'its time is over': byAll(
        by('apply/operation/waiting-budget', 'is over when nothing is left: no further call is made'),
        by('apply/steps', 'is given up at the deadline, and the volume left alone'),
      ),
    },
  },
  'pkg/volume/util/subpath/subpath_linux_test.go': {
    TestCleanSubPaths: {
      'not there': by(SUB_PATHS, 'not-exists'),
      'not mounted, directory or file': by(SUB_PATHS, 'subpath-not-mount', 'subpath-file'),
      'a file in the place of a container: error': instead(
        'O17, S18: what is mounted goes; the file stays, is named, and keeps the pod’s directory',
        by(SUB_PATHS, 'subpath-container-not-dir', 'subpath-multiple-container-not-dir: the good one goes'),
      ),
      'one mounted, several among others': by(SUB_PATHS, 'subpath-mount', 'subpath-mount-multiple, one of them a file'),
      'another volume’s stay': by(SUB_PATHS, 'subpath-mount-multiple-vols: only the one that was asked for'),
      'files that show only while it is mounted: not entered': by(
        'privileged/unmounting',
        'S12, S18: unmounts sub-paths and leaves their content alone',
      ),
      'files with content where nothing is mounted: removed': instead(
        'S13: a file that the kubelet did not make is never deleted',
        by(SUB_PATHS, 'a file with content', 'a directory with content'),
      ),
    },
    TestSafeMakeDir: { '18 paths': CONTAINERS },
    TestRemoveEmptyDirs: {
      'all empty: up to the base': by(SUB_PATHS, 'subpath-mount', 'subpath-not-mount'),
      'a sibling: stops there': by(SUB_PATHS, 'subpath-mount-multiple-vols: only the one that was asked for'),
      'the end outside of the base: error': instead(
        'P136: the directories are computed; an edited plan is found out',
        by(
          'e2e/saved-plan',
          'an edited one is found out, operation by operation; fields that nobody knows are no matter',
        ),
      ),
      'gone already': by('apply/steps', 'is idempotent: what is gone is fine (R837)'),
      'a file at the end: error': by(SUB_PATHS, 'a file in the place of the volume', 'subpath-container-not-dir'),
    },
    TestBindSubPath: { 'directories, files, links, sockets': CONTAINERS },
    TestSubpath_PrepareSafeSubpath: { 'mounted already, the same or other': CONTAINERS },
    TestSafeOpen: {
      'no link anywhere on the way': by(
        'privileged/swapping',
        'parents: the way to the volume itself leads elsewhere 10,000 times',
      ),
      'files, sockets and what is below them': CONTAINERS,
    },
    TestFindExistingPrefix: { 'the longest that is there': CONTAINERS },
  },
  'pkg/volume/util/util_test.go': {
    TestGetPodVolumeNames: {
      'mounts and devices of every kind of container': by(
        'desired/pods',
        'T121, R105: names come from mounts and devices of init, main and ephemeral containers',
      ),
      'SELinux options': by('reconcile/mount-volumes/selinux', "a container's own options go before the pod's"),
    },
    TestMountOptionFromSpec: {
      'annotation, empty, duplicates': by(
        'plugins/mount-options',
        'the annotation',
        'an empty annotation',
        'duplicates',
      ),
    },
    TestFsUserFrom: {
      'every kind of container': by('desired/content-bytes', 'P33: the user of all containers (TestFsUserFrom)'),
    },
  },
  'pkg/volume/util/nestedpendingoperations': {
    'key matching': {
      'by volume, or by volume and pod': instead(
        'R470, made stricter: neither a volume nor a pod is worked on twice at a time, whatever the operations are',
        by(
          'apply/schedule',
          'knows what must not be worked on twice at a time',
          'holds back what shares a volume or a pod with a running operation',
        ),
      ),
    },
    'back-off': { 'longer each time': not('one call is one try; volctl has no back-off between calls (R471)') },
  },
  'staging/src/k8s.io/csi-translation-lib': {
    'translation of PersistentVolumes': {
      'every plugin': by('desired/csi-translation', 'T124, R155: PersistentVolumes', '$name cannot be translated'),
    },
    'translation of inline volumes': { 'every plugin': by('desired/csi-translation', 'T124: inline volumes') },
    topology: { 'labels and affinity': by('desired/csi-translation', 'T124, R154: topology') },
    'the way back, to in-tree': {
      'every plugin': not('only the controller and the scheduler translate back; the kubelet and volctl do not'),
    },
  },
  'pkg/kubelet/config': {
    'static pods': {
      'name, namespace, annotations, UID': byAll(
        by('node/host-facts', 'reads one pod a file, in order, any extension, not recursive, no hidden names'),
        by('desired/pods', 'static pods'),
        by('reconcile/static-pods', 'may have been edited: the directory of another hash is frozen (R227, R230)'),
      ),
      'refused API references': not(
        'volctl starts no pods; what a static pod must not refer to is refused by the kubelet',
      ),
    },
  },
}

/** What is taken from disk for what it was (csi.md 11.2, volume-manager.md 9.4). */
import { by, byAll, instead, not, type Table } from './verdict.ts'

const EVIDENCE = 'O1, C92: volctl judges by evidence instead of doing all again'
const HEALTHY = by('reconcile/observed', 'a volume that is as it should be gets no operation')

export const RECONSTRUCTION: Table = {
  'pkg/volume/csi/csi_plugin_test.go': {
    TestPluginConstructVolumeSpec: {
      'name, driver and handle of the file, Filesystem': by(
        'reconcile/state-files',
        'the three keys are enough to have it undone by its driver',
      ),
      'a label in the file': by(
        'reconcile/mount-volumes/selinux',
        'a volume that runs keeps it, and it is said (R824)',
      ),
      'the gate off': not('the feature is on for good, nobody can switch it off (C68)'),
    },
    TestPluginConstructVolumeSpecWithInline: {
      Ephemeral: by('reconcile/state-files', 'Ephemeral'),
      Persistent: by('reconcile/state-files', 'Persistent'),
      'no mode': by('reconcile/state-files', 'no mode, as files of old kubelets have none: persistent'),
    },
    TestPluginConstructBlockVolumeSpec: {
      'the data file': by('reconcile/state-files', 'is told by its own file, not by the link'),
    },
  },
  'pkg/kubelet/volumemanager/reconciler/reconstruct_test.go': {
    TestReconstructVolumes: {
      'two pods, one volume: two pods’ parts and one device': by(
        'reconcile/state-files',
        'two pods with one volume: each is undone, and it is unstaged once, after both',
      ),
      'uncertain, and so set up again': instead(EVIDENCE, HEALTHY),
      'cannot be reconstructed': by(
        'reconcile/observed',
        'O32: a local volume of a pod that is gone goes the way of failed reconstruction',
      ),
    },
    TestCleanOrphanVolumes: {
      'failed, and desired: left alone': byAll(
        by('reconcile/healthy-pods', 'nothing to do for a pod with'),
        by('reconcile/observed', 'O31: a wanted volume that was damaged on the host is to be mounted'),
      ),
      'failed, not desired: one unmount': by(
        'reconcile/observed',
        'O32: a local volume of a pod that is gone goes the way of failed reconstruction',
      ),
    },
    TestReconstructVolumesMount: {
      'desired: staged and published again': instead(
        EVIDENCE,
        HEALTHY,
        by('privileged/set-up/csi', 'mounts anew after a reboot that left every file (O25)'),
      ),
      'publication fails finally, file system or block: still on record, nothing unmounted': by(
        'privileged/set-up/csi-faults',
        '%s: of a pod that goes after it, exactly what may be there is undone',
      ),
    },
  },
}

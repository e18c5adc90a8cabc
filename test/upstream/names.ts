/** Names, paths and files of CSI volumes (csi.md 11.1). */
import { by, byAll, instead, type Table } from './verdict.ts'

const NAME = by('populator/volume-plugins', 'R010, R019, C31: plugin and unique name of a PersistentVolume')
const INLINE = by(
  'populator/volume-plugins',
  'R008, C32: an inline CSI volume has a made-up handle, and attaches under no CSIDriver',
)
const NO_PLUGIN = byAll(
  by('populator/volume-plugins', 'P3', '$rule: $source is an error'),
  by('populator/populate', 'P3 no plugin'),
)
const BLOCK_PATHS = by('plugins/csi-paths', 'is staged, published and mapped under its own name')

export const NAMES: Table = {
  'pkg/volume/csi/csi_plugin_test.go': {
    TestPluginGetVolumeName: {
      'letters, dots, dashes in driver and handle': NAME,
      'inline: no such name': INLINE,
      'no source': NO_PLUGIN,
    },
    TestPluginGetVolumeNameWithInline: {
      persistent: NAME,
      'inline: named after pod and volume': by('reconcile/observed', 'an inline CSI volume has its own unique name'),
    },
    TestPluginCanSupport: { 'no source': NO_PLUGIN, inline: INLINE, PersistentVolume: NAME },
    TestPluginNewMounter: {
      'PersistentVolume: driver, handle, pod, Persistent': by('apply/csi/csi-requests', 'pod, persistent'),
      'inline: Ephemeral, with a handle made for it': by(
        'privileged/set-up/csi',
        'publishes an inline volume with pod information and secret, and undoes it',
      ),
      'inline without CSIDriver: refused only later, with its steps': by(
        'plugins/csi',
        'no CSIDriver: persistent volumes alone (C105)',
      ),
      'no source': NO_PLUGIN,
    },
    TestPluginNewMounterWithInline: {
      'inline and a claim at once': instead(
        'R110: the API refuses such a pod; should one come, the claim counts, as for the kubelet',
        by('populator/populate', 'R110: the kubelet prefers persistentVolumeClaim where both are set'),
      ),
      'two inline sources': by('populator/volume-plugins', 'R003'),
      'one source, whose mode the CSIDriver does not list: its mode, and a refusal': by(
        'plugins/csi',
        'inline, and the CSIDriver lists Persistent alone',
        'persistent, and it lists Ephemeral alone',
      ),
    },
    TestPluginNewUnmounter: {
      'a state file with three keys': by(
        'reconcile/state-files',
        'the three keys are enough to have it undone by its driver',
      ),
    },
    TestPluginNewBlockMapper: {
      'driver, handle, pod; the data directory is made': by(
        'privileged/set-up/csi',
        'maps a raw block volume for two pods, and finds the data again',
        'leaves directories, modes, links and state files as a kubelet leaves them (C10)',
      ),
    },
    TestPluginNewUnmapper: {
      'all of it from the state file': by('reconcile/state-files', 'is told by its own file, not by the link'),
    },
  },
  'pkg/volume/csi/csi_mounter_test.go': {
    TestMounterGetPath: {
      'simple names, and names with dots': by(
        'plugins/csi-paths',
        'a file system called %s',
        'has its target and state file in the pod’s directory',
      ),
    },
  },
  'pkg/volume/csi/csi_attacher_test.go': {
    TestAttacherGetDeviceMountPath: {
      PersistentVolume: by('plugins/csi-paths', 'is told by driver and handle alone'),
      inline: by('plugins/csi-paths', 'is nowhere for a volume without its %s'),
      'no CSI source': NO_PLUGIN,
      'empty handle': by('populator/populate', 'C52 no handle'),
    },
  },
  'pkg/volume/csi/csi_block_test.go': {
    TestBlockMapperGetGlobalMapPath: { 'spec-0, test.spec.1': BLOCK_PATHS },
    TestBlockMapperGetStagingPath: { 'spec-0, test.spec.1': BLOCK_PATHS },
    TestBlockMapperGetPublishPath: { 'spec-0, test.spec.1': BLOCK_PATHS },
    TestBlockMapperGetDeviceMapPath: {
      'spec-0, test.spec.1': by('plugins/csi-paths', 'is linked to from its pod’s directory'),
    },
  },
  'pkg/volume/csi/csi_util_test.go': {
    TestSaveVolumeData: {
      'keys that begin with _ and &; one line': by(
        'apply/csi/csi-requests',
        'TestSaveVolumeData: keys in order, HTML’s characters escaped',
      ),
    },
  },
}

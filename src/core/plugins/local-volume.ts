/** local: a directory, or a device that has a global mount, of this node (P66-P71, P83). */
import { notSupportedYet } from '../reconcile/draft.ts'
import { linkEvidence, mountEvidence } from './evidence.ts'
import { sharedNameFacts, specNameOf } from './facts.ts'
import { podPathOf } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/local-volume'

export const localVolume: VolumePlugin = {
  name: NAME,
  about: {
    tearDown: 'unmounted, the global mount of a device as well; raw block is unmapped',
    setUp: 'a directory is bound; a device is checked and mounted, never formatted; raw block is mapped',
  },
  attachability: 'notAttachable',
  deviceMountable: true,
  block: true,
  refreshes: false,
  // Of a directory source it fails (P70, O32), and volctl cannot tell that from a device.
  reconstructs: false,
  tearDown: 'mount',
  facts: (spec) =>
    'persistentVolume' in spec && spec.persistentVolume.spec.local != null
      ? sharedNameFacts(NAME, specNameOf(spec), 'notAttachable')
      : undefined,
  podPath: podPathOf,
  globalPath: ({ specName, mode }) =>
    mode === 'Block'
      ? `plugins/kubernetes.io~local-volume/volumeDevices/${specName}`
      : `plugins/kubernetes.io/local-volume/mounts/${specName}`,
  mountsOver: ({ mode }) => mode === 'Filesystem',
  evidence: (inputs, volume) =>
    volume.mode === 'Block' ? linkEvidence(inputs, volume) : mountEvidence(inputs, volume),
  setUp: (context, volume) => ({
    steps: [{ op: volume.mode === 'Block' ? 'symlink' : 'mount', target: context.inputs.absolute(podPathOf(volume)) }],
    blocked: notSupportedYet('Start the kubelet: it mounts the volume.'),
  }),
}

/** nfs: one mount a pod (P62-P65). */
import { notSupportedYet } from '../reconcile/draft.ts'
import { mountEvidence } from './evidence.ts'
import { perPodFacts, sharedSources, specNameOf } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/nfs'

export const nfs: VolumePlugin = {
  name: NAME,
  about: { tearDown: 'unmounted, a dead server notwithstanding', setUp: 'mounted with its options' },
  attachability: 'notAttachable',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: true,
  tearDown: 'mount',
  facts: (spec, context) =>
    sharedSources(spec).nfs == null ? undefined : perPodFacts(NAME, specNameOf(spec), context),
  podPath: podVolumeDir,
  globalPath: () => undefined,
  mountsOver: () => true,
  evidence: mountEvidence,
  setUp: (context, volume) => ({
    steps: [{ op: 'mount', target: context.inputs.absolute(podVolumeDir(volume)) }],
    blocked: notSupportedYet('Start the kubelet: it mounts the volume.'),
  }),
}

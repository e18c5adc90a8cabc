/** image: the runtime mounts it, the kubelet never does (P61, O33). */
import { SATISFIED } from './evidence.ts'
import { inlineOf, perPodFacts } from './facts.ts'
import { podVolumeDir } from './paths.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/image'

export const image: VolumePlugin = {
  name: NAME,
  about: {
    tearDown: 'nothing: the container runtime mounts and unmounts it',
    setUp: 'nothing: the container runtime mounts it',
  },
  attachability: 'notAttachable',
  deviceMountable: false,
  block: false,
  refreshes: false,
  reconstructs: false,
  tearDown: 'nothing',
  facts: (spec, context) => {
    const inline = inlineOf(spec)
    return inline?.image == null ? undefined : perPodFacts(NAME, inline.name, context)
  },
  podPath: podVolumeDir,
  globalPath: () => undefined,
  mountsOver: () => false,
  evidence: () => SATISFIED,
  setUp: () => ({ steps: [] }),
}

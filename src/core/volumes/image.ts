/** image: the container runtime mounts the volume, the kubelet never does (P61, O33). */
import { SATISFIED } from './evidence.ts'
import { inlineFacts, PER_POD } from './facts.ts'
import type { VolumePlugin } from './plugin.ts'

const NAME = 'kubernetes.io/image'

export const image: VolumePlugin = {
  ...PER_POD,
  name: NAME,
  source: 'image',
  about: {
    tearDown: 'nothing: the container runtime mounts and unmounts it',
    setUp: 'nothing: the container runtime mounts it',
  },
  reconstructs: false,
  tearDown: 'nothing',
  facts: inlineFacts(NAME, 'image'),
  mountsOver: () => false,
  evidence: () => SATISFIED,
  setUp: () => ({ steps: [] }),
}

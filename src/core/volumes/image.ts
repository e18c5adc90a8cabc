/** image: the container runtime mounts the volume, the kubelet never does (P61, O33). */
import { SATISFIED } from './evidence.ts'
import { perPod } from './facts.ts'
import type { VolumePlugin } from './plugin.ts'

export const image: VolumePlugin = {
  ...perPod('kubernetes.io/image', 'image'),
  about: {
    tearDown: 'nothing: the container runtime mounts and unmounts it',
    setUp: 'nothing: the container runtime mounts it',
  },
  reconstructs: false,
  tearDown: 'nothing',
  mountsOver: () => false,
  evidence: () => SATISFIED,
  setUp: () => ({ steps: [] }),
}
